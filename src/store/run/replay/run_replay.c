/* SPDX-License-Identifier: MIT */
#include "store/run/replay/run_replay.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "model/counter.h"
#include "store/run/replay/run_members.h"
#include "store/run/replay/run_parts.h"
#include "store/run/replay/run_values.h"

/* At most this many lines wait; more numbers are not reused within a tenth of a second. */
#define WAITING_MAX 256

static void read_signal(const json_t *object, struct tree_signal *ret)
{
	uint64_t number = 0;

	if (member_u64(object, "signal", &number) && number <= SIGNAL_MAX)
		ret->number = (int)number;
	member_i32(object, "sender_pid", &ret->sender_pid);
	member_comm(object, "sender", ret->sender_comm);
}

/* The type of an event line; false for kinds of events that have none. */
static bool find_type(const json_t *line, enum tree_event_type *ret)
{
	static const enum tree_event_type types[] = { TREE_FORK, TREE_EXEC, TREE_SIGNAL, TREE_OOM };
	const char *name = member_text(line, "event");

	for (size_t i = 0; name && i < ARRAY_SIZE(types); i++)
		if (strcmp(tree_event_names[types[i]], name) == 0) {
			*ret = types[i];
			return true;
		}
	return false;
}

static bool is_waiting(const struct run_replay *replay, int32_t pid)
{
	for (size_t i = 0; i < json_array_size(replay->waiting); i++)
		if (process_key(json_array_get(replay->waiting, i)).pid == pid)
			return true;
	return false;
}

/*
 * Exit lines come up to a tenth of a second after the ends, and the number may have its next owner
 * by then.  Events of that owner wait, so that the exit line still finds the process that it is
 * about.
 */
static bool must_wait(const struct run_replay *replay, const json_t *line, const struct run *run)
{
	struct task_key key = { 0 };
	const struct tree_process *holder;

	member_key_read(line, &key);
	if (is_waiting(replay, key.pid))
		return true;
	holder = key.pid == key.tid ? tree_find(run->tree, key.pid) : NULL;
	return holder && holder->key.start_ns && key.start_ns > holder->key.start_ns;
}

static int replay_event(struct run_replay *replay, json_t *line, struct run *run)
{
	CLEANUP(text_free) struct text words = { 0 };
	struct tree_event event = { .time_ns = line_time_ns(line, "time_ns", run) };
	int status = 0;

	if (!find_type(line, &event.type))
		return 0;
	member_key_read(line, &event.task);
	if (event.type == TREE_FORK)
		fork_read(line, &event.fork);
	else if (event.type == TREE_EXEC)
		status = exec_read(line, &words, &event.exec);
	else if (event.type == TREE_SIGNAL)
		read_signal(line, &event.signal);
	replay->events++;
	replay->forks += event.type == TREE_FORK;
	if (status == 0)
		status = run_take_event(run, &event);
	replay_take_ended(run->tree);
	return status;
}

static int replay_waiting(struct run_replay *replay,
			  int (*take)(struct run_replay *, json_t *, struct run *), struct run *run)
{
	json_t *lines = TAKE_PTR(replay->waiting);
	int status = 0;

	for (size_t i = 0; status == 0 && i < json_array_size(lines); i++)
		status = take(replay, json_array_get(lines, i), run);
	json_decref(lines);
	return status;
}

int run_replay_event(struct run_replay *replay, json_t *line, struct run *run)
{
	int status = 0;

	if (!must_wait(replay, line, run))
		return replay_event(replay, line, run);
	if (json_array_size(replay->waiting) == WAITING_MAX)
		status = replay_waiting(replay, replay_event, run);
	if (!replay->waiting)
		replay->waiting = json_array();
	if (status == 0 && json_array_append(replay->waiting, line) < 0)
		status = -ENOMEM;
	return status;
}

int run_replay_exit(struct run_replay *replay, const json_t *line, struct run *run)
{
	int status = replay_ended(line, NULL, run);

	replay->exits++;
	counter_raise(&replay->latest_ns, line_end_ns(line, run));
	if (status == 0 && is_waiting(replay, process_key(line).pid))
		status = replay_waiting(replay, run_replay_event, run);
	return status;
}

static void read_sample(const json_t *line, const struct run *run, struct run_sample *ret)
{
	uint64_t kilobytes = 0;

	ret->time_ns = line_time_ns(line, "time_ns", run);
	run_read_amounts(line, &ret->amounts);
	member_u64(line, "unseen_cpu_ns", &ret->unseen_cpu_ns);
	run_read_count(line, "processes_alive", &ret->processes);
	run_read_count(line, "threads_alive", &ret->threads);
	ret->has_rss = member_u64(line, "mem_rss_kb", &kilobytes);
	ret->rss_bytes = kilobytes > UINT64_MAX / 1024 ? UINT64_MAX : kilobytes * 1024;
	ret->has_fds = member_u64(line, "open_fds", &ret->open_fds);
}

int run_replay_sample(struct run_replay *replay, const json_t *line, struct run *run)
{
	struct run_sample sample = { 0 };

	read_sample(line, run, &sample);
	run_add_sample(run, &sample);
	member_u64(line, "processes_ever", &replay->processes_ever);
	member_u64(line, "threads_ever", &replay->threads_ever);
	member_u64(line, "unseen_cpu_ns", &replay->unseen_cpu_ns);
	counter_raise(&replay->most_processes, sample.processes);
	counter_raise(&replay->most_threads, sample.threads);
	counter_raise(&replay->latest_ns, sample.time_ns);
	return 0;
}

int run_replay_tree(struct run_replay *replay, json_t *line, struct run *run)
{
	(void)run;
	json_decref(replay->live);
	replay->live = json_incref(line);
	return 0;
}

int run_replay_summary(struct run_replay *replay, const json_t *line, struct run *run)
{
	const json_t *ended = json_object_get(line, "top_processes");
	const json_t *threads = json_object_get(line, "threads");
	const json_t *fullest = json_object_get(line, "fullest");
	int status = replay_waiting(replay, replay_event, run);

	for (size_t i = 0; status == 0 && i < size_within(ended, RUN_TOP_PROCESSES); i++)
		status = replay_unless_known(json_array_get(ended, i), threads, run);
	if (status == 0 && json_is_object(fullest))
		status = replay_unless_known(fullest, threads, run);
	if (status == 0)
		status = replay_running(json_object_get(line, "running_processes"), threads, run);
	if (status < 0)
		return status;
	if (json_is_object(fullest)) {
		struct task_key key = process_key(fullest);

		tree_set_fullest(run->tree, &key);
	}
	tree_finish(run->tree);
	replay_take_ended(run->tree);
	tree_sum_up(run->tree);
	return 0;
}

/*
 * The last sample has what live processes used until then, the exit lines have all that ended.
 * Neither is complete, so the larger one is taken; whole, so that the parts of its time add up.
 */
static void complete_sums(const struct run_replay *replay, struct run *run)
{
	struct tree *tree = run->tree;

	if (amounts_get(&run->last.amounts, AMOUNT_wall_time_ns) >
	    amounts_get(&tree->amounts, AMOUNT_wall_time_ns))
		tree->amounts = run->last.amounts;
	counter_raise(&tree->unseen_cpu_ns, replay->unseen_cpu_ns);
	counter_raise(&tree->processes, replay->processes_ever);
	counter_raise(&tree->threads, replay->threads_ever);
	tree->live_processes = tree->processes - tree->exited;
	counter_raise(&tree->live_threads, tree->live_processes ? run->last.threads : 0);
	/* Exit lines come later than the ends, so the tree counted too many at one time. */
	tree->most_processes = replay->most_processes;
	tree->most_threads = replay->most_threads;
	tree->has_rss = run->last.has_rss;
	tree->rss_bytes = run->last.rss_bytes;
	tree->peak_rss_bytes = tree->largest_rss_bytes;
	counter_raise(&tree->peak_rss_bytes, run->sampling.peak_rss_bytes.value);
	tree->has_peak_rss = tree->peak_rss_bytes != 0;
	tree->has_fds = run->last.has_fds;
	tree->open_fds = run->last.open_fds;
}

static void mark_unknown(const struct run_replay *replay, struct tree *tree)
{
	if (!replay->forks)
		tree->unknown |= TREE_UNKNOWN_FORKS;
	if (!replay->events && !replay->exits)
		tree->unknown |= TREE_UNKNOWN_EXECS | TREE_UNKNOWN_OOM_KILLS;
	if (!replay->most_processes)
		tree->unknown |= TREE_UNKNOWN_MOST_PROCESSES;
	if (!replay->most_threads)
		tree->unknown |= TREE_UNKNOWN_MOST_THREADS;
}

int run_replay_finish(struct run_replay *replay, struct run *run)
{
	int status = replay_waiting(replay, replay_event, run);

	if (status == 0)
		status = replay_running(json_object_get(replay->live, "processes"), NULL, run);
	if (status < 0)
		return status;
	run->end = RUN_UNFINISHED;
	run->end_ns = replay->latest_ns;
	complete_sums(replay, run);
	mark_unknown(replay, run->tree);
	/* Scopes were searched for, but their sums are only in the summary. */
	if (run_source_works(run_source(run, "scopes")))
		status =
			run_set_source(run, "scopes", SOURCE_UNAVAILABLE,
				       "the phases are in the summary, which the file has none of");
	tree_sum_up(run->tree);
	return status;
}

void run_replay_free(struct run_replay *replay)
{
	json_decref(replay->live);
	json_decref(replay->waiting);
	array_free(&replay->frames);
	*replay = (struct run_replay){ 0 };
}
