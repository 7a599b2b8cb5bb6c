/* SPDX-License-Identifier: MIT */
/*
 * The files of a thread that is followed: stat, schedstat, io and status.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/proc_look.h"

#define TICK_NS 10000000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_look look = { 0 };
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (proc_look_parse_stat(text, TICK_NS, &look) &&
	    memchr(look.comm, '\0', sizeof(look.comm)) == NULL)
		abort();
	proc_look_parse_schedstat(text, &look);
	proc_look_parse_io(text, &look);
	proc_look_parse_status(text, &look);
	free(text);
	return 0;
}
