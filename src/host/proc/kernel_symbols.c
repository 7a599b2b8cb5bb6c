/* SPDX-License-Identifier: MIT */
#include "host/proc/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "host/host.h"

#define CHUNK ((size_t)64 * 1024)
/* A file may come from anyone; real ones have a tenth of these. */
#define SYMBOLS_MAX (1u << 20)
#define NAMES_MAX (64u << 20)
#define NAME_MAX_LENGTH 512
#define MODULE_MAX_LENGTH 64
/* No function is this long: what is further from the last one before it belongs to none. */
#define FUNCTION_MAX (UINT64_C(1) << 20)
/* Padding in front of a function, where a tracer may put a call. */
#define PADDING "__pfx_"

void kernel_symbols_clear(struct kernel_symbols *symbols)
{
	array_free(&symbols->list);
	text_free(&symbols->names);
	symbols->module = 0;
	symbols->hidden = 0;
}

static int hex_digit(char character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

static const char *scan_address(const char *cursor, const char *end, uint64_t *ret)
{
	const char *begin = cursor;

	for (*ret = 0; cursor < end && hex_digit(*cursor) >= 0; cursor++)
		*ret = *ret << 4 | (uint64_t)hex_digit(*cursor);
	return cursor == begin || cursor - begin > 16 ? NULL : cursor;
}

/* Names are shown to people, and joined with semicolons. */
static size_t name_length(const char *name, const char *end)
{
	size_t length = 0;

	while (name + length < end && name[length] > ' ' && name[length] < 127 &&
	       name[length] != ';')
		length++;
	return name + length == end || name[length] == '\t' || name[length] == ' ' ? length : 0;
}

/* The module at the end of a line.  Lines of one module follow each other, so its name is kept once. */
static uint32_t keep_module(struct kernel_symbols *symbols, const char *text, const char *end)
{
	size_t length = end - text > 2 && text[0] == '\t' && text[1] == '[' ?
				name_length(text + 1, end) :
				0;

	if (length < 3 || length > MODULE_MAX_LENGTH || text[length] != ']')
		return 0;
	if (strncmp(symbols->names.data + symbols->module, text + 1, length) != 0 ||
	    symbols->names.data[symbols->module + length]) {
		symbols->module = (uint32_t)symbols->names.length;
		text_append(&symbols->names, text + 1, length);
		text_append(&symbols->names, "", 1);
	}
	return symbols->names.failed ? 0 : symbols->module;
}

/* ADDRESS TYPE NAME, and [MODULE] after a tab. */
static void parse_line(struct kernel_symbols *symbols, const char *line, const char *end)
{
	struct kernel_symbol symbol;
	const char *rest = scan_address(line, end, &symbol.address);
	size_t length;

	if (!rest || end - rest < 4 || rest[0] != ' ' || rest[2] != ' ' || !strchr("tTwW", rest[1]))
		return;
	rest += 3;
	length = name_length(rest, end);
	if (length == 0 || length > NAME_MAX_LENGTH || strncmp(rest, PADDING, strlen(PADDING)) == 0)
		return;
	if (symbol.address == 0) {
		symbols->hidden++;
		return;
	}
	if (symbols->list.count >= SYMBOLS_MAX || symbols->names.length >= NAMES_MAX)
		return;
	if (!symbols->names.length)
		text_append(&symbols->names, "", 1);
	if (symbols->names.failed)
		return;
	symbol.module = keep_module(symbols, rest + length, end);
	symbol.name = (uint32_t)symbols->names.length;
	text_append(&symbols->names, rest, length);
	text_append(&symbols->names, "", 1);
	if (!symbols->names.failed && array_append(&symbols->list, symbol) < 0)
		symbols->names.failed = true;
}

size_t kernel_symbols_parse(struct kernel_symbols *symbols, const char *text, size_t length)
{
	const char *line = text, *end;

	while ((end = memchr(line, '\n', length - (size_t)(line - text)))) {
		parse_line(symbols, line, end);
		line = end + 1;
	}
	return (size_t)(line - text);
}

/* Where one address has two names, the first in the file comes first. */
static int compare(const void *a, const void *b)
{
	const struct kernel_symbol *first = a, *second = b;

	if (first->address != second->address)
		return first->address < second->address ? -1 : 1;
	return (first->name > second->name) - (first->name < second->name);
}

int kernel_symbols_finish(struct kernel_symbols *symbols, struct error *error)
{
	if (symbols->names.failed)
		return error_set(error, -ENOMEM, "not enough memory for the kernel's symbols");
	if (symbols->list.count == 0 && symbols->hidden)
		return error_set(error, -EPERM,
				 "the kernel hides the addresses of its functions: that takes "
				 "CAP_SYSLOG and kernel.kptr_restrict below 2");
	if (symbols->list.count == 0)
		return error_set(error, -ENODATA,
				 "this kernel does not list its functions "
				 "(CONFIG_KALLSYMS)");
	array_sort(&symbols->list, compare);
	return 0;
}

static int read_lines(struct kernel_symbols *symbols, int fd)
{
	CLEANUP(free_pointer) char *buffer = malloc(CHUNK);
	size_t filled = 0;
	ssize_t got;

	if (!buffer)
		return -ENOMEM;
	while ((got = read(fd, buffer + filled, CHUNK - filled)) > 0) {
		size_t used;

		filled += (size_t)got;
		used = kernel_symbols_parse(symbols, buffer, filled);
		if (used == 0 && filled == CHUNK)
			return -EBADMSG;
		filled -= used;
		memmove(buffer, buffer + used, filled);
		if (symbols->list.count >= SYMBOLS_MAX)
			break;
	}
	return got < 0 ? -errno : 0;
}

int kernel_symbols_read(struct kernel_symbols *symbols, const struct host *host,
			struct error *error)
{
	CLEANUP(close_fd)
	int fd = file_open_below(host->proc, "kallsyms", O_RDONLY | O_NONBLOCK);
	int status = fd < 0 ? fd : read_lines(symbols, fd);

	if (status < 0)
		return error_set(error, status, "the kernel's symbols cannot be read: %s",
				 strerror(-status));
	return kernel_symbols_finish(symbols, error);
}

/* The first of those at the same address. */
static const struct kernel_symbol *find(const struct kernel_symbols *symbols, uint64_t address)
{
	const struct kernel_symbol *list = symbols->list.data;
	size_t below = array_bisect(list, symbols->list.count, item->address <= address);
	uint64_t start = below ? list[below - 1].address : 0;

	if (below == 0 || address - start >= FUNCTION_MAX)
		return NULL;
	return &list[array_bisect(list, below, item->address < start)];
}

const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address)
{
	const struct kernel_symbol *symbol = find(symbols, address);

	return symbol ? symbols->names.data + symbol->name : NULL;
}

const char *kernel_symbols_module(const struct kernel_symbols *symbols, uint64_t address)
{
	const struct kernel_symbol *symbol = find(symbols, address);

	return symbol && symbol->module ? symbols->names.data + symbol->module : NULL;
}
