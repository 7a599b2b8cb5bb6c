/* SPDX-License-Identifier: MIT */
#include "trace/bpf/tree_decoder.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "host/proc/task_text.h"

static_assert(TREE_COMM_SIZE == TREE_RECORD_COMM, "names have one size");
static_assert(TREE_ARGUMENTS_MAX == TREE_RECORD_ARGUMENTS, "command lines have one size");
static_assert(SYSCALL_BUCKETS == TREE_CALL_BUCKETS, "histograms have one size");
static_assert(SYSCALL_ERRORS == TREE_CALL_ERRORS, "as many errors have a name");
static_assert((int)SYSCALL_NATIVE == TREE_ABI_NATIVE && (int)SYSCALL_COMPAT == TREE_ABI_COMPAT &&
		      (int)SYSCALL_UNKNOWN == TREE_ABI_UNKNOWN,
	      "tables have the same numbers");
static_assert((int)WAKER_UNKNOWN == TREE_WAKER_UNKNOWN &&
		      (int)WAKER_INTERRUPT == TREE_WAKER_INTERRUPT &&
		      (int)WAKER_KERNEL == TREE_WAKER_KERNEL &&
		      (int)WAKER_MEMBER == TREE_WAKER_MEMBER &&
		      (int)WAKER_OUTSIDE == TREE_WAKER_OUTSIDE,
	      "classes of wakers have the same numbers");
static_assert((int)WAIT_REASON_COUNT == TREE_WAIT_COUNT && TREE_WAIT_COUNT <= TREE_REASONS,
	      "every reason has a place");

#define ERROR_SHIFT 48

static const size_t smallest_sizes[TREE_RECORD_COUNT] = {
	[TREE_RECORD_FORK] = sizeof(struct tree_fork_record),
	[TREE_RECORD_EXEC] = offsetof(struct tree_exec_record, arguments),
	[TREE_RECORD_THREAD] = sizeof(struct tree_thread_record),
	[TREE_RECORD_PROCESS] = sizeof(struct tree_process_record),
	[TREE_RECORD_SIGNAL] = sizeof(struct tree_signal_record),
	[TREE_RECORD_WAIT] = sizeof(struct tree_off_cpu_record),
};

/* The size that a record of this kind, with these counts, must have. */
static size_t expected_size(const struct tree_record_head *head)
{
	const struct tree_exec_record *exec = (const void *)head;
	const struct tree_thread_record *thread = (const void *)head;
	size_t size = smallest_sizes[head->type];

	if (head->type == TREE_RECORD_EXEC)
		return exec->length <= TREE_RECORD_ARGUMENTS ? size + exec->length : 0;
	if (head->type != TREE_RECORD_THREAD)
		return size;
	if (thread->call_count > TREE_CALLS_MAX)
		return 0;
	return size + thread->call_count * sizeof(struct tree_call_record);
}

ssize_t tree_record_size(const void *bytes, size_t length)
{
	const struct tree_record_head *head = bytes;

	if (length < sizeof(*head))
		return 0;
	if (head->type >= TREE_RECORD_COUNT || head->size < smallest_sizes[head->type])
		return -EBADMSG;
	if (length < smallest_sizes[head->type])
		return 0;
	if (head->size != expected_size(head))
		return -EBADMSG;
	return length < head->size ? 0 : (ssize_t)head->size;
}

static void copy_comm(char target[TREE_COMM_SIZE], const char source[TREE_RECORD_COMM])
{
	memcpy(target, source, TREE_COMM_SIZE);
	target[TREE_COMM_SIZE - 1] = '\0';
}

static void decode_fork(struct tree_decoder *decoder, const void *bytes, struct tree_event *event)
{
	const struct tree_fork_record *record = bytes;

	(void)decoder;
	event->type = TREE_FORK;
	event->fork.parent_pid = record->parent_pid;
	event->fork.inner_pid = record->inner_pid;
	event->fork.serial = record->serial;
	event->fork.creator = record->creator;
	event->fork.found = record->found;
	event->fork.has_uid = true;
	event->fork.uid = record->euid;
	copy_comm(event->fork.comm, record->comm);
}

static void decode_exec(struct tree_decoder *decoder, const void *bytes, struct tree_event *event)
{
	const struct tree_exec_record *record = bytes;

	(void)decoder;
	event->type = TREE_EXEC;
	event->exec.arguments = record->arguments;
	event->exec.length = record->length;
	event->exec.cut = record->cut;
	copy_comm(event->exec.comm, record->comm);
}

static void decode_signal(struct tree_decoder *decoder, const void *bytes, struct tree_event *event)
{
	const struct tree_signal_record *record = bytes;

	(void)decoder;
	event->type = TREE_SIGNAL;
	event->signal.number = record->number;
	event->signal.sender_pid = record->sender_pid;
	copy_comm(event->signal.sender_comm, record->sender_comm);
}

static void decode_process(struct tree_decoder *decoder, const void *bytes,
			   struct tree_event *event)
{
	const struct tree_process_record *record = bytes;
	struct tree_process_facts *facts = &event->process;

	event->type = TREE_PROCESS;
	*facts = (struct tree_process_facts){
		.present = TREE_PROCESS_STATUS | TREE_PROCESS_UID,
		.ended = true,
		.end_ns = record->head.time_ns,
		.status = record->status,
		.uid = record->euid,
	};
	if (record->has_sender) {
		facts->present |= TREE_PROCESS_SENDER;
		facts->sender_pid = record->sender_pid;
		copy_comm(facts->sender_comm, record->sender_comm);
	}
	if (record->has_peak && decoder->page_bytes) {
		facts->present |= TREE_PROCESS_PEAK_RSS;
		facts->peak_rss_bytes = record->peak_pages * decoder->page_bytes;
	}
}

static const enum amount_id amount_ids[TREE_USAGE_COUNT] = {
#define AMOUNT_OF_KERNEL(id, path) [TREE_USAGE_##id] = AMOUNT_##id,
#define AMOUNT_COMPUTED(id) [TREE_USAGE_##id] = AMOUNT_##id,
	TREE_USAGES(AMOUNT_OF_KERNEL, AMOUNT_COMPUTED)
#undef AMOUNT_OF_KERNEL
#undef AMOUNT_COMPUTED
};

static void decode_usage(const struct tree_usage_record *record, struct amounts *amounts)
{
	for (size_t i = 0; i < TREE_USAGE_COUNT; i++)
		if (record->present >> i & 1)
			amounts_set(amounts, amount_ids[i], record->values[i]);
}

/* Here the time on a CPU is the time between switches, not what the kernel charged. */
static void decode_ledger(const struct tree_thread_record *record, struct amounts *amounts)
{
	const struct tree_ledger_record *ledger = &record->ledger;

	amounts_set(amounts, AMOUNT_wall_time_ns, record->head.time_ns - record->begin_ns);
	amounts_set(amounts, AMOUNT_run_time_ns, ledger->on_cpu_ns);
	amounts_set(amounts, AMOUNT_offcpu_count, ledger->off_cpu.count);
	amounts_set(amounts, AMOUNT_offcpu_max_ns, ledger->off_cpu.longest_ns);
	amounts_set(amounts, AMOUNT_offcpu_min_ns, ledger->off_cpu.shortest_ns);
	if (record->flags & TREE_THREAD_RUN_QUEUE) {
		amounts_set(amounts, AMOUNT_wait_time_ns, ledger->run_queue.ns);
		amounts_set(amounts, AMOUNT_wait_count, ledger->run_queue.count);
		amounts_set(amounts, AMOUNT_wait_max, ledger->run_queue.longest_ns);
	}
	for (size_t i = 0; i < WAIT_REASON_COUNT; i++) {
		const struct tree_wait_record *wait = &ledger->blocked[i];

		amounts_set_waited(amounts, i,
				   (struct waited){ wait->ns, wait->count, wait->longest_ns });
	}
}

static void decode_now(const struct tree_thread_record *record, struct tree_now *now)
{
	*now = (struct tree_now){
		.state = task_state_letter(record->state, record->exit_state),
		.blocked = record->flags & TREE_THREAD_BLOCKED,
		.in_syscall = record->flags & TREE_THREAD_IN_SYSCALL,
		.since_ns = record->since_ns,
	};
	if (now->blocked)
		now->reason = record->reason < WAIT_REASON_COUNT ? record->reason : WAIT_OTHER;
	if (now->in_syscall) {
		now->syscall_abi = record->abi < SYSCALL_ABI_COUNT ? record->abi : SYSCALL_UNKNOWN;
		now->syscall = record->number;
	}
}

static void decode_call(const struct tree_call_record *record, struct tree_syscall *call)
{
	struct syscall_stats *stats = &call->stats;

	*call = (struct tree_syscall){
		.abi = record->abi < SYSCALL_ABI_COUNT ? (enum syscall_abi)record->abi :
							 SYSCALL_UNKNOWN,
		.number = record->number,
		.socket_count = record->socket_count,
		.socket_ns = record->socket_ns,
	};
	stats->count = record->count;
	stats->errors = record->errors;
	stats->total_ns = record->total_ns;
	stats->max_ns = record->max_ns;
	for (size_t i = 0; i < SYSCALL_ERRORS; i++) {
		stats->by_error[i].number = (uint32_t)(record->by_error[i] >> ERROR_SHIFT);
		stats->by_error[i].count = record->by_error[i] & ((1ull << ERROR_SHIFT) - 1);
	}
	stats->by_error[SYSCALL_ERRORS].count = record->other_errors;
	for (size_t i = 0; i < SYSCALL_BUCKETS; i++)
		stats->buckets[i] = record->buckets[i];
}

/* Decodes what follows the record; its counts were already checked against the size. */
static void decode_tail(struct tree_decoder *decoder, const struct tree_thread_record *record,
			struct tree_account *account)
{
	const struct tree_call_record *calls = (const void *)(record + 1);

	for (size_t i = 0; i < record->call_count; i++)
		decode_call(&calls[i], &decoder->calls[i]);
	account->has_syscalls = record->flags & TREE_THREAD_HAS_CALLS;
	account->syscalls = decoder->calls;
	account->syscall_count = record->call_count;
	account->unnamed_syscalls = record->unnamed_calls;
	account->unnamed_ns = record->unnamed_ns;
}

static void decode_thread(struct tree_decoder *decoder, const void *bytes, struct tree_event *event)
{
	const struct tree_thread_record *record = bytes;
	struct tree_account *account = &event->account;

	event->type = TREE_THREAD;
	account->ended = record->flags & TREE_THREAD_ENDED;
	account->end_ns = account->ended ? record->head.time_ns : 0;
	copy_comm(account->comm, record->comm);
	account->amounts = (struct amounts){ 0 };
	decode_usage(&record->usage, &account->amounts);
	decode_ledger(record, &account->amounts);
	decode_now(record, &account->now);
	decode_tail(decoder, record, account);
}

static enum wait_reason reason_of(uint8_t reason)
{
	return reason < WAIT_REASON_COUNT ? reason : WAIT_OTHER;
}

static void drop_waker(struct tree_wait_event *wait)
{
	wait->waker_class = WAKER_INTERRUPT;
	wait->waker = 0;
	wait->waker_pid = wait->waker_tid = 0;
	wait->waker_comm[0] = '\0';
}

static void decode_wait(struct tree_decoder *decoder, const void *bytes, struct tree_event *event)
{
	const struct tree_off_cpu_record *record = bytes;

	event->type = TREE_WAIT;
	event->wait = (struct tree_wait_event){
		.serial = record->serial,
		.sequence = record->sequence,
		.block_ns = record->block_ns,
		.wake_ns = record->wake_ns,
		.run_ns = record->run_ns,
		.open = record->open,
		.reason = reason_of(record->reason),
		.waker_class =
			record->waker_class <= WAKER_OUTSIDE ? record->waker_class : WAKER_UNKNOWN,
		.waker = record->waker,
		.waker_pid = record->waker_pid,
		.waker_tid = record->waker_tid,
		.object = record->object,
		.queued_tree_ns = record->queued_tree_ns,
		.queued_outside_ns = record->queued_outside_ns,
		.queued_pid = record->queued_pid,
		.short_queued_ns = record->short_queued_ns,
		.short_blocked_ns = record->short_blocked_ns,
		.short_count = record->short_count,
		.short_reason = reason_of(record->short_reason),
		.forks = record->forks,
		.threshold_ns = record->threshold_ns,
	};
	copy_comm(event->wait.waker_comm, (const char *)record->waker_comm);
	copy_comm(event->wait.queued_comm, (const char *)record->queued_comm);
	if (record->waker_pid && record->waker_pid == decoder->own_pid)
		drop_waker(&event->wait);
}

typedef void record_decoder(struct tree_decoder *decoder, const void *bytes,
			    struct tree_event *event);

static record_decoder *const decoders[TREE_RECORD_COUNT] = {
	[TREE_RECORD_FORK] = decode_fork,     [TREE_RECORD_EXEC] = decode_exec,
	[TREE_RECORD_THREAD] = decode_thread, [TREE_RECORD_PROCESS] = decode_process,
	[TREE_RECORD_SIGNAL] = decode_signal, [TREE_RECORD_WAIT] = decode_wait,
};

static bool is_of_oom_kill(const struct tree_record_head *head)
{
	return head->type == TREE_RECORD_PROCESS &&
	       ((const struct tree_process_record *)head)->oom_killed;
}

struct task_key tree_decoder_key(const struct tree_decoder *decoder,
				 const struct tree_record_head *head)
{
	return (struct task_key){
		.pid = head->pid,
		.tid = head->tid,
		.start_ns = head->start_ns + (uint64_t)decoder->boottime_offset_ns,
	};
}

int tree_decoder_send(struct tree_decoder *decoder, const void *bytes, size_t length,
		      tree_event_sink *sink, void *context)
{
	const struct tree_record_head *head = bytes;
	ssize_t size = tree_record_size(bytes, length);
	struct tree_event event = { 0 };
	int status;

	if (size <= 0)
		return -EBADMSG;
	if (head->pid <= 0 || head->tid <= 0)
		return 0;
	event.task = tree_decoder_key(decoder, head);
	event.time_ns = head->time_ns;
	if (is_of_oom_kill(head)) {
		event.type = TREE_OOM;
		status = sink(context, &event);
		if (status < 0)
			return status;
	}
	decoders[head->type](decoder, bytes, &event);
	return sink(context, &event);
}
