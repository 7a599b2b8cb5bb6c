/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/syscall_names.h"

#include <stddef.h>
#include <stdint.h>

/* One text holds all names: a table of pointers would be larger, and relocated at every start. */
static const struct texts {
#define NATIVE(number, name) char of_##name[sizeof(#name)];
#include "base/syscall/syscall_numbers.def"
} texts = {
#define NATIVE(number, name) #name,
#include "base/syscall/syscall_numbers.def"
};

/* Where each name begins, plus one; 0: no call has that number. */
static const uint16_t places[] = {
#define NATIVE(number, name) [number] = 1 + offsetof(struct texts, of_##name),
#include "base/syscall/syscall_numbers.def"
};

const char *syscall_name(long number)
{
	if (number < 0 || (size_t)number >= sizeof(places) / sizeof(places[0]) || !places[number])
		return NULL;
	return (const char *)&texts + places[number] - 1;
}
