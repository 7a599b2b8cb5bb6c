/* SPDX-License-Identifier: MIT */
/* Who computes on the critical path, and why that took so long. */
#include <string.h>

#include "analyze/verdict/verdict_facts.h"
#include "analyze/verdict/verdict_numbers.h"

/* The run hangs on the thread that has this share of the computing. */
#define MOST_OF_IT 0.5
/* With less of what its program computed, a thread is not who computed it. */
#define ONE_THREAD 0.9
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
/*
 * A stage holds a pipeline up if others wait in pipes for this share of its time on a CPU, piece by piece: who
 * waits once or twice waits for work, or for a result.
 */
#define STAGE_WAIT 0.5
#define STAGE_PIECES 10
/*
 * The rest waits for one child if other processes computed beside it and were done earlier: all together,
 * for this share of the path's computing.  Otherwise there was nothing but that child to do, and that it
 * computes says more than that it is a child.
 */
#define BESIDE 0.2
/* And it outlasts them by this share of the time: jobs that share the CPUs until the end are just many. */
#define ALONE 0.2
/*
 * Jobs take turns if the path went from one to the next by a lock for this share of them, and the
 * computing of all is that of the path.
 */
#define TURNS_SHARE 0.5

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
static double cpu_like(const struct verdict_facts *facts, const struct path_part *of,
		       const char *thread)
{
	const struct critical_path *path = facts->path;
	double ns = strcmp(of->thread, facts->crew.name) == 0 ? facts->not_followed : 0;

	for (size_t i = 0; i < path->parts.count; i++) {
		const struct path_part *part = &path->parts.data[i];

		if (part->kind == PATH_CPU && strcmp(part->program, of->program) == 0 &&
		    (!thread || strcmp(part->thread, thread) == 0))
			ns += (double)part->ns;
	}
	return ns;
}

static double program_cpu(const struct verdict_facts *facts, const struct path_part *of)
{
	return cpu_like(facts, of, NULL);
}

static double thread_cpu(const struct verdict_facts *facts, const struct path_part *of)
{
	return cpu_like(facts, of, of->thread);
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
	       facts->sums.on_cpu - facts->crew.busiest_process_ns >= BESIDE * facts->on_cpu &&
	       facts->crew.alone >= ALONE;
}

/* How many processes of one program the path came to by a lock that another had. */
static double turns_by_lock(const struct critical_path *path)
{
	double turns = 0;

	for (size_t i = 0; i < path->parts.count; i++)
		if (path->parts.data[i].via == WAIT_LOCK)
			turns = greater(turns, (double)path->parts.data[i].processes);
	return turns;
}

/* Whether processes compute one after the other, since each waits for a lock that the one before has. */
static bool is_by_turns(const struct verdict_facts *facts)
{
	double turns = turns_by_lock(facts->path);

	return turns >= TURNS_SHARE * (double)facts->who->processes &&
	       (double)facts->who->command_ns < MOST_OF_IT * facts->on_cpu &&
	       facts->sums.on_cpu <= ONE_AT_A_TIME * facts->on_cpu &&
	       facts->sums.wait[WAIT_LOCK] >= KEPT_OUT * facts->on_cpu;
}

/* Others than the first process wait in pipes: a parent that reads from its child just waits for it. */
static bool is_stage(const struct verdict_facts *facts)
{
	const struct tree_process *root = facts->run->tree->root;
	double own = root ? waited_ns(&root->amounts, WAIT_PIPE) : 0;
	double pieces = waited_count(&facts->run->tree->amounts, WAIT_PIPE) -
			(root ? waited_count(&root->amounts, WAIT_PIPE) : 0);

	return pieces >= STAGE_PIECES &&
	       facts->sums.wait[WAIT_PIPE] - own >= STAGE_WAIT * facts->on_cpu;
}

/*
 * Sets how much of the computing is collecting, by the names of threads or of functions; the main part of that,
 * if most of it is.  The queue behind threads of the tree does not count: who waits there is not who has the CPU.
 */
static const struct path_part *find_collector(struct verdict_facts *facts)
{
	const struct path_part *best = NULL;
	double ns = 0, by_threads;

	for (size_t i = 0; i < facts->path->parts.count; i++) {
		const struct path_part *part = &facts->path->parts.data[i];

		if (part->kind != PATH_CPU || !crew_is_collector(&facts->crew, part->thread))
			continue;
		ns += (double)part->ns;
		if (!best || part->ns > best->ns)
			best = part;
	}
	by_threads = share_of(ns, facts->on_cpu);
	facts->collecting = greater(by_threads, verdict_collecting_stacks(facts->run->profile));
	if (facts->collecting < MOST_OF_IT)
		return NULL;
	return by_threads >= MOST_OF_IT ? best : facts->who;
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
		facts->computing = is_by_turns(facts)	   ? COMPUTING_SERIALISED :
				   is_stage(facts)	   ? COMPUTING_STAGE :
				   is_longest_child(facts) ? COMPUTING_CHILD :
							     COMPUTING_ITSELF;
	}
	if (collector || facts->computing == COMPUTING_UNEVEN)
		facts->who_ns = (double)facts->who->ns;
	facts->who_is_many = thread_cpu(facts, facts->who) < ONE_THREAD * facts->who_ns;
	if (facts->computing == COMPUTING_SERIALISED && facts->contended <= 0)
		facts->contended = facts->who_ns;
}
