/* SPDX-License-Identifier: MIT */
/* Replaces task_iterator.c in a build without BPF programs, and reports that. */
#include "collect/task/task_iterator.h"

#include <errno.h>

#include "base/error.h"
#include "host/bpf.h"

int task_iterator_open(const struct host *host, const struct gate gates[GATE_COUNT],
		       bool with_activity, struct task_iterator **ret, struct error *error)
{
	(void)host;
	(void)gates;
	(void)with_activity;
	*ret = NULL;
	return error_set(error, -ENOTSUP, HOST_NO_BPF);
}

void task_iterator_close(struct task_iterator *iterator)
{
	(void)iterator;
}

int task_iterator_list(struct task_iterator *iterator, struct capture *capture, struct error *error)
{
	(void)iterator;
	(void)capture;
	return error_set(error, -ENOTSUP, HOST_NO_BPF);
}

int task_iterator_activity(struct task_iterator *iterator, struct capture *capture,
			   struct error *error)
{
	(void)iterator;
	(void)capture;
	return error_set(error, -ENOTSUP, HOST_NO_BPF);
}

int task_iterator_confirm(struct task_iterator *iterator, const struct capture *capture,
			  const uint32_t *rows, enum process_change *ret, size_t count,
			  struct error *error)
{
	(void)iterator;
	(void)capture;
	(void)rows;
	(void)ret;
	(void)count;
	return error_set(error, -ENOTSUP, HOST_NO_BPF);
}
