/* SPDX-License-Identifier: MIT */
/* The program, thread or peer that a cause is about. */
#include <string.h>

#include "analyze/path/path_words.h"
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
		if (wait->longest_ns) { /* samples know sums only */
			text_append_string(out, ", longest ");
			unit_format_real(out, UNIT_NS, (double)wait->longest_ns);
		}
		waker(wait, out);
		return;
	}
}

/* At a memory limit pages are waited for, or read again. */
static const struct path_part *limited_part(const struct verdict_facts *facts)
{
	static const uint8_t kinds[] = { WAIT_MEMORY, WAIT_DISK };
	const struct path_part *best = facts->who;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct path_part *part = path_main_part(facts->path, kinds[i], PATH_ANY);

		if (part && (!best || part->ns > best->ns))
			best = part;
	}
	return best;
}

/* What a cause is about where the path has nothing of its rule's kind; the first that there is. */
static const struct {
	enum run_cause cause;
	uint8_t kind, via;
} stand_ins[] = {
	{ CAUSE_NETWORK, WAIT_POLL, PATH_ANY },
	{ CAUSE_LOCK, WAIT_TIMER, WAIT_LOCK },	/* held asleep */
	{ CAUSE_POLL, WAIT_NETWORK, PATH_ANY }, /* accept(2) waits for events too */
	{ CAUSE_POLL, WAIT_CONDITION, PATH_ANY },
	{ CAUSE_SLEEP, WAIT_CONDITION, PATH_ANY },
};

/* The part of the path that a cause is about. */
static const struct path_part *part_of(const struct verdict_facts *facts,
				       const struct verdict_rule *rule)
{
	const struct path_part *part;

	if (!facts->path || rule->kind == PATH_ANY)
		return NULL;
	if (rule->kind == PATH_CPU)
		return facts->who;
	if (rule->cause == CAUSE_MEMORY_LIMIT)
		return limited_part(facts);
	part = path_main_part(facts->path, rule->kind, PATH_ANY);
	if (rule->kind == WAIT_STOPPED && part &&
	    (double)part->ns < facts->handing_over[WAIT_STOPPED])
		return facts->who;
	for (size_t i = 0; !part && i < ARRAY_SIZE(stand_ins); i++)
		if (stand_ins[i].cause == rule->cause)
			part = path_main_part(facts->path, stand_ins[i].kind, stand_ins[i].via);
	return part ? part : facts->who;
}

/* A peer is outside of the tree, and has no part in a limit that the tree sets itself. */
static bool is_about_peer(const struct path_part *part, const struct verdict_rule *rule)
{
	return part->peer[0] && rule->cause != CAUSE_CPU_QUOTA &&
	       rule->cause != CAUSE_OVERSUBSCRIBED;
}

/* The process that a cause is about that is none of the path. */
static const struct tree_process *process_of(const struct verdict_facts *facts,
					     const struct verdict_rule *rule)
{
	if (rule->cause == CAUSE_OOM_KILL)
		return facts->killed;
	return rule->cause == CAUSE_FD_LIMIT ? facts->run->tree->fullest : NULL;
}

/* Where several threads of a program computed, the program is named, and none of them. */
static struct path_part without_thread(const struct verdict_facts *facts,
				       const struct path_part *part)
{
	struct path_part said = *part;

	if (part == facts->who && facts->who_is_many)
		said.thread[0] = '\0';
	return said;
}

void evidence_who(const struct verdict_facts *facts, const struct verdict_rule *rule,
		  struct text *out)
{
	const struct path_part *part = part_of(facts, rule);
	struct path_part said;

	if (rule->cause == CAUSE_RUN_QUEUE && facts->stolen > facts->starved / 2) {
		text_append_string(out, "the hypervisor");
		return;
	}
	if (process_of(facts, rule)) {
		text_append_string(out, process_of(facts, rule)->comm);
		return;
	}
	if (!part)
		return;
	said = without_thread(facts, part);
	if (rule->kind != PATH_CPU && is_about_peer(part, rule))
		text_append_string(out, part->peer);
	else
		path_part_name(&said, out);
}

void evidence_part(const struct verdict_facts *facts, const struct verdict_rule *rule,
		   struct text *out)
{
	const struct path_part *part = part_of(facts, rule);
	struct path_part said;

	if (!part)
		return;
	said = without_thread(facts, part);
	if (facts->path->of_busiest)
		text_append_string(out, "the first thread only waited: ");
	unit_format_share(
		out, share_of(part == facts->who ? facts->who_ns : (double)part->ns, facts->whole));
	text_append_string(out, " in ");
	path_part_command(&said, out);
	if (!is_about_peer(part, rule))
		return;
	text_format(out, "%s%s for ", part->kind == PATH_RUN_QUEUE ? ", behind " : ", ended by ",
		    part->peer);
	unit_format_real(out, UNIT_NS, (double)part->peer_ns);
}
