/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/syscall_names.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One after the other: a table of pointers would be larger, and relocated at every start. */
static const char names[] =
#define NATIVE(number, name) #name "\0"
#include "base/syscall/syscall_numbers.def"
	;

static const uint16_t numbers[] = {
#define NATIVE(number, name) number,
#include "base/syscall/syscall_numbers.def"
};

const char *syscall_name(long number)
{
	const char *name = names;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (numbers[i] == number)
			return name;
		name += strlen(name) + 1;
	}
	return NULL;
}
