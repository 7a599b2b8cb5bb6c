/* SPDX-License-Identifier: MIT */
#include "session/stack/stack_missing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "model/profile/profile.h"
#include "model/tree/run.h"

#define KEY_SIZE 64

/* Off-CPU time that stacks stand for, by thread and reason; text n has ns.data[n - 1]. */
struct captured {
	struct dictionary *keys;
	ARRAY_OF(uint64_t) ns;
	uint64_t by_reason[WAIT_REASON_COUNT]; /* and what was found to be missing since */
};

static size_t make_key(char key[KEY_SIZE], const struct task_key *task, unsigned reason)
{
	return (size_t)snprintf(key, KEY_SIZE, "%d %" PRIu64 " %u", task->tid, task->start_ns,
				reason);
}

static int captured_add(struct captured *captured, const struct profile_sample *sample)
{
	char key[KEY_SIZE];
	size_t length = make_key(key, &sample->task, sample->reason);
	uint32_t number;

	if (dictionary_add(captured->keys, key, length, &number) < 0 ||
	    array_extend(&captured->ns, number, 0) < 0)
		return -ENOMEM;
	captured->ns.data[number - 1] += sample->ns;
	captured->by_reason[sample->reason] += sample->ns;
	return 0;
}

static uint64_t captured_ns(const struct captured *captured, const struct task_key *task,
			    unsigned reason)
{
	char key[KEY_SIZE];
	uint32_t number = dictionary_find(captured->keys, key, make_key(key, task, reason));

	return number ? captured->ns.data[number - 1] : 0;
}

static int captured_open(struct captured *ret, const struct profile *profile)
{
	int status = 0;

	ret->keys = dictionary_new();
	if (!ret->keys)
		return -ENOMEM;
	for (size_t i = 0; i < profile->samples.count && status == 0; i++)
		if (profile->samples.data[i].kind == PROFILE_OFF_CPU)
			status = captured_add(ret, &profile->samples.data[i]);
	return status;
}

static void captured_close(struct captured *captured)
{
	dictionary_free(captured->keys);
	array_free(&captured->ns);
}

static int add(struct profile *profile, const struct task_key *task, const char *process_name,
	       const char *thread_name, enum wait_reason reason, uint64_t ns)
{
	struct profile_sample sample = {
		.task = *task,
		.process_name = profile_text(profile, process_name),
		.thread_name = profile_text(profile, thread_name),
		.kind = PROFILE_OFF_CPU,
		.end = PROFILE_NO_STACK,
		.reason = (uint8_t)reason,
		.ns = ns,
	};

	return profile_add_sample(profile, &sample);
}

/*
 * What stacks do not stand for, by reason.  A stack has one reason, but the ledger may have counted
 * parts of its time under others: what one reason has too much of, the others lack less.
 */
static void find_missing(const struct amounts *amounts, const uint64_t known[WAIT_REASON_COUNT],
			 uint64_t ret[WAIT_REASON_COUNT])
{
	uint64_t surplus = 0;

	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		uint64_t whole = amounts_waited(amounts, (enum wait_reason)reason).ns;

		ret[reason] = whole > known[reason] ? whole - known[reason] : 0;
		surplus += known[reason] > whole ? known[reason] - whole : 0;
	}
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		uint64_t found = surplus < ret[reason] ? surplus : ret[reason];

		ret[reason] -= found;
		surplus -= found;
	}
}

static int add_thread(struct captured *captured, struct profile *profile,
		      const struct tree_thread *thread, const char *process_name)
{
	uint64_t known[WAIT_REASON_COUNT], missing[WAIT_REASON_COUNT];
	int status = 0;

	for (unsigned reason = 0; reason < WAIT_REASON_COUNT; reason++)
		known[reason] = captured_ns(captured, &thread->key, reason);
	find_missing(&thread->amounts, known, missing);
	for (int reason = 0; reason < WAIT_REASON_COUNT && status == 0; reason++) {
		captured->by_reason[reason] += missing[reason];
		if (missing[reason])
			status = add(profile, &thread->key, process_name, thread->comm,
				     (enum wait_reason)reason, missing[reason]);
	}
	return status;
}

static int add_threads(struct captured *captured, struct run *run)
{
	const struct tree *tree = run->tree;
	int status = 0;

	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_process *process = tree->all[i];

		for (size_t j = 0; j < process->live_count && status == 0; j++)
			status =
				add_thread(captured, run->profile, process->live[j], process->comm);
	}
	for (size_t i = 0; i < tree->ended_count && status == 0; i++)
		status =
			add_thread(captured, run->profile, tree->ended[i], tree->ended[i]->program);
	return status;
}

/* What is left of the tree's sums belongs to threads that the tree has only as sums. */
static int add_rest(struct captured *captured, struct run *run)
{
	const struct task_key nobody = { 0 };
	uint64_t missing[WAIT_REASON_COUNT];
	int status = 0;

	find_missing(&run->tree->amounts, captured->by_reason, missing);
	for (int reason = 0; reason < WAIT_REASON_COUNT && status == 0; reason++)
		if (missing[reason])
			status = add(run->profile, &nobody, STACK_OTHER_THREADS, "",
				     (enum wait_reason)reason, missing[reason]);
	return status;
}

/*
 * The clock of a CPU does not run while it switches, or while a hypervisor has it, so samples stand for less than the
 * time that the threads had.
 */
static uint64_t unsampled_ns(const struct run *run)
{
	uint64_t whole = run_seen_cpu_ns(run);
	struct profile_sum sum;

	profile_sum(run->profile, PROFILE_ON_CPU, &sum);
	return run->profile->frequency_hz && whole > sum.ns ? whole - sum.ns : 0;
}

static int add_on_cpu(struct profile *profile, uint64_t ns)
{
	struct profile_sample sample = {
		.process_name = profile_text(profile, STACK_OTHER_THREADS),
		.kind = PROFILE_ON_CPU,
		.end = PROFILE_NO_STACK,
		.ns = ns,
	};

	return ns ? profile_add_sample(profile, &sample) : 0;
}

int stack_missing_add(struct run *run, uint64_t lost_on_cpu_ns)
{
	CLEANUP(captured_close) struct captured captured = { 0 };
	int status = captured_open(&captured, run->profile);
	uint64_t rest_ns;

	if (status == 0)
		status = add_threads(&captured, run);
	if (status == 0)
		status = add_rest(&captured, run);
	if (status < 0)
		return status;
	rest_ns = unsampled_ns(run);
	return add_on_cpu(run->profile, rest_ns > lost_on_cpu_ns ? rest_ns : lost_on_cpu_ns);
}
