/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_threads.h"

#include "analyze/verdict/verdict_facts.h"
#include "analyze/verdict/verdict_numbers.h"

#define PARKED_SHARE 0.9
#define PARKED_RUNS_SHARE 0.01
#define PARKED_MEAN_NS 50e6
#define DORMANT_WAITS 2
#define DORMANT_MEAN_NS 200e6
/* On conditions, of a thread; and how much of its time it computes to be more than a waiter. */
#define TURNS_PER_SECOND 20.0
#define TURNS_LEAST 10
#define TURNS_RUNS_SHARE 0.05

struct walk {
	const struct run *run;
	double busy; /* of all threads together */
	struct thread_sums *sums;
};

static const enum wait_reason parking[] = { WAIT_LOCK, WAIT_NETWORK, WAIT_PIPE };

static bool is_parked(const struct amounts *amounts, struct waited wait)
{
	double wall = (double)amounts_get(amounts, AMOUNT_wall_time_ns);
	double runs = ready_ns(amounts);
	double mean = wait.count ? (double)wait.ns / (double)wait.count : (double)wait.ns;

	if (wall <= 0 || runs > wall * PARKED_RUNS_SHARE || (double)wait.ns < wall * PARKED_SHARE)
		return false;
	return (double)wait.max_ns >= wall / 3 || mean >= PARKED_MEAN_NS;
}

static bool is_dormant(struct waited wait)
{
	return wait.count <= DORMANT_WAITS ||
	       (double)wait.ns >= (double)wait.count * DORMANT_MEAN_NS;
}

static bool is_leader(const struct tree_thread *thread)
{
	return thread->key.tid == thread->key.pid;
}

static bool is_root(const struct run *run, const struct tree_thread *thread)
{
	const struct tree_process *root = run->tree->root;

	return root && is_leader(thread) && thread->key.pid == root->key.pid;
}

static void add_parked(struct walk *walk, const struct tree_thread *thread, enum wait_reason reason)
{
	struct waited wait = amounts_waited(&thread->amounts, reason);
	struct thread_sums *sums = walk->sums;

	if (!is_parked(&thread->amounts, wait))
		return;
	sums->parked[reason] += (double)wait.ns;
	if (is_root(walk->run, thread))
		sums->root_is_parked = true;
	if (!is_dormant(wait))
		return;
	sums->dormant[reason] += (double)wait.ns;
	if (is_leader(thread))
		sums->dormant_leaders += (double)wait.ns;
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

	return call_list_of(syscall_name(now->syscall_abi, now->syscall, buffer)) == LIST_ACCEPT;
}

static bool takes_turns(const struct amounts *amounts)
{
	double count = waited_count(amounts, WAIT_CONDITION);

	return count >= TURNS_LEAST &&
	       count * 1e9 > TURNS_PER_SECOND * (double)amounts_get(amounts, AMOUNT_wall_time_ns);
}

static void add_turns(struct turn_sums *turns, const struct amounts *amounts)
{
	if (!takes_turns(amounts))
		return;
	turns->threads++;
	turns->waited += waited_ns(amounts, WAIT_CONDITION);
	turns->count += waited_count(amounts, WAIT_CONDITION);
	turns->runs += ready_ns(amounts);
	if ((double)amounts_get(amounts, AMOUNT_run_time_ns) >=
	    (double)amounts_get(amounts, AMOUNT_wall_time_ns) * TURNS_RUNS_SHARE)
		turns->running++;
}

struct search {
	int32_t pid, tid;
	bool found; /* and takes turns */
};

static int match_thread(void *context, const struct tree_process *process,
			const struct tree_thread *thread)
{
	struct search *search = context;

	(void)process;
	if (thread->key.pid == search->pid && thread->key.tid == search->tid)
		search->found |= takes_turns(&thread->amounts);
	return 0;
}

static bool is_woken_in_turn(const struct run *run, const struct tree_wait *wait)
{
	struct search search = { wait->waker.waker_pid, wait->waker.waker_tid, false };

	if (search.pid != wait->thread.pid || search.tid == wait->thread.tid)
		return false;
	tree_visit_threads(run->tree, match_thread, &search);
	return search.found;
}

static bool wake_each_other(const struct run *run, const struct turn_sums *turns)
{
	const struct tree *tree = run->tree;
	double known = 0, mutual = 0;

	for (size_t i = 0; i < tree->top_wait_count; i++) {
		const struct tree_wait *wait = &tree->top_waits[i];

		if (wait->reason != WAIT_CONDITION || wait->waker.total_ns == 0)
			continue;
		known += (double)wait->total_ns;
		if (is_woken_in_turn(run, wait))
			mutual += (double)wait->total_ns;
	}
	return known > 0 ? mutual > known / 2 : turns->running > 1;
}

/* On a CPU, waiting for one, or waiting for a device. */
static double busy_ns(const struct amounts *amounts)
{
	return ready_ns(amounts) + waited_ns(amounts, WAIT_DISK) + waited_ns(amounts, WAIT_MEMORY);
}

static double covered_ns(const struct walk *walk, const struct amounts *amounts)
{
	double others = walk->busy - busy_ns(amounts);
	double waited = waited_ns(amounts, WAIT_PIPE);

	if (others <= 0)
		return 0;
	return waited < others ? waited : others;
}

static int add_thread(void *context, const struct tree_process *process,
		      const struct tree_thread *thread)
{
	struct walk *walk = context;
	struct thread_sums *sums = walk->sums;
	const struct amounts *amounts = &thread->amounts;
	double open = open_wait(walk->run, thread);

	(void)process;
	add_turns(&sums->turns, amounts);
	sums->open += open;
	sums->covered += covered_ns(walk, amounts);
	if (open > 0 && is_accepting(&thread->now))
		sums->accepting += open;
	for (size_t i = 0; i < ARRAY_SIZE(parking); i++)
		add_parked(walk, thread, parking[i]);
	if (!is_leader(thread))
		return 0;
	for (size_t i = 0; i < WAIT_REASON_COUNT; i++)
		sums->leader[i] += waited_ns(amounts, i);
	return 0;
}

void thread_sums_gather(const struct run *run, struct thread_sums *ret)
{
	struct walk walk = { run, busy_ns(&run->tree->amounts), ret };

	*ret = (struct thread_sums){ 0 };
	tree_visit_threads(run->tree, add_thread, &walk);
	ret->turns.mutual = ret->turns.threads > 1 && wake_each_other(run, &ret->turns);
}
