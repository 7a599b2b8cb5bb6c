/* SPDX-License-Identifier: MIT */
#include "trace/life/life_budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

/* How much credit there can be: what a pause saves up. */
#define CREDIT_MOST NS_PER_SECOND
#define USER_CREDIT_MOST (10 * NS_PER_SECOND)
/* A user earns one part in so many of what there is. */
#define USER_SHARE 4
/* What is left to those who sent less than half a second's worth lately. */
#define RESERVED (CREDIT_MOST / 4)
#define LITTLE (CREDIT_MOST / 2)

static void save_up(struct life_credit *credit, uint64_t now_ns, uint64_t share, uint64_t most)
{
	uint64_t passed = now_ns > credit->saved_at_ns ? now_ns - credit->saved_at_ns : 0;

	/* One that has never earned anything begins with all that it can have. */
	credit->ns += credit->saved_at_ns ? passed / share : most;
	if (credit->ns > most)
		credit->ns = most;
	if (now_ns > credit->saved_at_ns)
		credit->saved_at_ns = now_ns;
}

/* The user who gives way to a new one has the most credit, hardly more than a new one begins with. */
static struct life_user *replaced_user(struct life_budget *budget)
{
	struct life_user *found = &budget->users[0];

	if (budget->user_count < LIFE_USERS_MAX)
		return &budget->users[budget->user_count++];
	for (size_t i = 1; i < LIFE_USERS_MAX; i++)
		if (budget->users[i].credit.ns > found->credit.ns)
			found = &budget->users[i];
	return found;
}

static bool is_of_user(const struct life_event *event, bool has_uid, uint32_t uid)
{
	bool event_has = event->present & LIFE_HAS_UID;

	return event_has == has_uid && (!has_uid || event->uid == uid);
}

static struct life_user *find_user(struct life_budget *budget, const struct life_event *event)
{
	struct life_user *user;

	for (size_t i = 0; i < budget->user_count; i++)
		if (is_of_user(event, budget->users[i].has_uid, budget->users[i].uid))
			return &budget->users[i];
	user = replaced_user(budget);
	*user = (struct life_user){
		.uid = event->present & LIFE_HAS_UID ? event->uid : 0,
		.has_uid = event->present & LIFE_HAS_UID,
	};
	return user;
}

static struct life_counted *add_program(struct life_budget *budget, const struct life_event *event,
					const char *comm)
{
	struct life_counted *program = &budget->programs[budget->program_count];

	if (budget->program_count == LIFE_PROGRAMS_MAX)
		return program;
	budget->program_count++;
	snprintf(program->comm, TREE_COMM_SIZE, "%s", comm);
	program->has_uid = event->present & LIFE_HAS_UID;
	program->uid = program->has_uid ? event->uid : 0;
	return program;
}

static struct life_counted *find_program(struct life_budget *budget, const struct life_event *event)
{
	struct life_counted *unnamed = NULL;
	size_t of_user = 0;

	for (size_t i = 0; i < budget->program_count; i++) {
		struct life_counted *program = &budget->programs[i];

		if (!is_of_user(event, program->has_uid, program->uid))
			continue;
		if (strncmp(program->comm, event->comm, TREE_COMM_SIZE) == 0)
			return program;
		of_user++;
		if (!program->comm[0])
			unnamed = program;
	}
	if (of_user < LIFE_PROGRAMS_OF_USER)
		return add_program(budget, event, event->comm);
	return unnamed ? unnamed : add_program(budget, event, "");
}

/* The kind LIFE_LOST has the sum. */
static void count(struct life_budget *budget, const struct life_event *event, uint64_t now_ns)
{
	struct life_counted *program = find_program(budget, event);

	if (!budget->since_ns)
		budget->since_ns = now_ns;
	program->counts[event->kind]++;
	program->counts[LIFE_LOST]++;
	budget->counted++;
}

bool life_budget_keeps(struct life_budget *budget, const struct life_event *event, uint64_t now_ns)
{
	struct life_user *user;
	uint64_t cost, floor;

	if (!budget->per_second || event->kind == LIFE_OOM || event->kind == LIFE_LOST)
		return true;
	user = find_user(budget, event);
	cost = (NS_PER_SECOND + budget->per_second - 1) / budget->per_second;
	save_up(&budget->credit, now_ns, 1, CREDIT_MOST);
	save_up(&user->credit, now_ns, USER_SHARE, USER_CREDIT_MOST);
	floor = user->credit.ns + LITTLE > USER_CREDIT_MOST ? 0 : RESERVED;
	if (cost + floor > CREDIT_MOST)
		floor = CREDIT_MOST - cost;
	if (user->credit.ns < cost ||
	    (budget->credit.ns < cost + floor && event->kind != LIFE_KILL)) {
		count(budget, event, now_ns);
		return false;
	}
	user->credit.ns -= cost;
	budget->credit.ns -= cost < budget->credit.ns ? cost : budget->credit.ns;
	return true;
}

bool life_budget_is_due(const struct life_budget *budget, uint64_t now_ns)
{
	return life_budget_has_counts(budget) && now_ns >= budget->since_ns &&
	       now_ns - budget->since_ns >= LIFE_REPORT_NS;
}

static void describe(const struct life_budget *budget, const struct life_counted *program,
		     char *buffer, size_t capacity)
{
	size_t length = 0;

	for (int kind = 0; kind < LIFE_LOST; kind++)
		if (program->counts[kind] && length < capacity)
			length += (size_t)snprintf(buffer + length, capacity - length,
						   "%s%" PRIu64 " %s", length ? ", " : "",
						   program->counts[kind], life_kind_names[kind]);
	if (length < capacity)
		snprintf(buffer + length, capacity - length,
			 " were counted, not kept: more than a fair share of %" PRIu32
			 " events a second",
			 budget->per_second);
}

static int report(const struct life_budget *budget, const struct life_counted *program,
		  uint64_t unix_ns, life_event_sink *sink, void *context)
{
	char details[512];
	struct life_event event = {
		.kind = LIFE_LOST,
		.unix_ns = unix_ns,
		.lost = program->counts[LIFE_LOST],
		.present = program->has_uid ? LIFE_HAS_UID : 0,
		.uid = program->uid,
		.details = details,
	};

	if (!event.lost)
		return 0;
	memcpy(event.comm, program->comm, sizeof(event.comm));
	describe(budget, program, details, sizeof(details));
	return sink(context, &event);
}

int life_budget_report(struct life_budget *budget, uint64_t unix_ns, life_event_sink *sink,
		       void *context)
{
	int status = 0;

	for (size_t i = 0; i <= LIFE_PROGRAMS_MAX && status == 0; i++)
		status = report(budget, &budget->programs[i], unix_ns, sink, context);
	memset(budget->programs, 0, sizeof(budget->programs));
	budget->program_count = 0;
	budget->since_ns = 0;
	return status;
}
