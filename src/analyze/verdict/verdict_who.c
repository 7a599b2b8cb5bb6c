/* SPDX-License-Identifier: MIT */
/* Who a cause is about. */
#include <string.h>

#include "analyze/verdict/verdict_evidence.h"
#include "analyze/verdict/verdict_numbers.h"
#include "metric/unit.h"

static void waker(const struct tree_wait *wait, struct text *out)
{
	double share = tree_wait_waker_share(wait);

	if (wait->waker.total_ns == 0 || share < 0.005)
		return;
	if (wait->waker.waker_tid == 0)
		text_append_string(out, "; ended by the kernel in ");
	else
		text_format(out, "; ended by %.15s (%d) in ", wait->waker.waker_comm,
			    wait->waker.waker_tid);
	unit_format_share(out, share);
}

void evidence_top_wait(const struct verdict_facts *facts, const struct verdict_rule *rule,
		       struct text *out)
{
	const struct tree *tree = facts->run->tree;

	for (size_t i = 0; !facts->path && i < tree->top_wait_count; i++) {
		const struct tree_wait *wait = &tree->top_waits[i];

		if (wait->reason != rule->kind)
			continue;
		text_format(out, "%.15s (%d) waited ", wait->comm, wait->thread.tid);
		unit_format_real(out, UNIT_NS, (double)wait->total_ns);
		text_append_string(out, ", longest ");
		unit_format_real(out, UNIT_NS, (double)wait->longest_ns);
		waker(wait, out);
		return;
	}
}

/* The part of the path that a cause is about. */
static const struct path_part *part_of(const struct verdict_facts *facts,
				       const struct verdict_rule *rule)
{
	const struct path_part *part;

	if (!facts->path || rule->kind == PATH_ANY)
		return NULL;
	if (rule->kind == PATH_CPU)
		return facts->who;
	part = path_main_part(facts->path, rule->kind, PATH_ANY);
	if (!part && rule->cause == CAUSE_NETWORK)
		part = path_main_part(facts->path, WAIT_POLL, PATH_ANY);
	if (!part && (rule->cause == CAUSE_SLEEP || rule->cause == CAUSE_POLL))
		part = path_main_part(facts->path, WAIT_CONDITION, PATH_ANY);
	return part ? part : facts->who;
}

/* A thread is named where it has a name of its own. */
static void said_part_name(const struct path_part *part, struct text *out)
{
	if (part->thread[0] && strncmp(part->thread, part->program, TREE_COMM_SIZE - 1) != 0 &&
	    strncmp(part->thread, part->program, strlen(part->thread)) != 0)
		text_format(out, "%s of ", part->thread);
	text_append_string(out, part->program);
}

void evidence_who(const struct verdict_facts *facts, const struct verdict_rule *rule,
		  struct text *out)
{
	const struct path_part *part = part_of(facts, rule);

	if (!part)
		return;
	if (rule->kind != PATH_CPU && rule->cause != CAUSE_CPU_QUOTA && part->peer[0])
		text_append_string(out, part->peer);
	else
		said_part_name(part, out);
}

/* ": sort -k3 big" after the name, if that says more. */
static void said_command(const struct path_part *part, struct text *out)
{
	if (part->processes > 1)
		text_format(out, " x%llu", (unsigned long long)part->processes);
	if (part->command[0] && strcmp(part->command, part->program) != 0)
		text_format(out, ": %s", part->command);
}

void evidence_part(const struct verdict_facts *facts, const struct verdict_rule *rule,
		   struct text *out)
{
	const struct path_part *part = part_of(facts, rule);

	if (!part)
		return;
	unit_format_share(out, share_of((double)part->ns, facts->whole));
	text_append_string(out, " in ");
	said_part_name(part, out);
	if (part->peer[0] && rule->cause != CAUSE_CPU_QUOTA) {
		text_append_string(out, part->kind == PATH_RUN_QUEUE ? ", behind " : ", ended by ");
		text_append_string(out, part->peer);
		text_append_string(out, " for ");
		unit_format_real(out, UNIT_NS, (double)part->peer_ns);
	}
	said_command(part, out);
}
