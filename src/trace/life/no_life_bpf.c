/* SPDX-License-Identifier: MIT */
/* Replaces life_bpf.c in a build without BPF programs: open() fails and says so. */
#include <errno.h>

#include "base/error.h"
#include "host/bpf.h"
#include "trace/life/life_source.h"

static int open_state(struct lifecycle *lifecycle, void **ret, struct error *error)
{
	(void)lifecycle;
	(void)ret;
	return error_set(error, -ENOTSUP, HOST_NO_BPF);
}

const struct life_source life_bpf = {
	.name = "bpf",
	.needs = HOST_NEEDS_BPF,
	.open = open_state,
};
