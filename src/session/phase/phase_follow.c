/* SPDX-License-Identifier: MIT */
#include "session/phase/phase_follow.h"

#include "base/clock.h"
#include "collect/scope/scope_reader.h"

void phase_view_follow(struct phase_view *view, const struct tracer *tracer)
{
	view->tracer = NULL;
	view->phases.following = PHASE_NOT_FOLLOWED;
	view->traced = (struct tracer_scopes){ .process = view->phases.key };
	if (!tracer || !tracer->kind->follow_scopes ||
	    scope_reader_place(view->reader, &view->traced.area_ns, &view->traced.self_offset) < 0)
		return;
	view->phases.following = tracer->kind->follow_scopes(tracer->state, &view->traced);
	view->followed_ns = monotonic_ns();
	if (view->phases.following != PHASE_NOT_FOLLOWED)
		view->tracer = tracer;
}

static bool is_waiting(const struct tree_thread *thread)
{
	return thread && !thread->ended && thread->now.blocked;
}

/* Whether the tracer does not know in which scopes the thread left its CPU. */
static bool is_missed(const struct phase_view *view, const struct tree_thread *thread)
{
	return view->phases.following == PHASE_FOLLOWED_LATE &&
	       thread->now.since_ns < view->followed_ns;
}

uint64_t phase_unfollowed_ns(const struct phase_view *view, const struct tree_thread *thread,
			     const struct phase_thread *known, uint64_t time_ns)
{
	uint64_t since_ns;

	if (!is_waiting(thread) || !is_missed(view, thread))
		return 0;
	since_ns = thread->now.since_ns > known->time_ns ? thread->now.since_ns : known->time_ns;
	return time_ns > since_ns ? time_ns - since_ns : 0;
}

uint64_t phase_open_ns(const struct phase_view *view, const struct tree_thread *thread,
		       uint64_t time_ns)
{
	if (!is_waiting(thread) || is_missed(view, thread) || thread->now.since_ns >= time_ns)
		return 0;
	return time_ns - thread->now.since_ns;
}

/* Where waits are added. */
struct wait_target {
	struct phase_view *view;
	struct phases *phases;
};

static int add_wait(void *context, const uint16_t *labels, size_t count, uint64_t ns)
{
	const struct wait_target *target = context;
	const char *texts[SCOPE_FRAMES];

	for (size_t i = 0; i < count && i < SCOPE_FRAMES; i++)
		texts[i] = scope_reader_label(target->view->reader, labels[i]);
	return phase_wait(target->phases, &target->view->phases, texts, count, ns);
}

/* With some of its waits lost, sums would be too small: the estimates stay. */
int phase_view_add_waits(struct phase_view *view, struct phases *phases)
{
	struct wait_target target = { view, phases };
	int status;

	if (!view->tracer)
		return 0;
	status = view->tracer->kind->scope_waits(view->tracer->state, &view->traced, add_wait,
						 &target);
	if (status < 0)
		phase_lose_waits(phases, &view->phases);
	return status == -ENODATA ? 0 : status;
}
