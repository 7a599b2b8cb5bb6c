/* SPDX-License-Identifier: MIT */
/* Takes the facts from the critical path. */
#include "analyze/path/path_shares.h"
#include "analyze/verdict/verdict_facts.h"
#include "analyze/verdict/verdict_numbers.h"

/* A path with more that was not seen says too little: then the sums are more reliable. */
#define NOT_SEEN_MOST 0.1
/*
 * Two that answer each other do little else if there is at most so much CPU time between two
 * changes of thread; at twice as much, none of it is put down to that.  A byte to and fro through
 * pipes takes 20 to 200 us each way, by how busy the machine is and how much of it is watched.
 */
#define HANDOVER_NS 200e3
/* And both do some of it: one that has more of the computing works for the other, piece by piece. */
#define HANDOVER_ONE 0.9
/* Who computes for longer than this at a stretch does not hand over meanwhile. */
#define STRETCH_NS (2 * HANDOVER_NS)
/* Nobody stops a program so often by hand; a tracer does so at each call or signal. */
#define STOPS_OF_TRACER 10
/*
 * A program that a tracer stops at each call does little else if there is at most so much CPU time for
 * each stop, the tracer's included; at twice as much, none of it is put down to that.
 */
#define STOP_NS 20e3

static void add_part(struct verdict_facts *facts, const struct path_part *part)
{
	double ns = (double)part->ns;

	switch (part->kind) {
	case PATH_CPU:
		facts->on_cpu += ns;
		break;
	case PATH_RUN_QUEUE:
		facts->queue += ns;
		facts->queue_own += (double)part->by_tree_ns;
		facts->starved += (double)part->by_outside_ns;
		break;
	case PATH_NOT_SEEN:
		facts->unexplained += ns;
		break;
	case PATH_MUTUAL:
		facts->wait[part->via < WAIT_REASON_COUNT ? part->via : WAIT_OTHER] += ns;
		break;
	case WAIT_TIMER: /* who sleeps with a lock makes the others wait for that */
		facts->wait[part->via == WAIT_LOCK ? WAIT_LOCK : WAIT_TIMER] += ns;
		break;
	default:
		facts->wait[part->kind < WAIT_REASON_COUNT ? part->kind : WAIT_OTHER] += ns;
	}
}

/* A client whose server, on this host, ended some of its polls. */
static void take_peers(struct verdict_facts *facts)
{
	bool is_sure;

	if (!verdict_is_client(facts, &is_sure))
		return;
	for (size_t i = 0; i < facts->path->parts.count; i++) {
		const struct path_part *part = &facts->path->parts.data[i];

		if (part->kind == WAIT_POLL && part->peer_ns > 0)
			facts->answers += (double)part->ns;
	}
}

/* The most that one thread computed of what the path came to on that way. */
static double longest_cpu(const struct critical_path *path, enum wait_reason via)
{
	const struct path_part *part = path_main_part(path, PATH_CPU, via);

	return part ? (double)part->ns : 0;
}

/* The computing in long stretches that the path came to on that way. */
static double stretches(const struct critical_path *path, enum wait_reason via)
{
	double ns = 0;

	for (size_t i = 0; i < path->segments.count; i++) {
		const struct path_segment *segment = &path->segments.data[i];
		double length = (double)(segment->end_ns - segment->begin_ns);

		if (segment->kind == PATH_CPU && segment->via == via && length > STRETCH_NS)
			ns += length;
	}
	return ns;
}

static void take_handovers(struct verdict_facts *facts)
{
	static const enum wait_reason ways[] = { WAIT_PIPE, WAIT_NETWORK };

	for (size_t i = 0; facts->path->edges && i < ARRAY_SIZE(ways); i++) {
		double cpu = at_least_0(path_share(facts->path, PATH_CPU, ways[i]) * facts->whole -
					stretches(facts->path, ways[i]));
		double each = cpu / (double)facts->path->edges;

		if (longest_cpu(facts->path, ways[i]) <= HANDOVER_ONE * facts->on_cpu)
			facts->handing_over[ways[i]] =
				cpu * falling(each, HANDOVER_NS, 2 * HANDOVER_NS);
	}
}

/*
 * What held it longest, by the path's segments.  They have no stops that are too short to follow:
 * then by the threads' states, and by how many there are.
 */
static void take_halt(struct verdict_facts *facts)
{
	double stops = waited_count(&facts->run->tree->amounts, WAIT_STOPPED);
	uint64_t ns[HALT_COUNT] = { 0 };

	facts->halt =
		facts->crew.is_traced || stops >= STOPS_OF_TRACER ? HALT_TRACED : HALT_STOPPED;
	for (size_t i = 0; facts->path && i < facts->path->segments.count; i++) {
		const struct path_segment *segment = &facts->path->segments.data[i];

		if (segment->kind == WAIT_STOPPED && segment->object &&
		    segment->object <= HALT_COUNT)
			ns[segment->object - 1] += segment->end_ns - segment->begin_ns;
	}
	for (enum halt i = 0; i < HALT_COUNT; i++)
		if (ns[i] && ns[i] > ns[facts->halt])
			facts->halt = i;
}

/*
 * Waits below the threshold are not followed.  Where those of a kind are as short on average, others
 * of the tree that computed meanwhile ended them: then it is their computing that took the time.
 */
static void follow_short_waits(struct verdict_facts *facts)
{
	static const enum wait_reason kinds[] = { WAIT_PIPE, WAIT_LOCK, WAIT_CONDITION,
						  WAIT_NETWORK };
	const struct amounts *amounts = &facts->run->tree->amounts;
	double others = at_least_0(facts->sums.on_cpu - facts->on_cpu);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		double outside = path_share_of_peers(facts->path, kinds[i]) * facts->whole;
		double all = (double)facts->path->threshold_ns * waited_count(amounts, kinds[i]);
		double ns = lesser(others, at_least_0(facts->wait[kinds[i]] - outside));

		if (all <= 0 || facts->sums.wait[kinds[i]] > all)
			continue;
		facts->wait[kinds[i]] -= ns;
		facts->on_cpu += ns;
		facts->not_followed += ns;
		others -= ns;
	}
}

/*
 * A tracer is on the path where it was started with the program: then that waits for it without being on the
 * path.  The tracer's own wait for the next stop is the program's time between two of them.
 */
static void take_tracing(struct verdict_facts *facts)
{
	double stops = waited_count(&facts->run->tree->amounts, WAIT_STOPPED);

	if (facts->halt == HALT_TRACED && stops >= STOPS_OF_TRACER)
		facts->handing_over[WAIT_STOPPED] =
			facts->on_cpu * falling(facts->on_cpu / stops, STOP_NS, 2 * STOP_NS);
}

void verdict_path_gather(struct verdict_facts *facts)
{
	const struct critical_path *path = &facts->run->path;

	if (path->is_known && path->total_ns && path->parts.count &&
	    (double)path->not_seen_ns <= NOT_SEEN_MOST * (double)path->total_ns)
		facts->path = path;
	take_halt(facts);
	if (!facts->path)
		return;
	facts->whole = (double)path->total_ns;
	for (size_t i = 0; i < path->parts.count; i++)
		add_part(facts, &path->parts.data[i]);
	follow_short_waits(facts);
	take_peers(facts);
	take_handovers(facts);
	take_tracing(facts);
}
