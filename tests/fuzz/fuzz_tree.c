/* SPDX-License-Identifier: MIT */
/*
 * The input is a series of events, sixteen bytes each, in any order and of few tasks, so that they
 * meet.  Whatever comes, no sum falls, what is present stays, and the parts add up to the sums.
 */
#include "base/cleanup.h"
#include "fuzz_text.h"
#include "model/tree/run.h"

#define RECORD 16
#define RECORDS_MAX 512
#define TASKS 16

/* What is done beside applying events. */
enum {
	DO_TAKE = TREE_EVENT_TYPE_COUNT,
	DO_CLOSE,
	DO_FINISH,
	DO_SAMPLE,
	DO_COUNT,
};

/* Small numbers, and a few that are too large for any sum. */
static uint64_t number_of(uint8_t byte)
{
	return byte < 240 ? byte : UINT64_MAX >> (255 - byte);
}

static struct amounts amounts_from(const uint8_t *bytes)
{
	struct amounts amounts = { 0 };

	for (int i = 0; i < AMOUNT_COUNT; i++)
		if (bytes[i % 3] >> i % 8 & 1)
			amounts_set(&amounts, i, number_of(bytes[3 + i % 5]));
	return amounts;
}

static struct tree_account account_from(const uint8_t *bytes, struct tree_syscall *call)
{
	struct tree_account account = {
		.ended = bytes[0] & 1,
		.has_syscalls = bytes[0] & 2,
		.syscalls = call,
		.syscall_count = 1,
		.now.reason = bytes[1],
		.end_ns = bytes[2],
		.amounts = amounts_from(bytes + 3),
		.unnamed_syscalls = number_of(bytes[5]),
	};

	memset(account.comm, bytes[6], sizeof(account.comm));
	call->abi = bytes[1] % 5;
	call->number = bytes[7] * 4U;
	call->socket_count = number_of(bytes[8]);
	call->stats.count = bytes[9];
	return account;
}

static struct tree_wait_event wait_from(const uint8_t *bytes)
{
	return (struct tree_wait_event){
		.reason = bytes[0] % (WAIT_REASON_COUNT + 2),
		.waker_class = bytes[1] % 6,
		.waker_pid = bytes[2] % TASKS,
		.waker_tid = bytes[3] % TASKS,
		.open = bytes[4] & 1,
		.block_ns = number_of(bytes[5]) << 20,
		.wake_ns = number_of(bytes[6]) << 20,
	};
}

static struct tree_process_facts facts_from(const uint8_t *bytes)
{
	return (struct tree_process_facts){
		.present = bytes[0],
		.ended = bytes[1] & 2,
		.end_ns = bytes[2],
		.status = bytes[3] | bytes[4] << 8,
		.peak_rss_bytes = number_of(bytes[5]),
		.rss_bytes = number_of(bytes[6]),
		.fds = number_of(bytes[7]),
		.fd_limit = number_of(bytes[8]),
		.threads = number_of(bytes[2]),
		.unseen_cpu_ns = number_of(bytes[3]),
	};
}

static void apply_record(struct tree *tree, const uint8_t *record)
{
	struct tree_syscall call = { 0 };
	struct tree_event event = {
		.type = record[0] % DO_COUNT,
		.task = { record[1] % TASKS, record[2] % TASKS, record[3] % 4 },
		.time_ns = record[4],
	};

	if (record[0] & 0x80)
		event.task.tid = event.task.pid;
	if (event.type == TREE_FORK)
		event.fork = (struct tree_fork){ .parent_pid = record[5] % TASKS,
						 .inner_pid = record[6],
						 .found = record[7] & 1,
						 .has_uid = record[7] & 2,
						 .comm = "x" };
	else if (event.type == TREE_EXEC)
		event.exec = (struct tree_exec){ (const char *)record, record[5] % RECORD, 0, "y" };
	else if (event.type == TREE_THREAD)
		event.account = account_from(record + 5, &call);
	else if (event.type == TREE_PROCESS)
		event.process = facts_from(record + 5);
	else if (event.type == TREE_WAIT)
		event.wait = wait_from(record + 5);
	else
		event.signal.number = record[5];
	fuzz_require(tree_apply(tree, &event) == 0);
}

static void do_record(struct run *run, const uint8_t *record)
{
	switch (record[0] % DO_COUNT) {
	case DO_TAKE:
		tree_take_ended(run->tree);
		break;
	case DO_CLOSE:
		tree_close_unseen(run->tree, record[4]);
		break;
	case DO_FINISH:
		tree_finish(run->tree);
		break;
	case DO_SAMPLE:
		run_sample(run, record[4]);
		break;
	default:
		apply_record(run->tree, record);
	}
}

struct found {
	struct amounts amounts;
	uint64_t threads, running;
};

static int find_thread(void *context, const struct tree_process *process_or_null,
		       const struct tree_thread *thread)
{
	struct found *found = context;

	fuzz_require(process_or_null || thread->ended);
	amounts_add(&found->amounts, &thread->amounts);
	found->threads++;
	found->running += !thread->ended;
	return 0;
}

/* A sum that is full has lost how much went into it. */
static bool adds_up(uint64_t sum, uint64_t parts)
{
	return sum == parts || sum == UINT64_MAX || parts == UINT64_MAX;
}

static void check_parts(const struct tree *tree)
{
	uint64_t live = 0, rss = 0;
	struct found found = { 0 };

	tree_visit_threads(tree, find_thread, &found);
	fuzz_require(found.running == tree->live_threads);
	fuzz_require(found.threads + tree->folded_threads <= tree->threads);
	fuzz_require(tree->amounts.present == found.amounts.present);
	for (int i = 0; i < AMOUNT_COUNT; i++)
		fuzz_require(adds_up(tree->amounts.values[i], found.amounts.values[i]));
	for (size_t i = 0; i < tree->count; i++) {
		live += !tree->all[i]->exited;
		rss += tree->all[i]->state.rss.known ? tree->all[i]->state.rss.value : 0;
	}
	fuzz_require(live == tree->live_processes && rss == tree->rss_bytes);
	fuzz_require(live + tree->exited == tree->processes);
}

static void check_amount(const struct amounts *before, const struct amounts *now, enum amount_id id)
{
	uint64_t was = amounts_get(before, id), is = amounts_get(now, id);

	if (metrics[amount_metrics[id]].fold == FOLD_MIN)
		fuzz_require(!was || (is && is <= was));
	else
		fuzz_require(is >= was);
}

static void check_progress(const struct tree *before, const struct tree *now)
{
	fuzz_require((before->amounts.present & ~now->amounts.present) == 0);
	for (int i = 0; i < AMOUNT_COUNT; i++)
		check_amount(&before->amounts, &now->amounts, i);
	fuzz_require(now->processes >= before->processes && now->threads >= before->threads);
	fuzz_require(now->exited >= before->exited && now->failed >= before->failed);
	fuzz_require(now->peak_rss_bytes >= before->peak_rss_bytes);
	fuzz_require(now->largest_rss_bytes >= before->largest_rss_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(run_free_pointer) struct run *run = NULL;

	fuzz_require(run_new(&run) == 0);
	for (size_t i = 0; i < RECORDS_MAX && (i + 1) * RECORD <= size; i++) {
		struct tree before = *run->tree;
		uint64_t calls = syscall_table_total(&run->tree->syscalls);

		do_record(run, data + i * RECORD);
		check_progress(&before, run->tree);
		fuzz_require(syscall_table_total(&run->tree->syscalls) >= calls);
		check_parts(run->tree);
	}
	tree_sum_up(run->tree);
	check_parts(run->tree);
	while (tree_take_ended(run->tree))
		check_parts(run->tree);
	return 0;
}
