/* SPDX-License-Identifier: MIT */
/*
 * The files of a thread that is followed: stat, schedstat, io and status.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/proc/proc_sample.h"

#define TICK_NS 10000000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_sample sample = { 0 };
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (proc_sample_parse_stat(text, TICK_NS, &sample) &&
	    memchr(sample.comm, '\0', sizeof(sample.comm)) == NULL)
		abort();
	proc_sample_parse_schedstat(text, &sample);
	proc_sample_parse_io(text, &sample);
	proc_sample_parse_status(text, &sample);
	free(text);
	return 0;
}
