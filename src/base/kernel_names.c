/* SPDX-License-Identifier: MIT */
#include "base/kernel_names.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/text.h"

#define UNNAMED_ERROR "errno_"
#define LAST_ERROR 133 /* of errno.h: higher ones are known only in the kernel */
#define FIRST_REALTIME 32

/* A call that was interrupted ends with one of these; the program sees EINTR, or nothing. */
static const struct {
	unsigned number;
	const char *name;
} kernel_errors[] = {
	{ 512, "ERESTARTSYS" }, { 513, "ERESTARTNOINTR" },	  { 514, "ERESTARTNOHAND" },
	{ 515, "ENOIOCTLCMD" }, { 516, "ERESTART_RESTARTBLOCK" }, { 517, "EPROBE_DEFER" },
	{ 524, "ENOTSUPP" },
};

const char *signal_name(int number, char buffer[KERNEL_NAME_SIZE])
{
	const char *known = number < FIRST_REALTIME ? sigabbrev_np(number) : NULL;

	if (known)
		snprintf(buffer, KERNEL_NAME_SIZE, "SIG%s", known);
	else if (number >= SIGRTMIN && number <= SIGRTMAX)
		snprintf(buffer, KERNEL_NAME_SIZE, "SIGRTMIN+%d", number - SIGRTMIN);
	else
		snprintf(buffer, KERNEL_NAME_SIZE, "signal %d", number);
	return buffer;
}

static const char *find_error(unsigned number)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernel_errors); i++)
		if (kernel_errors[i].number == number)
			return kernel_errors[i].name;
	return number && number <= LAST_ERROR ? strerrorname_np((int)number) : NULL;
}

const char *error_name(unsigned number, char buffer[KERNEL_NAME_SIZE])
{
	const char *known = find_error(number);

	if (known)
		snprintf(buffer, KERNEL_NAME_SIZE, "%s", known);
	else
		snprintf(buffer, KERNEL_NAME_SIZE, UNNAMED_ERROR "%u", number);
	return buffer;
}

int error_number(const char *name)
{
	uint64_t number;

	if (strncmp(name, UNNAMED_ERROR, strlen(UNNAMED_ERROR)) == 0)
		return parse_u64(name + strlen(UNNAMED_ERROR), &number) && number < 65536 ?
			       (int)number :
			       -1;
	for (size_t i = 0; i < ARRAY_SIZE(kernel_errors); i++)
		if (strcmp(kernel_errors[i].name, name) == 0)
			return (int)kernel_errors[i].number;
	for (int i = 1; i <= LAST_ERROR; i++) {
		const char *known = strerrorname_np(i);

		if (known && strcmp(known, name) == 0)
			return i;
	}
	return -1;
}
