/* SPDX-License-Identifier: MIT */
#include "store/run/replay/run_members.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "store/run/replay/run_parts.h"
#include "store/run/replay/run_values.h"

void member_key_read(const json_t *object, struct task_key *ret)
{
	member_i32(object, "pid", &ret->pid);
	ret->tid = ret->pid;
	member_i32(object, "tid", &ret->tid);
	member_u64(object, "start_time_ns", &ret->start_ns);
}

struct task_key process_key(const json_t *object)
{
	struct task_key key = { 0 };

	member_key_read(object, &key);
	key.tid = key.pid;
	return key;
}

uint64_t line_time_ns(const json_t *object, const char *key, const struct run *run)
{
	uint64_t offset = 0;

	member_u64(object, key, &offset);
	return run->begin_ns + offset;
}

uint64_t line_end_ns(const json_t *object, const struct run *run)
{
	uint64_t wall = 0;

	member_u64(object, "wall_ns", &wall);
	return line_time_ns(object, "begin_ns", run) + wall;
}

void fork_read(const json_t *object, struct tree_fork *ret)
{
	member_i32(object, "ppid", &ret->parent_pid);
	member_i32(object, "inner_pid", &ret->inner_pid);
	ret->found = member_flag(object, "found");
	member_comm(object, "comm", ret->comm);
}

int exec_read(const json_t *object, struct text *words, struct tree_exec *ret)
{
	member_words(object, "cmd", words);
	ret->arguments = words->length ? words->data : NULL;
	ret->length = words->length;
	ret->cut = member_flag(object, "cmd_cut");
	member_comm(object, "comm", ret->comm);
	return words->failed ? -ENOMEM : 0;
}

/* Whether the tree has the process, ended or not. */
static bool is_known(const json_t *process, const struct run *run)
{
	struct task_key key = process_key(process);
	const struct tree *tree = run->tree;

	for (size_t i = 0; i < tree->count; i++)
		if (tree->all[i]->key.pid == key.pid && tree->all[i]->key.start_ns == key.start_ns)
			return true;
	return false;
}

static bool is_running(const json_t *process, const struct run *run)
{
	struct task_key key = process_key(process);
	const struct tree_process *known = tree_find(run->tree, key.pid);

	return known && known->key.start_ns == key.start_ns;
}

/* Adds a process whose beginning has no line. */
static int replay_beginning(const json_t *object, struct run *run)
{
	struct tree_event event = {
		.type = TREE_FORK,
		.task = process_key(object),
		.time_ns = line_time_ns(object, "begin_ns", run),
	};

	fork_read(object, &event.fork);
	return tree_apply(run->tree, &event);
}

static void read_now(const json_t *object, const struct run *run, struct tree_now *ret)
{
	const char *state = member_text(object, "state"), *blocked = member_text(object, "blocked");
	const char *call = member_text(object, "syscall");
	int reason = blocked ? wait_find(blocked) : -1, number = call ? syscall_number(call) : -1;
	uint64_t lasted;

	ret->state = state ? state[0] : 0;
	ret->blocked = reason >= 0;
	ret->reason = reason >= 0 ? (uint8_t)reason : 0;
	ret->in_syscall = number >= 0;
	ret->syscall = number >= 0 ? (uint32_t)number : 0;
	if (member_u64(object, "for_ns", &lasted) && lasted <= run->end_ns)
		ret->since_ns = run->end_ns - lasted;
}

/* A thread that is not the leader has no line of its own for its beginning. */
static int replay_thread_beginning(const json_t *object, struct run *run)
{
	struct tree_event event = { .type = TREE_FORK,
				    .time_ns = line_time_ns(object, "begin_ns", run) };

	member_key_read(object, &event.task);
	if (event.task.tid == event.task.pid)
		return 0;
	fork_read(object, &event.fork);
	event.fork.parent_pid = event.task.pid;
	return tree_apply(run->tree, &event);
}

/* Replays the account of a thread, or of a process with only one. */
static int replay_account(const json_t *object, bool ended, struct run *run)
{
	CLEANUP(syscall_table_clear) struct syscall_table calls = { 0 };
	struct tree_event event = { .type = TREE_THREAD, .time_ns = line_end_ns(object, run) };
	struct tree_account *account = &event.account;
	int status = 0;

	member_key_read(object, &event.task);
	account->ended = ended;
	account->end_ns = event.time_ns;
	member_comm(object, "comm", account->comm);
	run_read_amounts(object, &account->amounts);
	if (!ended) {
		read_now(json_object_get(object, "now"), run, &account->now);
		member_u64(object, "unnamed_syscalls", &account->unnamed_syscalls);
		status = run_read_syscalls(json_object_get(object, "syscalls"), &calls,
					   &account->unnamed_syscalls);
		account->has_syscalls = true;
		account->named_syscalls = &calls;
	}
	return status < 0 ? status : tree_apply(run->tree, &event);
}

static int replay_thread(const json_t *object, bool ended, struct run *run)
{
	int status = replay_thread_beginning(object, run);

	return status < 0 ? status : replay_account(object, ended, run);
}

static void read_ending(const json_t *object, struct tree_process_facts *ret)
{
	if (run_read_status(object, &ret->status))
		ret->present |= TREE_PROCESS_STATUS;
	if (member_i32(object, "sender_pid", &ret->sender_pid))
		ret->present |= TREE_PROCESS_SENDER;
	member_comm(object, "sender", ret->sender_comm);
}

static void read_facts(const json_t *object, struct tree_process_facts *ret)
{
	const struct {
		const char *key;
		unsigned part;
		uint64_t *value;
	} members[] = {
		{ "hiwater_rss_bytes", TREE_PROCESS_PEAK_RSS, &ret->peak_rss_bytes },
		{ "rss_bytes", TREE_PROCESS_RSS, &ret->rss_bytes },
		{ "open_fds_peak", TREE_PROCESS_FDS, &ret->fds },
		{ "open_fds", TREE_PROCESS_FDS, &ret->fds },
		{ "fd_limit", TREE_PROCESS_FD_LIMIT, &ret->fd_limit },
		{ "uid", TREE_PROCESS_UID, &ret->uid },
		{ "threads_ever", TREE_PROCESS_THREADS, &ret->threads },
	};

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (member_u64(object, members[i].key, members[i].value))
			ret->present |= members[i].part;
}

static int read_saved(const json_t *object, struct text *words, struct tree_saved *ret,
		      uint64_t *ret_unnamed)
{
	int status = exec_read(object, words, &ret->program);

	run_read_amounts(object, &ret->amounts);
	member_u64(object, "execs", &ret->execs);
	member_u64(object, "open_fds_peak", &ret->peak_fds);
	if (status < 0)
		return status;
	return run_read_syscalls(json_object_get(object, "syscalls"), ret->syscalls, ret_unnamed);
}

/* Replays what is known about a process as a whole; call it after the accounts of its threads. */
static int replay_process(const json_t *object, bool ended, struct run *run)
{
	CLEANUP(syscall_table_clear) struct syscall_table calls = { 0 };
	CLEANUP(text_free) struct text words = { 0 };
	struct tree_saved saved = { .syscalls = &calls };
	struct tree_event event = {
		.type = TREE_OOM,
		.task = process_key(object),
		.time_ns = line_end_ns(object, run),
	};
	int status = read_saved(object, &words, &saved, &run->tree->unnamed_syscalls);

	if (status == 0 && member_flag(object, "oom_killed"))
		status = tree_apply(run->tree, &event);
	if (status < 0)
		return status;
	event.type = TREE_PROCESS;
	event.process = (struct tree_process_facts){
		.ended = ended,
		.end_ns = event.time_ns,
		.saved = &saved,
	};
	read_ending(object, &event.process);
	read_facts(object, &event.process);
	return tree_apply(run->tree, &event);
}

/* Whether a thread of the summary's list is of that process, whose number may be reused. */
static bool is_thread_of(const json_t *thread, const json_t *process, const struct run *run)
{
	uint64_t begin = line_time_ns(thread, "begin_ns", run);
	int32_t pid = 0, owner = -1;

	member_i32(thread, "pid", &pid);
	member_i32(process, "pid", &owner);
	return pid == owner && begin >= line_time_ns(process, "begin_ns", run) &&
	       begin <= line_end_ns(process, run);
}

/* A process with a single thread needs no list: its amounts are those of the thread. */
static bool has_one_thread(const json_t *process)
{
	uint64_t threads = 1;

	member_u64(process, "threads_ever", &threads);
	return threads <= 1;
}

/* No file of ours lists more than `most`; a longer list would cost time beyond its size. */
size_t size_within(const json_t *list, size_t most)
{
	return json_array_size(list) < most ? json_array_size(list) : most;
}

/* Replays the threads of a process that ended: those of its own list, or of the list of all. */
static int replay_ended_threads(const json_t *process, const json_t *all, struct run *run)
{
	const json_t *own = json_object_get(process, "threads");
	const json_t *list = json_is_array(own) ? own : all;
	int status = 0;

	if (!json_is_array(own) && has_one_thread(process))
		return replay_account(process, true, run);
	for (size_t i = 0; status == 0 && i < size_within(list, RUN_THREADS_MAX); i++) {
		const json_t *thread = json_array_get(list, i);

		if (list == own || is_thread_of(thread, process, run))
			status = replay_thread(thread, true, run);
	}
	return status;
}

/* Processes that ended are kept or folded at once, so that there are never many of them. */
void replay_take_ended(struct tree *tree)
{
	while (tree_take_ended(tree))
		;
}

int replay_ended(const json_t *process, const json_t *all_threads, struct run *run)
{
	int status = is_running(process, run) ? 0 : replay_beginning(process, run);

	if (status == 0)
		status = replay_ended_threads(process, all_threads, run);
	if (status == 0)
		status = replay_process(process, true, run);
	replay_take_ended(run->tree);
	return status;
}

/* A process that was alive.  Without a list of threads, its amounts are those of its only one. */
static int replay_running_process(const json_t *process, bool has_list, struct run *run)
{
	int status = is_known(process, run) ? 0 : replay_beginning(process, run);

	if (status == 0 && !has_list && has_one_thread(process) && is_running(process, run))
		status = replay_account(process, false, run);
	return status;
}

int replay_running(const json_t *processes, const json_t *threads, struct run *run)
{
	size_t count = size_within(processes, RUN_RUNNING_MAX);
	int status = 0;

	for (size_t i = 0; status == 0 && i < count; i++)
		status = replay_running_process(json_array_get(processes, i), threads, run);
	for (size_t i = 0; status == 0 && i < size_within(threads, RUN_THREADS_MAX); i++)
		if (!member_flag(json_array_get(threads, i), "ended"))
			status = replay_thread(json_array_get(threads, i), false, run);
	for (size_t i = 0; status == 0 && i < count; i++)
		if (is_running(json_array_get(processes, i), run))
			status = replay_process(json_array_get(processes, i), false, run);
	return status;
}

int replay_unless_known(const json_t *process, const json_t *threads, struct run *run)
{
	if (is_known(process, run) || member_flag(process, "running"))
		return 0;
	return replay_ended(process, threads, run);
}
