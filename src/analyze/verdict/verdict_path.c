/* SPDX-License-Identifier: MIT */
/* Takes the facts from the critical path. */
#include <string.h>

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
/* The run hangs on the thread that has this share of the computing. */
#define MOST_OF_IT 0.5
/*
 * One at a time computes if the path came to this share of the computing through waits for a lock,
 * and the threads that compute are held up for this share of their time.  Two threads that take
 * turns have a half of each; the first is less, since the first thread is joined, not waited for.
 */
#define SERIAL_VIA 0.4
#define SERIAL_HELD_UP 0.35
/*
 * And few want a CPU: who got the lock waits in the queue for the thread that gave it away, and for the
 * next one that tries to get it.  For how many times the computing the queue behind its own threads
 * is longer, so many stand there, and locks only change hands as slowly as their holders get a CPU.
 */
#define SERIAL_QUEUE 2.0
/*
 * A lock that is not fair leaves most of the work to one thread, which hardly waits.  The others are not
 * done early: they are blocked on locks for the first share of their time, and all together do not
 * compute for more than the second, which is that of one thread and what they do without the lock.  Of
 * two threads that take turns, each is blocked for half of its time.
 */
#define KEPT_OUT 0.5
#define ONE_AT_A_TIME 1.2
/* Nobody stops a program so often by hand; a tracer does so at each call or signal. */
#define STOPS_OF_TRACER 10
/* A stage holds a pipeline up if others wait in pipes for this share of its time on a CPU. */
#define STAGE_WAIT 0.5
/*
 * The rest waits for one child if others computed beside it and were done earlier: all together, for so
 * many times as long as the path.  Otherwise there was nothing but that child to do, and that it
 * computes says more than that it is a child.
 */
#define BESIDE 1.2

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

void verdict_path_gather(struct verdict_facts *facts)
{
	const struct critical_path *path = &facts->run->path;

	if (!path->is_known || !path->total_ns || !path->parts.count ||
	    (double)path->not_seen_ns > NOT_SEEN_MOST * (double)path->total_ns)
		return;
	facts->path = path;
	facts->whole = (double)path->total_ns;
	for (size_t i = 0; i < path->parts.count; i++)
		add_part(facts, &path->parts.data[i]);
	follow_short_waits(facts);
	take_peers(facts);
	take_handovers(facts);
}

/* Threads that wait for a garbage collector do not compete for a lock. */
static double contended_ns(const struct verdict_facts *facts)
{
	double ns = 0;

	for (size_t i = 0; i < facts->path->parts.count; i++) {
		const struct path_part *part = &facts->path->parts.data[i];

		if (part->kind == PATH_CPU &&
		    (part->via == WAIT_LOCK || part->via == WAIT_CONDITION) &&
		    !crew_is_collector(&facts->crew, part->thread))
			ns += (double)part->ns;
	}
	return ns;
}

static bool is_crowded(const struct verdict_facts *facts)
{
	return facts->queue_own > SERIAL_QUEUE * facts->on_cpu;
}

static bool is_serialised(const struct verdict_facts *facts)
{
	return !is_crowded(facts) && contended_ns(facts) >= SERIAL_VIA * facts->on_cpu &&
	       facts->crew.held_up >= SERIAL_HELD_UP;
}

/* What was not followed is put down to the busiest thread. */
static double program_cpu(const struct verdict_facts *facts, const struct path_part *of)
{
	const struct critical_path *path = facts->path;
	double ns = strcmp(of->thread, facts->crew.name) == 0 ? facts->not_followed : 0;

	for (size_t i = 0; i < path->parts.count; i++) {
		const struct path_part *part = &path->parts.data[i];

		if (part->kind == PATH_CPU && strcmp(part->program, of->program) == 0)
			ns += (double)part->ns;
	}
	return ns;
}

/* The main part of the program that computes most on the path. */
static const struct path_part *main_program(const struct verdict_facts *facts)
{
	const struct critical_path *path = facts->path;
	const struct path_part *best = NULL;
	double most = 0;

	for (size_t i = 0; i < path->parts.count; i++) {
		const struct path_part *part = &path->parts.data[i];
		double ns = part->kind == PATH_CPU ? program_cpu(facts, part) : 0;

		if (ns < most || ns <= 0 || strcmp(part->program, PATH_OTHERS) == 0)
			continue;
		if (ns > most || part->ns > best->ns)
			best = part;
		most = ns;
	}
	return best;
}

/* Whether that is what the first process did, rather than another process. */
static bool is_first_process(const struct verdict_facts *facts, const struct path_part *of)
{
	const struct tree_process *root = facts->run->tree->root;
	bool is_known = false;

	if (of->via == PATH_DIRECT)
		return !root || facts->path->thread.pid == root->key.pid;
	for (size_t i = 0; i < facts->path->parts.count; i++) {
		const struct path_part *part = &facts->path->parts.data[i];

		if (part->via != PATH_DIRECT || strcmp(part->program, of->program) != 0)
			continue;
		is_known = true;
		if (strcmp(part->command, of->command) == 0)
			return true;
	}
	return !is_known && root && strcmp(root->comm, of->program) == 0;
}

/* Whether one child has most of the computing, and others were done before it. */
static bool is_longest_child(const struct verdict_facts *facts)
{
	return (double)facts->who->command_ns >= MOST_OF_IT * facts->on_cpu &&
	       facts->sums.on_cpu >= BESIDE * facts->on_cpu;
}

/* Others than the first process wait in pipes: a parent that reads from its child just waits for it. */
static bool is_stage(const struct verdict_facts *facts)
{
	const struct tree_process *root = facts->run->tree->root;
	double own = root ? waited_ns(&root->amounts, WAIT_PIPE) : 0;

	return facts->sums.wait[WAIT_PIPE] - own >= STAGE_WAIT * facts->on_cpu;
}

/*
 * Sets how much of the computing is collecting; the main part of that, if most of it is.  The queue behind
 * threads of the tree does not count: who waits there is not who has the CPU.
 */
static const struct path_part *find_collector(struct verdict_facts *facts)
{
	const struct path_part *best = NULL;
	double ns = 0;

	for (size_t i = 0; i < facts->path->parts.count; i++) {
		const struct path_part *part = &facts->path->parts.data[i];

		if (part->kind != PATH_CPU || !crew_is_collector(&facts->crew, part->thread))
			continue;
		ns += (double)part->ns;
		if (!best || part->ns > best->ns)
			best = part;
	}
	facts->collecting = share_of(ns, facts->on_cpu);
	return facts->collecting >= MOST_OF_IT ? best : NULL;
}

/* The part of the busiest thread, if most of the computing is its. */
static const struct path_part *find_busiest(const struct verdict_facts *facts)
{
	for (size_t i = 0; i < facts->path->parts.count; i++) {
		const struct path_part *part = &facts->path->parts.data[i];

		if (part->kind == PATH_CPU && strcmp(part->thread, facts->crew.name) == 0 &&
		    (double)part->ns >= MOST_OF_IT * facts->on_cpu)
			return part;
	}
	return NULL;
}

bool verdict_is_kept_out(const struct verdict_facts *facts)
{
	return facts->crew.kept_out >= KEPT_OUT && !is_crowded(facts) && !is_serialised(facts) &&
	       facts->crew.busiest_ns + facts->crew.others_ns <= ONE_AT_A_TIME * facts->wall;
}

void verdict_path_explain(struct verdict_facts *facts)
{
	const struct path_part *collector, *busiest;

	take_halt(facts);
	facts->computing = COMPUTING_ITSELF;
	if (!facts->path || facts->on_cpu <= 0)
		return;
	facts->who = main_program(facts);
	if (!facts->who)
		return;
	facts->who_ns = program_cpu(facts, facts->who);
	collector = find_collector(facts);
	busiest = facts->crew.others_ns > 0 ? find_busiest(facts) : NULL;
	if (collector) {
		facts->computing = COMPUTING_COLLECTOR;
		facts->who = collector;
	} else if (is_serialised(facts)) {
		facts->computing = COMPUTING_SERIALISED;
		facts->contended = contended_ns(facts);
	} else if (busiest && verdict_is_kept_out(facts)) {
		facts->computing = COMPUTING_SERIALISED;
		facts->contended = (double)busiest->ns;
	} else if (busiest && facts->crew.is_uneven) {
		facts->computing = COMPUTING_UNEVEN;
		facts->who = busiest;
	} else if (!is_first_process(facts, facts->who) &&
		   facts->who_ns >= MOST_OF_IT * facts->on_cpu) {
		facts->computing = is_stage(facts)	   ? COMPUTING_STAGE :
				   is_longest_child(facts) ? COMPUTING_CHILD :
							     COMPUTING_ITSELF;
	}
	if (collector || facts->computing == COMPUTING_UNEVEN)
		facts->who_ns = (double)facts->who->ns;
}
