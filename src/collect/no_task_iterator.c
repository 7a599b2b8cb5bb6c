/* SPDX-License-Identifier: MIT */
/*
 * In place of task_iterator.c in a build without BPF programs: says so.
 */
#include <errno.h>

#include "base/error.h"
#include "collect/collector.h"
#include "host/bpf.h"

static int collect(struct capture *capture, struct error *error)
{
	(void)capture;
	return error_set(error, -ENOTSUP, HOST_NO_BPF);
}

const struct collector task_iterator_collector = {
	.name = "bpf",
	.collect = collect,
};
