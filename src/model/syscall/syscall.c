/* SPDX-License-Identifier: MIT */
#include "model/syscall/syscall.h"

#include <stdio.h>
#include <string.h>

#include "base/collection/array.h"

const char *const syscall_category_names[SYSCALL_CATEGORY_COUNT] = {
	[SYSCALL_FILE_IO] = "file_io",	 [SYSCALL_MEMORY] = "memory", [SYSCALL_PROCESS] = "process",
	[SYSCALL_NETWORK] = "network",	 [SYSCALL_TIME] = "time",     [SYSCALL_IPC] = "ipc",
	[SYSCALL_SECURITY] = "security", [SYSCALL_SIGNAL] = "signal", [SYSCALL_SYSTEM] = "system",
	[SYSCALL_OTHER] = "other",
};

/* The place of each row.  Row 0 has no name: it is for numbers that are not a system call. */
enum {
	ROW_NONE,
#define SYSCALL(name, ...) ROW_##name,
#include "base/syscall/syscalls.def"
	ROW_COUNT,
};

/* A name is stored inside its row, so that a pointer to the name leads back to the row. */
struct named_call {
	char name[30];
	uint8_t category;
	uint8_t wait;
};

static const struct named_call calls[ROW_COUNT] = {
	[ROW_NONE] = { "", SYSCALL_OTHER, WAIT_OTHER },
#define SYSCALL(name, category, wait, ...)                                                         \
	[ROW_##name] = { #name, SYSCALL_##category, WAIT_##wait },
#include "base/syscall/syscalls.def"
};

static const uint16_t native_rows[] = {
#define NATIVE(number, name) [number] = ROW_##name,
#include "base/syscall/syscall_numbers.def"
};

static const uint16_t compat_rows[] = {
#define COMPAT(number, name) [number] = ROW_##name,
#include "base/syscall/syscall_numbers.def"
};

const char *const syscall_unfiled[] = {
#define UNFILED(name) #name,
#include "base/syscall/syscall_numbers.def"
	NULL,
};

static const struct {
	const uint16_t *rows;
	uint32_t count;
} numbers[SYSCALL_ABI_COUNT] = {
	[SYSCALL_NATIVE] = { native_rows, ARRAY_SIZE(native_rows) },
	[SYSCALL_COMPAT] = { compat_rows, ARRAY_SIZE(compat_rows) },
	[SYSCALL_UNKNOWN] = { NULL, 0 },
};

static const struct named_call *call_by_number(enum syscall_abi abi, uint32_t number)
{
	if ((unsigned)abi >= SYSCALL_ABI_COUNT || number >= numbers[abi].count)
		return &calls[ROW_NONE];
	return &calls[numbers[abi].rows[number]];
}

static int compare_name(const void *name, const void *call)
{
	return strcmp(name, ((const struct named_call *)call)->name);
}

/* Most names that callers pass are pointers into `calls`: then the address gives the row. */
static const struct named_call *call_by_name(const char *name)
{
	size_t offset = (size_t)((uintptr_t)name - (uintptr_t)calls);
	const struct named_call *found;

	if (offset < sizeof(calls) && offset % sizeof(calls[0]) == 0)
		return &calls[offset / sizeof(calls[0])];
	found = bsearch(name, calls, ROW_COUNT, sizeof(calls[0]), compare_name);
	return found ? found : &calls[ROW_NONE];
}

const char *syscall_name(enum syscall_abi abi, uint32_t number, char buffer[SYSCALL_NAME_SIZE])
{
	const struct named_call *call = call_by_number(abi, number);

	if (call != &calls[ROW_NONE])
		return call->name;
	snprintf(buffer, SYSCALL_NAME_SIZE, "syscall_%u", number);
	return buffer;
}

const char *syscall_static_name(const char *name)
{
	const struct named_call *call = call_by_name(name);

	return call != &calls[ROW_NONE] ? call->name : NULL;
}

enum syscall_category syscall_category_of(const char *name)
{
	return call_by_name(name)->category;
}

unsigned syscall_wait_rule(enum syscall_abi abi, uint32_t number)
{
	return call_by_number(abi, number)->wait;
}

int syscall_number(const char *name)
{
	const struct named_call *call = call_by_name(name);

	if (call == &calls[ROW_NONE])
		return -1;
	for (uint32_t number = 0; number < ARRAY_SIZE(native_rows); number++)
		if (&calls[native_rows[number]] == call)
			return (int)number;
	return -1;
}
