/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/stalls.h"

#include "lib/heartbeat/progress.h"
#include "lib/scope/area.h"
#include "lib/scope/block.h"
#include "lib/scope/locks.h"
#include "lib/scope/threads.h"

static void publish_stall(const struct stacks *stacks, const struct stack *thread,
			  const struct stall *stall, enum scope_stall kind)
{
	struct scope_thread *block = threads_lock_block(thread->slot, thread->tid);
	uint64_t stuck = (uint64_t)((double)stall->stuck_ns / stacks->ns_per_tick);

	if (!block)
		return;
	STORE(block->stall_frame, kind ? stall->frame : 0);
	STORE(block->stalled_ticks, kind && stacks->ticks > stuck ? stacks->ticks - stuck : 0);
	STORE(block->stall, (uint32_t)kind);
	lock_release(LOCK_THREADS);
}

static bool may_print(struct stalls *stalls)
{
	if (stalls->line_count < STALL_LINES) {
		stalls->line_count++;
		return true;
	}
	stalls->hidden_lines++;
	return false;
}

static void add_word(struct line *line, const char *key, const char *word)
{
	line_add_as(line, key, NULL, "", line_text(LINE_WORD, *word ? word : NULL));
}

/* Keeps the thread's name and the label for the line about the end of the stall. */
static void keep_words(struct stall_record *own, const struct stack *thread)
{
	const char *label = stack_label(thread, &thread->frames[own->stall.frame]);

	stack_name(thread, own->name);
	snprintf(own->phase, sizeof(own->phase), "%s", label ? label : "");
}

static void begin_line(struct line *line, enum line_kind kind, const struct stall_record *own)
{
	line_begin(line, kind, area.header->pid);
	line_add_thread(line, own->stall.tid, own->name);
	line_add(line, "phase", line_text(LINE_LABEL, *own->phase ? own->phase : NULL));
}

static void print_stall(const struct stall_record *own, const struct stack *thread,
			enum scope_stall kind, char state, struct output *output)
{
	char channel[THREAD_WORD_SIZE] = "", call[THREAD_WORD_SIZE] = "";
	char state_text[2] = { state, '\0' };
	struct line line;

	if (kind == SCOPE_STALL_WAITING) {
		thread_wait_channel(thread->tid, channel);
		thread_system_call(thread->tid, call);
	}
	begin_line(&line, LINE_STALL, own);
	line_add_duration(&line, "stuck", own->lead_ns + own->stall.stuck_ns);
	line_add_as(&line, "stall", " kind=*", NULL, line_text(LINE_WORD, stall_name(kind)));
	add_word(&line, "state", state_text);
	add_word(&line, "wchan", channel);
	add_word(&line, "syscall", call);
	progress_add_count(stack_progress(thread), &line);
	output_line(output, &line);
}

static struct stall_reading read_thread(const struct stalls *stalls, pid_t tid)
{
	return (struct stall_reading){ .cpu_ns = thread_cpu_ns(tid),
				       .delay_ns = thread_delay_ns(tid),
				       .at_ns = stalls->total_ns,
				       .state = thread_state(tid) };
}

/*
 * Time is counted from the first copy that shows no progress; the last progress was up to a tick
 * before.
 */
static uint64_t lead_ns(const struct stalls *stalls, const struct stacks *stacks,
			const struct stack *thread, const struct stall *stall)
{
	uint64_t ago = stacks_age_ns(stacks, thread->changed_ticks);

	if (ago <= stall->stuck_ns || ago - stall->stuck_ns > 2 * stalls->counted_ns)
		return 0;
	return ago - stall->stuck_ns;
}

static void on_begun(struct stalls *stalls, const struct stacks *stacks, const struct stack *thread,
		     struct stall_record *own, struct output *output)
{
	struct stall_reading last = read_thread(stalls, thread->tid);
	const struct stall_reading *first = own->stall.has_first ? &own->stall.first : &last;
	enum scope_stall kind = stall_judge(first, &last);

	keep_words(own, thread);
	own->lead_ns = lead_ns(stalls, stacks, thread, &own->stall);
	publish_stall(stacks, thread, &own->stall, kind);
	if (may_print(stalls))
		print_stall(own, thread, kind, last.state, output);
}

/*
 * How long it was still stuck since the previous copy.  Known only if it recovered by opening or
 * closing a scope, and if all of the time counted.
 */
static uint64_t stuck_since_copy(const struct stalls *stalls, const struct stacks *stacks,
				 const struct stack *thread)
{
	uint64_t ago = stacks_age_ns(stacks, thread->changed_ticks);

	return ago < stalls->counted_ns ? stalls->counted_ns - ago : 0;
}

static void on_recovered(struct stalls *stalls, const struct stall_record *own,
			 struct output *output)
{
	struct line line;

	if (!may_print(stalls))
		return;
	begin_line(&line, LINE_RECOVERED, own);
	line_add_duration(&line, "after", own->lead_ns + own->stall.stuck_ns);
	output_line(output, &line);
}

/* Ends the stall of a thread that ended. */
static void end_stall(struct stalls *stalls, struct stall_record *own, struct output *output)
{
	if (own->stall.is_stalled)
		on_recovered(stalls, own, output);
	own->stall.is_stalled = false;
}

/* How long the thread ran since its CPU time was last read; also 0 when that is not known. */
static uint64_t cpu_grown(struct stall_record *own, pid_t tid)
{
	struct amount now = thread_cpu_ns(tid);
	uint64_t grown = 0;

	if (now.is_known && own->cpu_tid == tid && now.value > own->cpu_ns)
		grown = now.value - own->cpu_ns;
	own->cpu_tid = now.is_known ? tid : 0;
	own->cpu_ns = now.value;
	return grown;
}

static bool is_stopped(pid_t tid)
{
	char state = thread_state(tid);

	return state == 'T' || state == 't';
}

/* How much of the tick counts as time without progress. */
static uint64_t silence_ns(struct stalls *stalls, const struct stack *thread, uint64_t ran_ns)
{
	stalls->has_waiting = true;
	if (!stalls->counted_ns || (!ran_ns && is_stopped(thread->tid)))
		return 0;
	return stalls->counted_ns;
}

static void check_thread(struct stalls *stalls, const struct stacks *stacks,
			 const struct stack *thread, struct output *output)
{
	struct stall_record *own = &stalls->threads[thread->slot];
	uint64_t counted_ns = stalls->counted_ns, ran_ns = 0;
	bool has_moved, is_silent;

	if (own->stall.tid != thread->tid)
		end_stall(stalls, own, output);
	own->tick = stalls->tick;
	has_moved = stall_moved(&own->stall, thread);
	is_silent = !has_moved && stall_can_begin(&own->stall, thread, stalls->stall_ms);
	if (is_silent || stalls->has_statistics)
		ran_ns = cpu_grown(own, thread->tid);
	if (stalls->has_statistics)
		cpu_shares_note(&stalls->shares, thread, ran_ns, own->cpu_ns);
	if (is_silent)
		counted_ns = silence_ns(stalls, thread, ran_ns);
	switch (stall_follow(&own->stall, thread, counted_ns, stalls->stall_ms)) {
	case STALL_QUIET:
		break;
	case STALL_HALF:
		own->stall.first = read_thread(stalls, thread->tid);
		own->stall.has_first = true;
		break;
	case STALL_BEGUN:
		on_begun(stalls, stacks, thread, own, output);
		break;
	case STALL_RECOVERED:
		own->stall.stuck_ns += stuck_since_copy(stalls, stacks, thread);
		publish_stall(stacks, thread, &own->stall, SCOPE_STALL_NONE);
		on_recovered(stalls, own, output);
		break;
	}
}

static void end_missing(struct stalls *stalls, struct output *output)
{
	uint32_t slots = LOAD(area.header->thread_count);

	for (uint32_t i = 0; i < slots && i < SCOPE_THREADS; i++)
		if (stalls->threads[i].tick != stalls->tick)
			end_stall(stalls, &stalls->threads[i], output);
}

/* Reads the files of control groups only while some thread makes no progress. */
static uint64_t throttled_ns(struct stalls *stalls)
{
	if (!stalls->has_waiting) {
		stalls->throttle.level_count = 0;
		return 0;
	}
	stalls->has_waiting = false;
	if (!stalls->has_groups)
		throttle_find(&stalls->throttle);
	stalls->has_groups = true;
	return throttle_grown_ns(&stalls->throttle);
}

uint64_t stalls_tick_ns(struct stalls *stalls, const struct stacks *stacks, uint64_t longest_ns)
{
	uint64_t wanted_ns;

	if (!stalls->has_statistics)
		return longest_ns;
	wanted_ns = cpu_shares_tick_ns(&stalls->shares, stacks->thread_count);
	return wanted_ns < longest_ns ? wanted_ns : longest_ns;
}

void stalls_check(struct stalls *stalls, const struct stacks *stacks, uint64_t passed_ns,
		  uint64_t tick_ns, struct output *output)
{
	stalls->tick++;
	stalls->counted_ns =
		stall_counted_ns(&stalls->clock, passed_ns, tick_ns, throttled_ns(stalls));
	stalls->total_ns += stalls->counted_ns;
	for (uint32_t i = 0; i < stacks->thread_count; i++)
		check_thread(stalls, stacks, &stacks->threads[i], output);
	end_missing(stalls, output);
	if (stalls->has_statistics)
		cpu_shares_give(&stalls->shares, stacks,
				passed_ns < 2 * tick_ns ? passed_ns : 2 * tick_ns);
}

void stalls_allow_lines(struct stalls *stalls, struct output *output)
{
	stalls->has_groups = false;
	if (stalls->hidden_lines)
		output_left(output, LINE_STALLS_LEFT, " ... and * more stalls and recoveries",
			    stalls->hidden_lines);
	stalls->line_count = 0;
	stalls->hidden_lines = 0;
}
