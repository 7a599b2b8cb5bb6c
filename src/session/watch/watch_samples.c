/* SPDX-License-Identifier: MIT */
/* Takes samples of all live members from the tracer, on the deadlines of the sampler. */
#include "model/tree/run.h"
#include "store/run/run_json.h"
#include "session/session.h"
#include "session/watch/watch.h"

#define TREE_LINE_NS NS_PER_SECOND
#define TREE_LINE_LIMIT 64

#define CHANGE_OF_CORES 0.5
#define CHANGE_OF_RSS 20 /* a change of one part in this many counts */

/* After a loss of events: ends members that the sample did not see, whose end was lost. */
static void close_lost(struct watch *watch, uint64_t since_ns)
{
	struct run_losses losses = { 0 };

	watch->tracer->kind->losses(watch->tracer->state, &losses);
	if (losses.events > watch->samples.lost_before)
		tree_close_unseen(watch->run->tree, since_ns);
	watch->samples.lost_before = losses.events;
}

static double cores_between(const struct run_sample *from, const struct run_sample *to)
{
	uint64_t before, now;

	if (from->time_ns == 0 || to->time_ns <= from->time_ns || !run_sample_cpu(from, &before) ||
	    !run_sample_cpu(to, &now))
		return 0;
	return (double)(now - before) / (double)(to->time_ns - from->time_ns);
}

static bool has_changed(struct watch *watch)
{
	const struct run_sample *before = &watch->run->previous;
	const struct run_sample *now = &watch->run->last;
	double cores = cores_between(before, now);
	double change = cores - watch->samples.cores;
	uint64_t rss = now->rss_bytes > before->rss_bytes ? now->rss_bytes - before->rss_bytes :
							    before->rss_bytes - now->rss_bytes;

	watch->samples.cores = cores;
	return now->processes != before->processes || rss > before->rss_bytes / CHANGE_OF_RSS ||
	       change > CHANGE_OF_CORES || change < -CHANGE_OF_CORES;
}

static void write_sample(struct watch *watch, uint64_t now_ns)
{
	const struct tree *tree = watch->run->tree;
	uint64_t forks = tree->forks + tree->exited + tree->execs;
	FILE *out = lines_begin(&watch->output.lines);

	if (!out)
		return;
	run_json_sample(out, watch->run);
	lines_end(&watch->output.lines);
	if (forks == watch->samples.tree_line_forks ||
	    now_ns < watch->samples.tree_line_ns + TREE_LINE_NS)
		return;
	watch->samples.tree_line_forks = forks;
	watch->samples.tree_line_ns = now_ns;
	run_json_tree(out, watch->run, TREE_LINE_LIMIT);
	lines_end(&watch->output.lines);
}

static void take_sample(struct watch *watch, uint64_t now_ns)
{
	run_sample(watch->run, now_ns);
	write_sample(watch, now_ns);
}

static bool ask(struct watch *watch, enum tracer_depth depth)
{
	struct tracer *tracer = watch->tracer;

	watch->events.count = 0;
	return watch_worked(watch, &watch->samples.failures,
			    tracer->kind->sample(tracer->state, depth, watch_take_event, watch));
}

void watch_sample(struct watch *watch, enum tracer_depth depth)
{
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t since_ns = monotonic_ns();
	bool had_ended = watch->command.ended;
	uint64_t now_ns;
	bool worked, has_moved = false;

	energy_sample(&watch->energy, watch->host, since_ns);
	worked = ask(watch, depth);
	if (worked)
		close_lost(watch, since_ns);
	watch->command.sampled_since_end |= worked && had_ended;
	watch_take_signals(watch);
	watch_take_ended(watch);
	now_ns = monotonic_ns();
	watch->run->end_ns = now_ns;
	if (worked)
		take_sample(watch, now_ns);
	if (worked)
		has_moved = phases_sample(&watch->phases, &watch->output.lines, now_ns);
	watch_follow_root(watch);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns + phases_take_cost(&watch->phases);
	/* A sample that failed is tried again soon. */
	sampler_taken(&watch->samples.sampler, now_ns, cpu_ns,
		      !worked || has_changed(watch) || has_moved);
	watch->samples.due.deadline_ns = watch->samples.sampler.next_ns;
	watch_sample_gpu(watch, now_ns);
	if (worked && watch->events.count == 0 &&
	    (watch_is_attached(watch) || watch->command.ended))
		loop_stop(&watch->loop); /* no member is left */
}

static void sample_when_due(void *context)
{
	watch_sample(context, TRACER_SAMPLE);
}

static void sample_waits_when_due(void *context)
{
	struct watch *watch = context;
	struct tracer *tracer = watch->tracer;

	watch->samples.waits_due.deadline_ns =
		tracer->kind->sample_waits(tracer->state, monotonic_ns());
}

void watch_init_samples(struct watch *watch)
{
	watch->samples = (struct watch_samples){
		.due = { .due = sample_when_due, .context = watch, .deadline_ns = LOOP_NEVER },
		.waits_due = { .due = sample_waits_when_due,
			       .context = watch,
			       .deadline_ns = LOOP_NEVER },
	};
}

void watch_start_samples(struct watch *watch)
{
	struct watch_samples *samples = &watch->samples;

	sampler_begin(&samples->sampler, watch->options->interval_ns, watch->begin_ns);
	samples->due.deadline_ns = samples->sampler.next_ns;
	loop_add_timer(&watch->loop, &samples->due);
	if (watch->tracer->kind->sample_waits)
		samples->waits_due.deadline_ns = watch->begin_ns;
	loop_add_timer(&watch->loop, &samples->waits_due);
}
