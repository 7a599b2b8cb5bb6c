/* SPDX-License-Identifier: MIT */
/* Replaces bpf_tracer.c in a build without BPF programs: open() fails and says so. */
#include <errno.h>

#include "base/error.h"
#include "host/bpf.h"
#include "trace/tracer.h"

static int open_state(const struct host *host, const struct tracer_options *options, void **ret,
		      struct error *error)
{
	(void)host;
	(void)options;
	(void)ret;
	return error_set(error, -ENOTSUP, HOST_NO_BPF);
}

const struct tracer_kind bpf_tracer = {
	.name = "bpf",
	.needs = HOST_NEEDS_BPF,
	.open = open_state,
};
