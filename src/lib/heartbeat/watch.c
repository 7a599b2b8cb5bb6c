/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/watch.h"

#include <errno.h>
#include <sys/mman.h>

#include "lib/area.h"
#include "lib/block.h"
#include "lib/progress.h"
#include "lib/usage/thread_usage.h"
#include "lib/threads.h"

#define THREADS_SIZE (SCOPE_THREADS * sizeof(struct watch_thread))

int watch_init(struct watch *watch)
{
	void *memory = mmap(NULL, THREADS_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	watch->threads = memory;
	return cpu_shares_init(&watch->shares);
}

void watch_clear(struct watch *watch)
{
	if (watch->threads)
		munmap(watch->threads, THREADS_SIZE);
	watch->threads = NULL;
	cpu_shares_clear(&watch->shares);
}

static void tell_readers(const struct look *look, const struct look_thread *thread,
			 const struct stall_watch *stall, enum scope_stall kind)
{
	struct scope_thread *block = threads_lock_block(thread->slot, thread->tid);
	uint64_t stuck = (uint64_t)((double)stall->stuck_ns / look->ns_per_tick);

	if (!block)
		return;
	STORE(block->stall_frame, kind ? stall->frame : 0);
	STORE(block->stalled_ticks, kind && look->ticks > stuck ? look->ticks - stuck : 0);
	STORE(block->stall, (uint32_t)kind);
	threads_unlock();
}

static bool may_print(struct watch *watch)
{
	if (watch->line_count < WATCH_LINES) {
		watch->line_count++;
		return true;
	}
	watch->hidden_lines++;
	return false;
}

static void add_word(struct line *line, const char *key, const char *word)
{
	line_add(line, &(struct line_field){ .type = LINE_WORD,
					     .key = key,
					     .missing = "",
					     .text = *word ? word : NULL });
}

/* Keeps the thread's name and the label for the line about the end of the stall. */
static void keep_words(struct watch_thread *own, const struct look_thread *thread)
{
	const char *label = look_label(thread, &thread->frames[own->stall.frame]);

	if (*thread->name)
		snprintf(own->name, sizeof(own->name), "%s", thread->name);
	else
		thread_name(thread->tid, own->name);
	snprintf(own->phase, sizeof(own->phase), "%s", label ? label : "");
}

static void begin_line(struct line *line, enum line_kind kind, const struct watch_thread *own)
{
	line_begin(line, kind, area.header->pid);
	line_add_thread(line, own->stall.tid, own->name);
	line_add_label(line, "phase", *own->phase ? own->phase : NULL);
}

static void print_stall(const struct watch_thread *own, const struct look_thread *thread,
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
	line_add(&line, &(struct line_field){ .type = LINE_WORD,
					      .key = "stall",
					      .before = " kind=",
					      .text = stall_name(kind) });
	add_word(&line, "state", state_text);
	add_word(&line, "wchan", channel);
	add_word(&line, "syscall", call);
	progress_add_count(look_progress(thread), &line);
	output_line(output, &line);
}

static struct stall_reading read_thread(const struct watch *watch, pid_t tid)
{
	return (struct stall_reading){ .cpu_ns = thread_cpu_ns(tid),
				       .delay_ns = thread_delay_ns(tid),
				       .at_ns = watch->total_ns,
				       .state = thread_state(tid) };
}

/*
 * Time is counted from the first look that saw no progress; the last progress was up to a tick
 * before.
 */
static uint64_t lead_ns(const struct watch *watch, const struct look *look,
			const struct look_thread *thread, const struct stall_watch *stall)
{
	uint64_t ago = look_age_ns(look, thread->changed_ticks);

	if (ago <= stall->stuck_ns || ago - stall->stuck_ns > 2 * watch->counted_ns)
		return 0;
	return ago - stall->stuck_ns;
}

static void on_begun(struct watch *watch, const struct look *look, const struct look_thread *thread,
		     struct watch_thread *own, struct output *output)
{
	struct stall_reading last = read_thread(watch, thread->tid);
	const struct stall_reading *first = own->stall.has_first ? &own->stall.first : &last;
	enum scope_stall kind = stall_judge(first, &last);

	keep_words(own, thread);
	own->lead_ns = lead_ns(watch, look, thread, &own->stall);
	tell_readers(look, thread, &own->stall, kind);
	if (may_print(watch))
		print_stall(own, thread, kind, last.state, output);
}

/*
 * How long it was still stuck since the previous look.  Known only if it recovered by opening or
 * closing a scope, and if all of the time counted.
 */
static uint64_t stuck_since_look(const struct watch *watch, const struct look *look,
				 const struct look_thread *thread)
{
	uint64_t ago = look_age_ns(look, thread->changed_ticks);

	return ago < watch->counted_ns ? watch->counted_ns - ago : 0;
}

static void on_recovered(struct watch *watch, const struct watch_thread *own, struct output *output)
{
	struct line line;

	if (!may_print(watch))
		return;
	begin_line(&line, LINE_RECOVERED, own);
	line_add_duration(&line, "after", own->lead_ns + own->stall.stuck_ns);
	output_line(output, &line);
}

/* Ends the stall of a thread that ended. */
static void end_stall(struct watch *watch, struct watch_thread *own, struct output *output)
{
	if (own->stall.is_stalled)
		on_recovered(watch, own, output);
	own->stall.is_stalled = false;
}

/* How long the thread ran since its CPU time was last read; also 0 when that is not known. */
static uint64_t cpu_grown(struct watch_thread *own, pid_t tid)
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
static uint64_t silence_ns(struct watch *watch, const struct look_thread *thread, uint64_t ran_ns)
{
	watch->has_waiting = true;
	if (!watch->counted_ns || (!ran_ns && is_stopped(thread->tid)))
		return 0;
	return watch->counted_ns;
}

static void watch_thread(struct watch *watch, const struct look *look,
			 const struct look_thread *thread, struct output *output)
{
	struct watch_thread *own = &watch->threads[thread->slot];
	uint64_t counted_ns = watch->counted_ns, ran_ns = 0;
	bool has_moved, is_silent;

	if (own->stall.tid != thread->tid)
		end_stall(watch, own, output);
	own->tick = watch->tick;
	has_moved = stall_moved(&own->stall, thread);
	is_silent = !has_moved && stall_can_begin(&own->stall, thread, watch->stall_ms);
	if (is_silent || watch->has_statistics)
		ran_ns = cpu_grown(own, thread->tid);
	if (watch->has_statistics)
		cpu_shares_note(&watch->shares, thread, ran_ns, own->cpu_ns);
	if (is_silent)
		counted_ns = silence_ns(watch, thread, ran_ns);
	switch (stall_follow(&own->stall, thread, counted_ns, watch->stall_ms)) {
	case STALL_QUIET:
		break;
	case STALL_HALF:
		own->stall.first = read_thread(watch, thread->tid);
		own->stall.has_first = true;
		break;
	case STALL_BEGUN:
		on_begun(watch, look, thread, own, output);
		break;
	case STALL_RECOVERED:
		own->stall.stuck_ns += stuck_since_look(watch, look, thread);
		tell_readers(look, thread, &own->stall, SCOPE_STALL_NONE);
		on_recovered(watch, own, output);
		break;
	}
}

static void end_missing(struct watch *watch, struct output *output)
{
	uint32_t slots = LOAD(area.header->thread_count);

	for (uint32_t i = 0; i < slots && i < SCOPE_THREADS; i++)
		if (watch->threads[i].tick != watch->tick)
			end_stall(watch, &watch->threads[i], output);
}

/* Reads the files of control groups only while some thread makes no progress. */
static uint64_t throttled_ns(struct watch *watch)
{
	if (!watch->has_waiting) {
		watch->throttle.level_count = 0;
		return 0;
	}
	watch->has_waiting = false;
	if (!watch->has_groups)
		throttle_find(&watch->throttle);
	watch->has_groups = true;
	return throttle_grown_ns(&watch->throttle);
}

uint64_t watch_tick_ns(struct watch *watch, const struct look *look, uint64_t longest_ns)
{
	uint64_t wanted_ns;

	if (!watch->has_statistics)
		return longest_ns;
	wanted_ns = cpu_shares_tick_ns(&watch->shares, look->thread_count);
	return wanted_ns < longest_ns ? wanted_ns : longest_ns;
}

void watch_tick(struct watch *watch, const struct look *look, uint64_t passed_ns, uint64_t tick_ns,
		struct output *output)
{
	watch->tick++;
	watch->counted_ns =
		stall_counted_ns(&watch->clock, passed_ns, tick_ns, throttled_ns(watch));
	watch->total_ns += watch->counted_ns;
	for (uint32_t i = 0; i < look->thread_count; i++)
		watch_thread(watch, look, &look->threads[i], output);
	end_missing(watch, output);
	if (watch->has_statistics)
		cpu_shares_give(&watch->shares, look,
				passed_ns < 2 * tick_ns ? passed_ns : 2 * tick_ns);
}

void watch_beat(struct watch *watch, struct output *output)
{
	struct line line;

	watch->has_groups = false;
	if (watch->hidden_lines) {
		line_begin(&line, LINE_STALLS_LEFT, area.header->pid);
		line_add(&line, &(struct line_field){ .type = LINE_COUNT,
						      .key = "left",
						      .before = " ... and ",
						      .after = " more stalls and recoveries",
						      .amount = amount_of(watch->hidden_lines) });
		output_line(output, &line);
	}
	watch->line_count = 0;
	watch->hidden_lines = 0;
}
