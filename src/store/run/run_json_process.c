/* SPDX-License-Identifier: MIT */
/* A process and its threads as JSON: in exit and tree lines and in the summary. */
#include <string.h>

#include "store/run/run_json_parts.h"

/* Threads of one process; a process with more has the rest in its sums. */
#define THREADS_MAX 1000
/* Words that were read from a file are escaped, with up to four bytes for one. */
#define WORDS_MAX (4 * TREE_ARGUMENTS_MAX)

void run_json_words(struct json *json, const char *words, size_t length)
{
	char word[WORDS_MAX + 1];

	json_member_array(json, "cmd");
	while (length) {
		size_t own = strnlen(words, length);
		size_t kept = own < sizeof(word) ? own : sizeof(word) - 1;

		memcpy(word, words, kept);
		word[kept] = '\0';
		json_string(json, word);
		own += own < length;
		words += own;
		length -= own;
	}
	json_end_array(json);
}

static uint64_t lasted_ns(const struct run *run, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t end = end_ns ? end_ns : run->end_ns ? run->end_ns : run->last.time_ns;

	return end > begin_ns ? end - begin_ns : 0;
}

static void write_identity(struct json *json, const struct run *run,
			   const struct tree_process *process)
{
	json_member_i64(json, "pid", process->key.pid);
	json_member_i64(json, "ppid", process->parent_pid);
	json_member_nonzero(json, "start_time_ns", process->key.start_ns);
	if (process->inner_pid && process->inner_pid != process->key.pid)
		json_member_i64(json, "inner_pid", process->inner_pid);
	json_member_string(json, "comm", process->comm);
	if (process->arguments)
		run_json_words(json, process->arguments, process->arguments_length);
	json_member_flag(json, "cmd_cut", process->arguments_cut);
	json_member_flag(json, "found", process->found);
	json_member_flag(json, "running", !process->exited);
	json_member_u64(json, "begin_ns", run_offset_ns(run, process->begin_ns));
}

static void write_ending(struct json *json, const struct tree_process *process)
{
	const struct tree_process_facts *facts = &process->facts;
	struct run_ending ending = { .status = facts->status, .sender = "" };

	if (process->exited && facts->present & TREE_PROCESS_STATUS) {
		if (facts->present & TREE_PROCESS_SENDER) {
			ending.sender_pid = facts->sender_pid;
			ending.sender = facts->sender_comm;
		}
		run_json_ending_members(json, &ending);
	}
	json_member_flag(json, "oom_killed", process->oom_killed);
}

static void write_facts(struct json *json, const struct tree_process *process)
{
	const struct tree_process_facts *facts = &process->facts;

	if (facts->present & TREE_PROCESS_PEAK_RSS)
		json_member_u64(json, "hiwater_rss_bytes", facts->peak_rss_bytes);
	if (facts->present & TREE_PROCESS_RSS && !process->exited)
		json_member_u64(json, "rss_bytes", facts->rss_bytes);
	if (facts->present & TREE_PROCESS_FDS && !process->exited)
		json_member_u64(json, "open_fds", facts->fds);
	if (facts->present & TREE_PROCESS_FDS)
		json_member_u64(json, "open_fds_peak", process->peak_fds);
	if (facts->present & TREE_PROCESS_FD_LIMIT)
		json_member_u64(json, "fd_limit", facts->fd_limit);
	if (facts->present & TREE_PROCESS_UID)
		json_member_u64(json, metrics[METRIC_uid].name, facts->uid);
	json_member_u64(json, "threads_ever", process->threads);
	json_member_u64(json, "execs", process->execs);
}

/* What a live thread is doing. */
static void write_now(struct json *json, const struct run *run, const struct tree_now *now)
{
	char state[2] = { now->state, '\0' };
	char name[SYSCALL_NAME_SIZE];

	if (!now->state)
		return;
	json_member_object(json, "now");
	json_member_string(json, "state", state);
	if (now->blocked && now->reason < WAIT_REASON_COUNT)
		json_member_string(json, "blocked", waits[now->reason].name);
	if (now->in_syscall)
		json_member_string(json, "syscall",
				   syscall_name(now->syscall_abi, now->syscall, name));
	if (now->since_ns)
		json_member_u64(json, "for_ns", lasted_ns(run, now->since_ns, run->end_ns));
	json_end_object(json);
}

static void write_syscalls(struct json *json, const struct syscall_table *table)
{
	if (!table->count)
		return;
	json_member_object(json, "syscalls");
	run_json_syscall_table(json, table, false);
	json_end_object(json);
}

void run_json_thread_members(struct json *json, const struct run *run,
			     const struct tree_thread *thread)
{
	json_member_i64(json, "pid", thread->key.pid);
	json_member_i64(json, "tid", thread->key.tid);
	json_member_nonzero(json, "start_time_ns", thread->key.start_ns);
	json_member_string(json, "comm", thread->comm);
	json_member_flag(json, "found", thread->found);
	json_member_flag(json, "ended", thread->ended);
	json_member_u64(json, "begin_ns", run_offset_ns(run, thread->begin_ns));
	json_member_u64(json, "wall_ns", lasted_ns(run, thread->begin_ns, thread->end_ns));
	run_json_amounts(json, &thread->amounts);
	json_member_nonzero(json, "unnamed_syscalls", thread->unnamed_syscalls);
	if (thread->ended)
		return;
	write_now(json, run, &thread->now);
	write_syscalls(json, &thread->syscalls);
}

static void write_thread(struct json *json, const struct run *run, const struct tree_thread *thread)
{
	json_begin_object(json);
	run_json_thread_members(json, run, thread);
	if (thread->ended)
		write_syscalls(json, &thread->syscalls);
	json_end_object(json);
}

static void write_threads(struct json *json, const struct run *run,
			  const struct tree_process *process)
{
	size_t shown = process->live_count < THREADS_MAX ? process->live_count : THREADS_MAX;

	/* A single thread says nothing that the process does not. */
	if (!shown || process->threads <= 1)
		return;
	json_member_array(json, "threads");
	for (size_t i = 0; i < shown; i++)
		write_thread(json, run, process->live[i]);
	json_end_array(json);
	if (process->live_count > shown)
		json_member_u64(json, "threads_omitted", process->live_count - shown);
}

void run_json_process_members(struct json *json, const struct run *run,
			      const struct tree_process *process, unsigned detail)
{
	write_identity(json, run, process);
	write_ending(json, process);
	json_member_u64(json, "wall_ns", lasted_ns(run, process->begin_ns, process->end_ns));
	if (detail & RUN_JSON_WAITS)
		run_json_amounts(json, &process->amounts);
	else
		run_json_amounts_used(json, &process->amounts);
	write_facts(json, process);
	if (detail & RUN_JSON_SYSCALLS)
		write_syscalls(json, &process->syscalls);
	if (detail & RUN_JSON_THREADS)
		write_threads(json, run, process);
}
