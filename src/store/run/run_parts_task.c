/* SPDX-License-Identifier: MIT */
/* Reads processes and threads from the JSON lines of a run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "store/run/run_parts.h"
#include "store/run/run_values.h"

/* Bytes of a command line; the file may have up to four bytes for one. */
#define WORDS_MAX (4 * TREE_ARGUMENTS_MAX)

static void read_key(const json_t *object, struct task_key *ret)
{
	member_i32(object, "pid", &ret->pid);
	ret->tid = ret->pid;
	member_i32(object, "tid", &ret->tid);
	member_u64(object, "start_time_ns", &ret->start_ns);
}

/* Words of the command line, each with its NUL. */
static int read_words(const json_t *words, struct tree_process *ret)
{
	struct text text = { 0 };

	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		if (!word)
			continue;
		if (text.length + strlen(word) + 1 > WORDS_MAX) {
			ret->arguments_cut = true;
			break;
		}
		text_append(&text, word, strlen(word) + 1);
	}
	if (text.failed) {
		text_free(&text);
		return -ENOMEM;
	}
	ret->arguments = text.data;
	ret->arguments_length = text.length;
	return 0;
}

static void read_memory(const json_t *object, struct tree_process_facts *ret)
{
	static const struct {
		const char *key;
		unsigned part;
		size_t offset;
	} members[] = {
		{ "hiwater_rss_bytes", TREE_PROCESS_PEAK_RSS,
		  offsetof(struct tree_process_facts, peak_rss_bytes) },
		{ "rss_bytes", TREE_PROCESS_RSS, offsetof(struct tree_process_facts, rss_bytes) },
		{ "open_fds_peak", TREE_PROCESS_FDS, offsetof(struct tree_process_facts, fds) },
		{ "open_fds", TREE_PROCESS_FDS, offsetof(struct tree_process_facts, fds) },
		{ "fd_limit", TREE_PROCESS_FD_LIMIT,
		  offsetof(struct tree_process_facts, fd_limit) },
	};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (member_u64(object, members[i].key,
			       (uint64_t *)((char *)ret + members[i].offset)))
			ret->present |= members[i].part;
}

static void read_end(const json_t *object, struct tree_process *ret)
{
	struct tree_process_facts *facts = &ret->facts;

	if (run_read_status(object, &facts->status))
		facts->present |= TREE_PROCESS_STATUS;
	if (member_i32(object, "sender_pid", &facts->sender_pid))
		facts->present |= TREE_PROCESS_SENDER;
	member_comm(object, "sender", facts->sender_comm);
	ret->oom_killed = member_flag(object, "oom_killed");
}

static void read_times(const json_t *object, const struct run *run, uint64_t *ret_begin,
		       uint64_t *ret_end)
{
	uint64_t begin = 0, wall = 0;

	member_u64(object, "begin_ns", &begin);
	member_u64(object, "wall_ns", &wall);
	*ret_begin = run->begin_ns + begin;
	*ret_end = *ret_begin + wall;
}

int run_read_process(const json_t *object, const struct run *run, struct tree_process *ret)
{
	const json_t *words = json_object_get(object, "cmd");
	uint64_t execs = 0;

	read_key(object, &ret->key);
	ret->key.tid = ret->key.pid;
	member_i32(object, "ppid", &ret->parent_pid);
	member_i32(object, "inner_pid", &ret->inner_pid);
	member_comm(object, "comm", ret->comm);
	ret->found = member_flag(object, "found");
	ret->arguments_cut = member_flag(object, "cmd_cut");
	read_times(object, run, &ret->begin_ns, &ret->end_ns);
	read_end(object, ret);
	read_memory(object, &ret->facts);
	member_u64(object, "open_fds_peak", &ret->peak_fds);
	member_u64(object, "threads_ever", &ret->threads);
	member_u64(object, "execs", &execs);
	ret->execs = execs > UINT32_MAX ? UINT32_MAX : (uint32_t)execs;
	run_read_amounts(object, &ret->amounts);
	return words ? read_words(words, ret) : 0;
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

int run_read_thread(const json_t *object, const struct run *run, struct tree_thread *ret)
{
	read_key(object, &ret->key);
	member_comm(object, "comm", ret->comm);
	ret->found = member_flag(object, "found");
	ret->ended = member_flag(object, "ended");
	read_times(object, run, &ret->begin_ns, &ret->end_ns);
	run_read_amounts(object, &ret->amounts);
	member_u64(object, "unnamed_syscalls", &ret->unnamed_syscalls);
	if (ret->ended)
		return 0;
	ret->end_ns = 0;
	read_now(json_object_get(object, "now"), run, &ret->now);
	return run_read_syscalls(json_object_get(object, "syscalls"), &ret->syscalls,
				 &ret->unnamed_syscalls);
}
