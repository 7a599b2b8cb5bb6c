/* SPDX-License-Identifier: MIT */
#include "host/code/service/known_functions.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "host/code/service/function_table.h"

#define CODE_BYTES_MAX ((uint64_t)8 << 20) /* of a segment that is searched; libc has a fifth */
#define RESOLVERS_MAX 512
#define ENTRY_BYTES 64 /* of _start, where nothing tells its end */

/* The instructions of the file: of the executable segment that is looked at. */
struct code_bytes {
	const uint8_t *bytes;
	struct address_range range;
};

struct known {
	struct function_table *table;
	struct text *names;
	ARRAY_OF(struct {
		uint64_t start;
		uint32_t name;
	})
	found;
};

static int find_code(Elf *elf, uint64_t address, struct code_bytes *ret)
{
	GElf_Phdr header;
	Elf_Data *data;
	size_t count;

	if (elf_getphdrnum(elf, &count) < 0)
		return -EBADMSG;
	for (size_t i = 0; i < count && i <= PN_XNUM; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    !(header.p_flags & PF_X) || header.p_filesz > CODE_BYTES_MAX ||
		    address < header.p_vaddr || address - header.p_vaddr >= header.p_filesz)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
					    ELF_T_BYTE);
		if (!data || !data->d_buf || data->d_size < header.p_filesz)
			return -EBADMSG;
		*ret = (struct code_bytes){ data->d_buf,
					    { header.p_vaddr, header.p_vaddr + data->d_size } };
		return 0;
	}
	return -ENODATA;
}

/* The bytes of a function; NULL and 0 when they are not in the segment. */
static const uint8_t *body(const struct code_bytes *code, const struct address_range *range,
			   size_t *ret_size)
{
	*ret_size = 0;
	if (range->start < code->range.start || range->end > code->range.end)
		return NULL;
	*ret_size = (size_t)(range->end - range->start);
	return code->bytes + (range->start - code->range.start);
}

#if defined(__x86_64__)
static const uint8_t system_call[] = { 0x0f, 0x05 };

/* Whether a system call is made, and its number is loaded into some register: mov $number, %reg */
static bool makes_call(const uint8_t *bytes, size_t size, uint32_t number)
{
	if (!memmem(bytes, size, system_call, sizeof(system_call)))
		return false;
	for (size_t i = 0; i + 5 <= size; i++)
		if ((bytes[i] & 0xf8) == 0xb8 && memcmp(bytes + i + 1, &number, 4) == 0)
			return true;
	return false;
}

static uint64_t relative(const uint8_t *operand, uint64_t next)
{
	int32_t distance;

	memcpy(&distance, operand, sizeof(distance));
	return next + (uint64_t)(int64_t)distance;
}

/* call target */
static bool decode_call(const uint8_t *bytes, size_t size, uint64_t address, uint64_t *ret)
{
	if (size < 5 || bytes[0] != 0xe8)
		return false;
	*ret = relative(bytes + 1, address + 5);
	return true;
}

/* lea target(%rip), %reg */
static bool decode_address(const uint8_t *bytes, size_t size, uint64_t address, uint64_t *ret)
{
	if (size < 7 || (bytes[0] & 0xfb) != 0x48 || bytes[1] != 0x8d || (bytes[2] & 0xc7) != 0x05)
		return false;
	*ret = relative(bytes + 3, address + 7);
	return true;
}

/* lea main(%rip), %rdi, or mov $main, %rdi */
static bool decode_main(const uint8_t *bytes, size_t size, uint64_t address, uint64_t *ret)
{
	static const uint8_t move[] = { 0x48, 0xc7, 0xc7 };

	if (size < 7)
		return false;
	if (memcmp(bytes, move, sizeof(move)) == 0) {
		*ret = relative(bytes + 3, 0);
		return true;
	}
	return bytes[2] == 0x3d && decode_address(bytes, size, address, ret);
}
#define INSTRUCTION_STEP 1
#else
#define INSTRUCTION_STEP 4
#define ADDRESS_DISTANCE 8 /* instructions between the two that make an address */

static uint32_t instruction(const uint8_t *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

static bool has_word(const uint8_t *bytes, size_t size, uint32_t word, uint32_t ignored)
{
	for (size_t i = 0; i + 4 <= size; i += 4)
		if ((instruction(bytes + i) | ignored) == (word | ignored))
			return true;
	return false;
}

/* mov x8, #number (or w8) and svc #0, with other instructions between them */
static bool makes_call(const uint8_t *bytes, size_t size, uint32_t number)
{
	return has_word(bytes, size, 0x52800008 | number << 5, 0x80000000) &&
	       has_word(bytes, size, 0xd4000001, 0);
}

/* bl target */
static bool decode_call(const uint8_t *bytes, size_t size, uint64_t address, uint64_t *ret)
{
	if (size < 4 || instruction(bytes) >> 26 != 0x25)
		return false;
	*ret = address + (uint64_t)((int64_t)(int32_t)(instruction(bytes) << 6) >> 4);
	return true;
}

/* adrp xN, page and, soon after it, add xM, xN, #offset */
static bool decode_address(const uint8_t *bytes, size_t size, uint64_t address, uint64_t *ret)
{
	uint32_t page = size < 4 ? 0 : instruction(bytes);
	int64_t pages = (int64_t)(int32_t)((page >> 5 & 0x7ffff) << 13) >> 11 | (page >> 29 & 3);

	if ((page & 0x9f000000) != 0x90000000)
		return false;
	for (size_t i = 4; i + 4 <= size && i <= 4 * ADDRESS_DISTANCE; i += 4) {
		uint32_t add = instruction(bytes + i);

		if ((add & 0xffc00000) != 0x91000000 || (add >> 5 & 31) != (page & 31))
			continue;
		*ret = (address & ~UINT64_C(0xfff)) + (uint64_t)pages * 4096 + (add >> 10 & 0xfff);
		return true;
	}
	return false;
}

/* The same for x0. */
static bool decode_main(const uint8_t *bytes, size_t size, uint64_t address, uint64_t *ret)
{
	return size >= 8 && (instruction(bytes) & 31) == 0 &&
	       decode_address(bytes, size, address, ret);
}
#endif

static int add(struct known *known, uint64_t start, const char *name)
{
	uint32_t offset = (uint32_t)known->names->length;
	struct function function;

	if (!function_table_find(known->table, start, &function) || function.name)
		return 0;
	text_append(known->names, name, strlen(name) + 1);
	if (known->names->failed)
		return -ENOMEM;
	if (array_reserve(&known->found, known->found.count + 1) < 0)
		return -ENOMEM;
	known->found.data[known->found.count].start = start;
	known->found.data[known->found.count++].name = offset;
	return 0;
}

/* Calls visit() for each address that an instruction of the function has, as `decode` finds it. */
static int each_target(const struct code_bytes *code, const struct address_range *range,
		       bool (*decode)(const uint8_t *, size_t, uint64_t, uint64_t *),
		       int (*visit)(struct known *, const struct code_bytes *, uint64_t,
				    const char *),
		       struct known *known, const char *name)
{
	size_t size;
	const uint8_t *bytes = body(code, range, &size);
	uint64_t target;
	int status = 0;

	for (size_t i = 0; i < size && status == 0; i += INSTRUCTION_STEP)
		if (decode(bytes + i, size - i, range->start + i, &target))
			status = visit(known, code, target, name);
	return status;
}

/* Other bytes may look like an instruction, so a target must be the start of a function. */
static bool is_start(const struct known *known, uint64_t address, struct function *ret)
{
	return function_table_find(known->table, address, ret) && ret->range.start == address &&
	       ret->range.end > address + 1;
}

static int add_start(struct known *known, const struct code_bytes *code, uint64_t target,
		     const char *name)
{
	struct function function;

	(void)code;
	return is_start(known, target, &function) ? add(known, target, name) : 0;
}

static int add_thread_end(struct known *known, const struct code_bytes *code, uint64_t target,
			  const char *name)
{
	struct function function;
	const uint8_t *bytes;
	size_t size;

	if (!is_start(known, target, &function))
		return 0;
	bytes = body(code, &function.range, &size);
	return bytes && makes_call(bytes, size, SYS_exit) ? add(known, target, name) : 0;
}

/*
 * The rules to unwind clone3 have several parts, since no caller is left in the new thread: the
 * system call may be in the part before the one that ends the thread.
 */
static int add_thread_start(struct known *known, const struct code_bytes *code,
			    const struct function *function)
{
	struct address_range near = function->range;
	const uint8_t *bytes;
	struct function before;
	size_t size;
	int status;

	bytes = body(code, &function->range, &size);
	if (!bytes || !makes_call(bytes, size, SYS_exit))
		return 0;
	if (makes_call(bytes, size, SYS_set_robust_list))
		return add(known, function->range.start, "start_thread");
	if (!function_table_find(known->table, near.start - 1, &before))
		return 0;
	if (!before.name)
		near.start = before.range.start;
	bytes = body(code, &near, &size);
	if (!bytes || !makes_call(bytes, size, SYS_clone3))
		return 0;
	status = add(known, near.start, "clone3");
	return status < 0 ? status : add(known, function->range.start, "clone3");
}

static int add_thread_starts(struct known *known, const struct code_bytes *code)
{
	const struct function_table *table = known->table;
	int status = 0;

	for (size_t i = 0; i < table->starts.count && status == 0; i++) {
		struct function function;

		if (function_table_find(table, table->starts.data[i], &function) && !function.name)
			status = add_thread_start(known, code, &function);
	}
	return status;
}

static int add_libc(struct known *known, Elf *elf)
{
	struct function start, create;
	struct code_bytes code;
	int status;

	if (!function_table_find_name(known->table, "__libc_start_main", &start) ||
	    !function_table_find_name(known->table, "pthread_create", &create) ||
	    find_code(elf, start.range.start, &code) < 0)
		return 0;
	status = each_target(&code, &start.range, decode_call, add_thread_end, known,
			     "__libc_start_call_main");
	return status < 0 ? status : add_thread_starts(known, &code);
}

static int add_resolved(struct known *known, Elf *elf)
{
	struct code_bytes code = { 0 };
	size_t resolvers = 0;
	int status = 0;

	for (size_t i = 0; i < known->table->symbols.count && status == 0; i++) {
		uint64_t start = known->table->symbols.data[i].start;
		struct function function;

		if (!function_table_find(known->table, start, &function) || !function.is_resolver ||
		    function.range.start != start || ++resolvers > RESOLVERS_MAX)
			continue;
		if (!code.bytes && find_code(elf, start, &code) < 0)
			return 0;
		status = each_target(&code, &function.range, decode_address, add_start, known,
				     function.name);
	}
	return status;
}

static int add_entry(struct known *known, Elf *elf)
{
	struct address_range range;
	struct code_bytes code;
	GElf_Ehdr header;
	int status;

	if (!gelf_getehdr(elf, &header) || !header.e_entry || find_code(elf, header.e_entry, &code))
		return 0;
	range = (struct address_range){ header.e_entry, header.e_entry + ENTRY_BYTES };
	if (range.end > code.range.end)
		range.end = code.range.end;
	status = add(known, header.e_entry, "_start");
	return status < 0 ? status :
			    each_target(&code, &range, decode_main, add_start, known, "main");
}

int known_functions_add(struct function_table *table, Elf *elf, struct text *names)
{
	struct known known = { .table = table, .names = names };
	int status = add_entry(&known, elf);
	int number;

	if (status == 0)
		status = add_libc(&known, elf);
	if (status == 0)
		status = add_resolved(&known, elf);
	number = known.found.count ? function_table_add_names(table, names->data, names->length) :
				     -E2BIG;
	for (size_t i = 0; i < known.found.count && status == 0 && number >= 0; i++)
		status = function_table_add(table, known.found.data[i].start, number,
					    known.found.data[i].name);
	array_free(&known.found);
	if (status == 0)
		function_table_finish(table);
	return status;
}
