/* SPDX-License-Identifier: MIT */
/*
 * Samples: looks at all that live, on the deadlines of the sampler.
 */
#include "model/run.h"
#include "render/run_json.h"
#include "session/watch.h"

#define TREE_LINE_NS NS_PER_SECOND
#define TREE_LINE_LIMIT 64

#define CHANGE_OF_CORES 0.5
#define CHANGE_OF_RSS 20 /* one part in this many */

/* Members whose end was lost would live for ever. */
static void close_lost(struct watch *watch, uint64_t since_ns)
{
	struct tracer_losses losses = { 0 };

	watch->tracer->kind->losses(watch->tracer->state, &losses);
	if (losses.events > watch->lost_before)
		tree_close_unseen(watch->run->tree, since_ns);
	watch->lost_before = losses.events;
}

static double cores_between(const struct run_sample *from, const struct run_sample *to)
{
	if (from->time_ns == 0 || to->time_ns <= from->time_ns ||
	    !usage_has(&from->usage, USAGE_CPU) || !usage_has(&to->usage, USAGE_CPU))
		return 0;
	return (double)(to->usage.values[USAGE_CPU] - from->usage.values[USAGE_CPU]) /
	       (double)(to->time_ns - from->time_ns);
}

static bool has_changed(struct watch *watch)
{
	const struct run_sample *before = &watch->run->previous;
	const struct run_sample *now = &watch->run->last;
	double cores = cores_between(before, now);
	double change = cores - watch->cores;
	uint64_t rss = now->rss_bytes > before->rss_bytes ? now->rss_bytes - before->rss_bytes :
							    before->rss_bytes - now->rss_bytes;

	watch->cores = cores;
	return now->processes != before->processes || rss > before->rss_bytes / CHANGE_OF_RSS ||
	       change > CHANGE_OF_CORES || change < -CHANGE_OF_CORES;
}

static void write_sample(struct watch *watch, uint64_t now_ns)
{
	const struct tree *tree = watch->run->tree;
	uint64_t forks = tree->forks + tree->exited + tree->execs;
	FILE *out = lines_begin(&watch->lines);

	if (!out)
		return;
	run_json_sample(out, watch->run);
	lines_end(&watch->lines);
	if (forks == watch->tree_line_forks || now_ns < watch->tree_line_ns + TREE_LINE_NS)
		return;
	watch->tree_line_forks = forks;
	watch->tree_line_ns = now_ns;
	run_json_tree(out, watch->run, TREE_LINE_LIMIT);
	lines_end(&watch->lines);
}

static void take_sample(struct watch *watch, uint64_t now_ns)
{
	run_sample(watch->run, now_ns);
	write_sample(watch, now_ns);
}

static bool look(struct watch *watch, enum tracer_depth depth)
{
	struct tracer *tracer = watch->tracer;

	watch->events = 0;
	return watch_worked(watch, &watch->looks,
			    tracer->kind->sample(tracer->state, depth, watch_take_event, watch));
}

void watch_sample(struct watch *watch, enum tracer_depth depth)
{
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t since_ns = monotonic_ns();
	bool had_ended = watch->command_ended;
	uint64_t now_ns;
	bool worked, has_moved = false;

	worked = look(watch, depth);
	if (worked)
		close_lost(watch, since_ns);
	watch->looked_since_end |= worked && had_ended;
	watch_take_ended(watch);
	now_ns = monotonic_ns();
	watch->run->end_ns = now_ns;
	if (worked)
		take_sample(watch, now_ns);
	if (worked)
		has_moved = phases_sample(&watch->phases, &watch->lines, now_ns);
	watch_follow_root(watch);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns + phases_take_cost(&watch->phases);
	/* One that failed is tried again soon. */
	sampler_taken(&watch->sampler, now_ns, cpu_ns, !worked || has_changed(watch) || has_moved);
	if (worked && watch->events == 0 && (watch_is_attached(watch) || watch->command_ended))
		watch->done = true; /* nobody is left */
}
