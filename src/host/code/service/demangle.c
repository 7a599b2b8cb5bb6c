/* SPDX-License-Identifier: MIT */
#include "host/code/service/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

/* The library needs stack for each byte of a name, so longer ones stay as they are. */
#define MANGLED_MAX 8192

struct output {
	char *bytes;
	size_t length;
	jmp_buf full;
};

/*
 * The library has no way to be stopped, and a hostile name may describe more text than could ever
 * be written.  It owns no memory while it calls this, so jumping out of it leaks nothing.
 */
static void append(const char *bytes, size_t length, void *argument)
{
	struct output *output = argument;
	size_t room = DEMANGLED_MAX - 1 - output->length;

	memcpy(output->bytes + output->length, bytes, length < room ? length : room);
	output->length += length < room ? length : room;
	if (length > room)
		longjmp(output->full, 1);
}

/* Legacy names of Rust are also valid ones of C++, so Rust comes first. */
static bool decode(const char *name, struct output *output)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(output->full))
		return true;
	if (rust_demangle_callback(name, options, append, output))
		return true;
	output->length = 0;
	return cplus_demangle_v3_callback(name, options, append, output);
}

size_t demangle(const char *name, char ret[DEMANGLED_MAX])
{
	struct output output = { .bytes = ret };
	size_t length = strnlen(name, MANGLED_MAX);

	if (name[0] != '_' || length == MANGLED_MAX || !decode(name, &output)) {
		output.length = length < DEMANGLED_MAX ? length : DEMANGLED_MAX - 1;
		memcpy(ret, name, output.length);
	}
	ret[output.length] = '\0';
	return output.length;
}
