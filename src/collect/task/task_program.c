/* SPDX-License-Identifier: MIT */
/* Loads the program of the task iterator, with or without activity. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/scope_layout.h"
#include "bpf/task.h"
#include "bpf/tree/tree.h"
#include "task.skel.h"
#include "task_activity.skel.h"
#include "collect/task/task_iterator.h"
#include "collect/task/task_iterator_parts.h"
#include "collect/task/task_record.h"
#include "host/bpf.h"
#include "host/host.h"
#include "model/syscall/syscall.h"

_Static_assert(TASK_SCOPE_FD == SCOPE_FD && TASK_SCOPE_FD_COUNT == SCOPE_FD_TRIES,
	       "the program looks at the descriptors that the library takes");

/* Only online CPUs are shown, so the mask is read up to the last online CPU. */
size_t task_affinity_words(const struct host *host)
{
	size_t words = host->online.word_count ? host->online.word_count : 1;

	return words < TASK_AFFINITY_WORDS_MAX ? words : TASK_AFFINITY_WORDS_MAX;
}

/* A macro, since each program has settings of its own type. */
#define CONFIGURE(settings, host, gates)                                                           \
	do {                                                                                       \
		int cpus = libbpf_num_possible_cpus();                                             \
                                                                                                   \
		(settings)->want_stats = (gates)[GATE_SCHEDSTATS].open;                            \
		(settings)->want_delays = (gates)[GATE_TASK_DELAY_ACCT].open;                      \
		(settings)->cpu_count = (uint32_t)(cpus > 0 ? cpus : 0);                           \
		(settings)->cgroup_hierarchy =                                                     \
			task_cgroup_number((host)->cgroup.version, (host)->cgroup.controller);     \
		(settings)->affinity_words = (uint32_t)task_affinity_words(host);                  \
	} while (0)

static int load_plain(struct task_iterator *iterator, const struct host *host,
		      const struct gate gates[GATE_COUNT])
{
	int status;

	iterator->plain = task_program__open();
	if (!iterator->plain)
		return -ENOMEM;
	CONFIGURE(iterator->plain->rodata, host, gates);
	status = task_program__load(iterator->plain);
	iterator->fd = iterator->plain->progs.dump_task.prog_fd;
	iterator->only_identity = &iterator->plain->bss->only_identity;
	iterator->left_out = &iterator->plain->bss->left_out;
	return status;
}

static int load_active(struct task_iterator *iterator, const struct host *host,
		       const struct gate gates[GATE_COUNT])
{
	uint8_t *rules;
	int status;

	iterator->active = task_activity_program__open();
	if (!iterator->active)
		return -ENOMEM;
	CONFIGURE(iterator->active->rodata, host, gates);
	rules = (uint8_t *)iterator->active->rodata->rules;
	for (uint32_t i = 0; i < TREE_CALL_NUMBERS; i++) {
		rules[i] = (uint8_t)syscall_wait_rule(SYSCALL_NATIVE, i);
		rules[TREE_CALL_NUMBERS + i] = (uint8_t)syscall_wait_rule(SYSCALL_COMPAT, i);
	}
	status = task_activity_program__load(iterator->active);
	iterator->fd = iterator->active->progs.dump_task.prog_fd;
	iterator->only_identity = &iterator->active->bss->only_identity;
	iterator->left_out = &iterator->active->bss->left_out;
	return status;
}

void task_iterator_close(struct task_iterator *iterator)
{
	if (!iterator)
		return;
	task_program__destroy(iterator->plain);
	task_activity_program__destroy(iterator->active);
	free(iterator);
}

int task_iterator_open(const struct host *host, const struct gate gates[GATE_COUNT],
		       bool with_activity, struct task_iterator **ret, struct error *error)
{
	struct task_iterator *iterator;
	int status = host_bpf_check(host, error);

	if (status < 0)
		return status;
	iterator = calloc(1, sizeof(*iterator));
	if (!iterator)
		return host_bpf_explain(-ENOMEM, error);
	status = (with_activity ? load_active : load_plain)(iterator, host, gates);
	if (status < 0) {
		task_iterator_close(iterator);
		return host_bpf_explain(status, error);
	}
	*ret = iterator;
	return 0;
}

ssize_t task_records_each(const char *bytes, size_t length, size_t words,
			  int (*take)(void *context, struct task_record *record), void *context)
{
	size_t used = 0;

	for (;;) {
		struct task_record record;
		int size = task_record_parse(bytes + used, length - used, words, &record);
		int status;

		if (size <= 0)
			return size < 0 ? size : (ssize_t)used;
		status = take(context, &record);
		if (status < 0)
			return status;
		used += (size_t)size;
	}
}
