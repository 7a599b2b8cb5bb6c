/* SPDX-License-Identifier: MIT */
#include "host/code/service/elf_names.h"

#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "host/code/service/demangle.h"
#include "host/code/service/function_table.h"
#include "host/code/service/known_functions.h"
#include "host/code/service/mini_debug.h"
#include "host/code/service/source_lines.h"

struct elf_names {
	Elf *program, *debug; /* borrowed; `debug` may be NULL */
	Elf *mini;
	uint64_t program_size, debug_size;
	char *mini_bytes;
	size_t mini_size;
	struct function_table table;
	struct text known_names;
	struct source_lines *lines;
};

void elf_answer_free(struct elf_answer *answer)
{
	text_free(&answer->texts);
	*answer = (struct elf_answer){ 0 };
}

void elf_names_free(struct elf_names *names)
{
	if (!names)
		return;
	source_lines_free(names->lines);
	function_table_clear(&names->table);
	text_free(&names->known_names);
	elf_end(names->mini);
	free(names->mini_bytes);
	free(names);
}
CLEANUP_POINTER(elf_names_free, struct elf_names)

static int add_mini(struct elf_names *names)
{
	int status = mini_debug_unpack(names->program, &names->mini_bytes, &names->mini_size);

	if (status == -ENOMEM)
		return status;
	if (status == 0)
		names->mini = elf_memory(names->mini_bytes, names->mini_size);
	return names->mini ? function_table_add_symbols(&names->table, names->mini) : 0;
}

static int read_tables(struct elf_names *names)
{
	int status = function_table_begin(&names->table, names->program);

	if (status == 0)
		status = function_table_add_symbols(&names->table, names->program);
	if (status == 0 && names->debug)
		status = function_table_add_symbols(&names->table, names->debug);
	if (status == 0 && !names->debug)
		status = add_mini(names);
	if (status < 0)
		return status;
	function_table_finish(&names->table);
	return known_functions_add(&names->table, names->program, &names->known_names);
}

/* Lines are a bonus: whatever is wrong with them, functions have names. */
static void open_lines(struct elf_names *names)
{
	if (source_lines_open(names->program, names->program_size, &names->lines) == -ENODATA &&
	    names->debug)
		source_lines_open(names->debug, names->debug_size, &names->lines);
}

int elf_names_open(Elf *program, uint64_t size, Elf *debug, uint64_t debug_size,
		   struct elf_names **ret)
{
	CLEANUP(elf_names_free_pointer) struct elf_names *names = calloc(1, sizeof(*names));
	int status;

	if (!names)
		return -ENOMEM;
	names->program = program;
	names->program_size = size;
	names->debug = debug;
	names->debug_size = debug_size;
	status = read_tables(names);
	if (status < 0)
		return status;
	open_lines(names);
	*ret = TAKE_PTR(names);
	return 0;
}

uint64_t elf_names_bytes(const struct elf_names *names)
{
	uint64_t bytes = names->mini_size + names->known_names.capacity;

	bytes += names->table.symbols.capacity * sizeof(*names->table.symbols.data);
	bytes += names->table.starts.capacity * sizeof(*names->table.starts.data);
	for (size_t i = 0; i < names->table.name_tables; i++)
		bytes += names->table.names[i].size;
	return names->lines ? bytes + source_lines_bytes(names->lines) : bytes;
}

static uint32_t add_text(struct elf_answer *answer, const char *text, size_t length)
{
	uint32_t offset = (uint32_t)answer->texts.length;

	if (!length)
		return 0;
	text_append(&answer->texts, text, length);
	text_append(&answer->texts, "", 1);
	return offset;
}

/* Old linkers put the version of a symbol behind its name: name@@VERSION. */
static uint32_t add_function(struct elf_answer *answer, const char *name)
{
	char text[DEMANGLED_MAX], plain[DEMANGLED_MAX];
	const char *at = name ? strchr(name, '@') : NULL;

	if (!name)
		return 0;
	if (at && at > name && at - name < DEMANGLED_MAX) {
		memcpy(plain, name, (size_t)(at - name));
		plain[at - name] = '\0';
		name = plain;
	}
	return add_text(answer, text, demangle(name, text));
}

static void add_frame(struct elf_answer *answer, const struct source_frame *frame,
		      const char *function, bool is_inlined)
{
	size_t length = frame->source ? strnlen(frame->source, ELF_SOURCE_MAX) : ELF_SOURCE_MAX;

	answer->names[answer->count++] = (struct elf_name){
		.function = add_function(answer, function),
		.source = length < ELF_SOURCE_MAX ? add_text(answer, frame->source, length) : 0,
		.line = frame->line,
		.is_inlined = is_inlined,
	};
}

int elf_names_find(struct elf_names *names, uint64_t address, struct elf_answer *answer)
{
	struct source_frame frames[ELF_NAMES_MAX] = { 0 };
	struct function function;
	size_t count = 0;

	text_clear(&answer->texts);
	text_append(&answer->texts, "", 1);
	answer->count = 0;
	if (!function_table_find(&names->table, address, &function))
		return -ENOENT;
	if (names->lines)
		count = source_lines_find(names->lines, address, frames, ELF_NAMES_MAX);
	answer->function_start = function.range.start;
	answer->start = count ? address : function.same.start;
	answer->end = count ? address + 1 : function.same.end;
	/* Names of inlined functions may be in a file that several share, which is not read. */
	for (size_t i = 0; i + 1 < count; i++)
		if (frames[i].function)
			add_frame(answer, &frames[i], frames[i].function, true);
	count = count ? count - 1 : 0;
	add_frame(answer, &frames[count], function.name ? function.name : frames[count].function,
		  false);
	return answer->texts.failed ? -ENOMEM : 0;
}
