/* SPDX-License-Identifier: MIT */
#include "session/phase/phase_search.h"

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "model/counter.h"
#include "session/phase/phases.h"
#include "trace/tracer.h"

#define SEARCH_FIRST_NS (100 * NS_PER_MS)
#define SEARCH_LONGEST_NS (5 * NS_PER_SECOND)
/*
 * Searches may take one part in SEARCH_BUDGET of the time, and SEARCH_CREDIT_NS at once.  The more
 * members there are, the less often each is searched.
 */
#define SEARCH_BUDGET 400
#define SEARCH_CREDIT_NS (20 * NS_PER_MS)
#define SEARCH_BATCH 16 /* searches between two checks of their cost */
#define SEARCH_ALL_AFTER_NS (60 * NS_PER_SECOND)
#define SEARCH_ALL_MOST 4 /* thorough searches at a time */

void phase_count_failure(struct phase_watch *watch, int status)
{
	if (status < 0)
		counter_add(&watch->run->losses.scopes, 1);
}

void phase_search_begin(struct phase_watch *watch)
{
	watch->credit_ns = (int64_t)SEARCH_CREDIT_NS;
	watch->credited_ns = monotonic_ns();
}

void phase_search_again(struct phase_member *member)
{
	member->next_ns = 0;
	member->pause_ns = SEARCH_FIRST_NS;
	member->is_searched = false;
}

static void set_flag(bool *flag, uint64_t *sum, bool value)
{
	*sum += (uint64_t)value - (uint64_t)*flag;
	*flag = value;
}

/* Whether the member's number is still its own. */
static bool is_still(const struct phase_watch *watch, const struct phase_member *member)
{
	CLEANUP(close_fd)
	int fd = process_directory(watch->host, member->key.pid, member->key.start_ns);

	return fd >= 0;
}

/* Takes over the reader if it returns 0. */
static int open_view(struct phase_watch *watch, struct phase_member *member,
		     struct scope_reader *reader)
{
	const struct tree_process *process = tree_find(watch->run->tree, member->key.pid);

	if (!process)
		return -ESRCH;
	if (member->view) {
		phase_view_reopen(member->view, reader, process);
		phase_view_follow(member->view, watch->tracer);
		return 0;
	}
	member->view = phase_view_new(reader, process);
	if (!member->view)
		return -ENOMEM;
	phase_view_follow(member->view, watch->tracer);
	if (member->is_found)
		phase_count_failure(watch, phase_view_begin(member->view, &watch->run->phases));
	return 0;
}

/* Takes over the reader. */
static void take_reader(struct phase_watch *watch, struct phase_member *member,
			struct scope_reader *reader)
{
	bool is_beyond = watch->readers >= PHASE_READERS_MAX;
	int status = -ESRCH;

	set_flag(&member->is_beyond, &watch->beyond, is_beyond);
	if (!is_beyond && is_still(watch, member))
		status = open_view(watch, member, reader);
	if (status < 0)
		scope_reader_close(reader);
	else
		watch->readers++;
	if (status == -ENOMEM)
		phase_count_failure(watch, status);
}

static void take_refusal(struct phase_watch *watch, struct phase_member *member, int status)
{
	switch (status) {
	case -ESRCH:
		break;
	case -EACCES:
	case -EPERM:
		set_flag(&member->is_denied, &watch->denied, true);
		break;
	case -ENOTSUP:
	case -EPROTO:
		set_flag(&member->is_strange, &watch->strange, true);
		break;
	default:
		phase_count_failure(watch, status);
	}
}

void phase_search_member(struct phase_watch *watch, struct phase_member *member,
			 enum scope_search search)
{
	struct scope_reader *reader = NULL;
	struct error error = { 0 };
	int status = scope_reader_open(watch->host, member->key.pid, search, &reader, &error);

	if (status == 0 || status == -ENOENT) {
		set_flag(&member->is_denied, &watch->denied, false);
		set_flag(&member->is_readable, &watch->readable, true);
	}
	if (status == 0)
		take_reader(watch, member, reader);
	else if (status != -ENOENT)
		take_refusal(watch, member, status);
}

static bool wants_all(const struct phase_member *member, uint64_t now_ns)
{
	return !member->is_searched && now_ns >= member->begin_ns + SEARCH_ALL_AFTER_NS;
}

static void search_due(struct phase_watch *watch, struct phase_member *member, uint64_t now_ns,
		       unsigned *thorough)
{
	bool is_thorough = wants_all(member, now_ns) && *thorough < SEARCH_ALL_MOST;

	*thorough += is_thorough;
	member->is_searched |= is_thorough;
	phase_search_member(watch, member, is_thorough ? SCOPE_SEARCH_ALL : SCOPE_SEARCH_QUICK);
	member->next_ns = now_ns + member->pause_ns;
	member->pause_ns *= 2;
	if (member->pause_ns > SEARCH_LONGEST_NS)
		member->pause_ns = SEARCH_LONGEST_NS;
}

/* Adds the credit for the time since the last call. */
static void give_credit(struct phase_watch *watch, uint64_t now_ns)
{
	if (now_ns > watch->credited_ns)
		watch->credit_ns += (int64_t)((now_ns - watch->credited_ns) / SEARCH_BUDGET);
	if (watch->credit_ns > (int64_t)SEARCH_CREDIT_NS)
		watch->credit_ns = (int64_t)SEARCH_CREDIT_NS;
	watch->credited_ns = now_ns;
}

/* Subtracts the CPU time since `since_ns` from the credit.  Returns the CPU time now. */
static uint64_t pay(struct phase_watch *watch, uint64_t since_ns)
{
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	counter_add(&watch->cost_ns, cpu_ns - since_ns);
	watch->credit_ns -= (int64_t)(cpu_ns - since_ns);
	return cpu_ns;
}

void phases_search(struct phase_watch *watch, uint64_t now_ns)
{
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	unsigned thorough = 0, searched = 0;

	if (!watch->host)
		return;
	give_credit(watch, now_ns);
	for (size_t i = 0; i < watch->members.count && watch->credit_ns > 0; i++) {
		struct phase_member *member;

		watch->turn = watch->turn + 1 < watch->members.count ? watch->turn + 1 : 0;
		member = watch->members.data[watch->turn];
		if (now_ns < member->next_ns || (member->view && member->view->reader))
			continue;
		search_due(watch, member, now_ns, &thorough);
		if (++searched % SEARCH_BATCH == 0)
			cpu_ns = pay(watch, cpu_ns);
	}
	pay(watch, cpu_ns);
}

uint64_t phases_take_cost(struct phase_watch *watch)
{
	return TAKE(watch->cost_ns, 0);
}
