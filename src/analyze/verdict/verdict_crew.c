/* SPDX-License-Identifier: MIT */
/* What single threads show that neither the sums of a tree nor its critical path do. */
#include <string.h>
#include <strings.h>

#include "analyze/verdict/verdict_facts.h"
#include "analyze/verdict/verdict_numbers.h"

/* A thread with less CPU time, as a share of the wall time, does not take part in the work. */
#define PART_LEAST 0.01
/* The work is uneven if the busiest has at least so much of it: twice as much as all the others. */
#define UNEVEN_SHARE (2.0 / 3)

/* Whoever is further up waits for one of these. */
#define ANCESTORS_MAX 16

struct walk {
	const struct run *run;
	struct crew *crew;
	double cpu, held;    /* sums; the second by CPU time */
	double lives, locks; /* of the others: all time but that in the queue, and that on locks */
	double queued;	     /* of them: in the queue, where they are not done */
};

/* Names that virtual machines and interpreters give to the threads that collect garbage. */
static bool is_collector(const char *thread)
{
	static const char *const names[] = { "GC Thread", "G1 ",   "Shenandoah", "ZWorker",
					     "XWorker",	  "ParGC", ".NET GC",	 ".NET BGC" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(thread, names[i], strlen(names[i])) == 0)
			return true;
	return strcasecmp(thread, "gc") == 0 || strncasecmp(thread, "gc-", 3) == 0 ||
	       strncasecmp(thread, "gc ", 3) == 0;
}

/*
 * This thread of a Java virtual machine does that for which all others must stop.  Where no threads
 * are there to collect, it collects; what else it does is short, unless somebody dumps the heap.
 */
bool crew_may_be_collector(const char *thread)
{
	return strcmp(thread, "VM Thread") == 0;
}

bool crew_is_collector(const struct crew *crew, const char *thread)
{
	return is_collector(thread) || (!crew->has_collectors && crew_may_be_collector(thread));
}

static double cpu_of(const struct tree_thread *thread)
{
	return (double)amounts_get(&thread->amounts, AMOUNT_run_time_ns);
}

static double open_wait(const struct run *run, const struct tree_thread *thread)
{
	const struct tree_now *now = &thread->now;

	if (thread->ended || !now->blocked || !now->in_syscall || now->since_ns >= run->end_ns)
		return 0;
	return (double)(run->end_ns - now->since_ns);
}

static bool is_accepting(const struct tree_now *now)
{
	char buffer[SYSCALL_NAME_SIZE];

	return now->in_syscall &&
	       call_list_of(syscall_name(now->syscall_abi, now->syscall, buffer)) == LIST_ACCEPT;
}

static int add_thread(void *context, const struct tree_process *process,
		      const struct tree_thread *thread)
{
	struct walk *walk = context;
	const struct amounts *amounts = &thread->amounts;
	double held = waited_ns(amounts, WAIT_LOCK) + waited_ns(amounts, WAIT_CONDITION);
	double open = open_wait(walk->run, thread);

	(void)process;
	walk->crew->open += open;
	if (thread->now.reason == WAIT_CONDITION && thread->key.tid == walk->run->path.thread.tid)
		walk->crew->open_condition = open;
	if (open > 0 && is_accepting(&thread->now))
		walk->crew->open_accepts += open;
	walk->crew->is_traced |= thread->now.state == 't';
	walk->crew->has_collectors |= is_collector(thread->comm);
	walk->cpu += cpu_of(thread);
	walk->held += cpu_of(thread) * share_of(held, held + cpu_of(thread));
	if (cpu_of(thread) > walk->crew->busiest_ns) {
		walk->crew->busiest = thread->key;
		walk->crew->busiest_ns = cpu_of(thread);
		memcpy(walk->crew->name, thread->comm, sizeof(walk->crew->name));
	}
	return 0;
}

/* Whether the busiest thread ended most of what that thread waited for on locks and conditions. */
static bool waits_for_busiest(const struct walk *walk, const struct tree_thread *thread)
{
	const struct tree *tree = walk->run->tree;

	for (size_t i = 0; i < tree->top_wait_count; i++) {
		const struct tree_wait *wait = &tree->top_waits[i];

		if (wait->thread.tid == thread->key.tid &&
		    (wait->reason == WAIT_LOCK || wait->reason == WAIT_CONDITION))
			return wait->waker.waker_tid == walk->crew->busiest.tid &&
			       tree_wait_waker_share(wait) > 0.5 &&
			       2 * wait->total_ns > run_wall_ns(walk->run);
	}
	return false;
}

/* How much of a name is not a number at its end: "worker-1" and "worker-2" do the same. */
static size_t kind_length(const char *name)
{
	size_t length = strlen(name);

	while (length && name[length - 1] >= '0' && name[length - 1] <= '9')
		length--;
	return length;
}

static bool is_same_kind(const char *one, const char *other)
{
	size_t length = kind_length(one);

	return length ? length == kind_length(other) && strncmp(one, other, length) == 0 :
			strcmp(one, other) == 0;
}

/* Adds the work of threads that do the same as the busiest one, or that go on only with it. */
static int add_other(void *context, const struct tree_process *process,
		     const struct tree_thread *thread)
{
	struct walk *walk = context;
	const struct task_key *busiest = &walk->crew->busiest;
	bool is_worker = busiest->tid != busiest->pid && thread->key.tid != thread->key.pid;

	(void)process;
	if (thread->key.pid != busiest->pid || thread->key.tid == busiest->tid)
		return 0;
	if (!(is_worker && is_same_kind(thread->comm, walk->crew->name)) &&
	    !waits_for_busiest(walk, thread))
		return 0;
	walk->lives += (double)amounts_get(&thread->amounts, AMOUNT_wall_time_ns) -
		       (double)amounts_get(&thread->amounts, AMOUNT_wait_time_ns);
	walk->locks += waited_ns(&thread->amounts, WAIT_LOCK);
	if (cpu_of(thread) >= PART_LEAST * (double)run_wall_ns(walk->run)) {
		walk->crew->others_ns += cpu_of(thread);
		walk->queued += (double)amounts_get(&thread->amounts, AMOUNT_wait_time_ns);
	}
	return 0;
}

static double process_cpu(const struct tree_process *process)
{
	return (double)amounts_get(&process->amounts, AMOUNT_run_time_ns);
}

static const struct tree_process *busiest_process(const struct tree *tree)
{
	const struct tree_process *busiest = NULL;

	for (size_t i = 0; i < tree->count; i++)
		if (!busiest || process_cpu(tree->all[i]) > process_cpu(busiest))
			busiest = tree->all[i];
	return busiest;
}

static const struct tree_process *parent_of(const struct tree *tree,
					    const struct tree_process *process)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->all[i]->key.pid == process->parent_pid &&
		    tree->all[i]->begin_ns <= process->begin_ns && tree->all[i] != process)
			return tree->all[i];
	return NULL;
}

/* The processes that wait for it, and it. */
struct line {
	const struct tree_process *members[ANCESTORS_MAX];
	size_t count;
};

static bool is_in_line(const struct line *line, const struct tree_process *process)
{
	for (size_t i = 0; i < line->count; i++)
		if (line->members[i] == process)
			return true;
	return false;
}

static struct line line_of(const struct tree *tree, const struct tree_process *process)
{
	struct line line = { .count = 0 };

	for (; process && line.count < ANCESTORS_MAX && !is_in_line(&line, process);
	     process = parent_of(tree, process))
		line.members[line.count++] = process;
	return line;
}

/* How long before the end the last of the others that take part in the work ended. */
static double outlasts_others(const struct run *run, const struct tree_process *busiest)
{
	struct line line = line_of(run->tree, busiest);
	uint64_t last_ns = run->begin_ns;

	for (size_t i = 0; i < run->tree->count; i++) {
		const struct tree_process *process = run->tree->all[i];
		uint64_t end_ns = process->exited ? process->end_ns : run->end_ns;

		if (end_ns > last_ns && !is_in_line(&line, process) &&
		    process_cpu(process) >= PART_LEAST * (double)run_wall_ns(run))
			last_ns = end_ns;
	}
	return last_ns < run->end_ns ? (double)(run->end_ns - last_ns) : 0;
}

static void gather_processes(const struct run *run, struct crew *ret)
{
	const struct tree_process *busiest = busiest_process(run->tree);

	ret->busiest_process_ns = busiest ? process_cpu(busiest) : 0;
	ret->alone = share_of(outlasts_others(run, busiest), (double)run_wall_ns(run));
}

void crew_gather(const struct run *run, struct crew *ret)
{
	struct walk walk = { .run = run, .crew = ret };

	*ret = (struct crew){ 0 };
	tree_visit_threads(run->tree, add_thread, &walk);
	ret->held_up = share_of(walk.held, walk.cpu);
	gather_processes(run, ret);
	tree_visit_threads(run->tree, add_other, &walk);
	ret->kept_out = share_of(walk.locks, walk.lives);
	ret->is_uneven =
		ret->others_ns > 0 &&
		ret->busiest_ns >= UNEVEN_SHARE * (ret->busiest_ns + ret->others_ns + walk.queued);
}
