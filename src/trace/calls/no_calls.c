/* SPDX-License-Identifier: MIT */
/* Replaces calls.c in a build without BPF programs: opening fails and says so. */
#include <errno.h>

#include "base/error.h"
#include "host/bpf.h"
#include "trace/calls/calls.h"

int calls_open(const struct host *host, const struct calls_options *options, struct calls **ret,
	       struct error *error)
{
	(void)host;
	(void)options;
	(void)ret;
	return error_set(error, -ENOTSUP, HOST_NO_BPF);
}

/* Nothing can be open. */
void calls_close(struct calls *calls)
{
	(void)calls;
}

int calls_read(struct calls *calls, call_sum_sink *sink, void *context)
{
	(void)calls;
	(void)sink;
	(void)context;
	return -ENOTSUP;
}

int calls_under_way(struct calls *calls, call_under_way_sink *sink, void *context)
{
	(void)calls;
	(void)sink;
	(void)context;
	return -ENOTSUP;
}

void calls_losses(const struct calls *calls, struct calls_losses *ret)
{
	(void)calls;
	*ret = (struct calls_losses){ 0 };
}

int calls_pause(struct calls *calls)
{
	(void)calls;
	return -ENOTSUP;
}

int calls_resume(struct calls *calls)
{
	(void)calls;
	return -ENOTSUP;
}
