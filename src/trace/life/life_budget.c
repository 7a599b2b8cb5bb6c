/* SPDX-License-Identifier: MIT */
#include "trace/life/life_budget.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static bool is_always_kept(enum life_kind kind)
{
	return kind == LIFE_OOM || kind == LIFE_KILL || kind == LIFE_LOST;
}

static void save_up(struct life_budget *budget, uint64_t now_ns)
{
	uint64_t passed = now_ns > budget->now_ns ? now_ns - budget->now_ns : 0;

	if (!budget->has_begun || passed > NS_PER_SECOND)
		passed = NS_PER_SECOND;
	budget->has_begun = true;
	budget->credit_ns += passed;
	if (budget->credit_ns > NS_PER_SECOND)
		budget->credit_ns = NS_PER_SECOND;
	if (now_ns > budget->now_ns)
		budget->now_ns = now_ns;
}

static struct life_counted *find_program(struct life_budget *budget, const char *comm)
{
	for (size_t i = 0; i < budget->program_count; i++)
		if (strncmp(budget->programs[i].comm, comm, TREE_COMM_SIZE) == 0)
			return &budget->programs[i];
	if (budget->program_count == LIFE_PROGRAMS_MAX)
		return &budget->programs[LIFE_PROGRAMS_MAX];
	snprintf(budget->programs[budget->program_count].comm, TREE_COMM_SIZE, "%s", comm);
	return &budget->programs[budget->program_count++];
}

/* The kind LIFE_LOST has the sum. */
static void count(struct life_budget *budget, enum life_kind kind, const char *comm,
		  uint64_t now_ns)
{
	struct life_counted *program = find_program(budget, comm);

	if (!budget->since_ns)
		budget->since_ns = now_ns;
	program->counts[kind]++;
	program->counts[LIFE_LOST]++;
	budget->counted++;
}

bool life_budget_keeps(struct life_budget *budget, enum life_kind kind, const char *comm,
		       uint64_t now_ns)
{
	uint64_t cost;

	if (!budget->per_second)
		return true;
	cost = (NS_PER_SECOND + budget->per_second - 1) / budget->per_second;
	save_up(budget, now_ns);
	if (budget->credit_ns >= cost) {
		budget->credit_ns -= cost;
		return true;
	}
	if (is_always_kept(kind))
		return true;
	count(budget, kind, comm, now_ns);
	return false;
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
			 " were counted, not kept: there were more than %" PRIu32
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
