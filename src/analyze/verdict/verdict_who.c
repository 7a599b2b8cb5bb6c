/* SPDX-License-Identifier: MIT */
/* The program, thread or peer that a cause is about. */
#include <string.h>

#include "analyze/verdict/verdict_evidence.h"
#include "analyze/verdict/verdict_numbers.h"
#include "metric/unit.h"

#define COMMAND_COLUMNS 48

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

/* A peer is outside of the tree, and has no part in a limit that the tree sets itself. */
static bool is_about_peer(const struct path_part *part, const struct verdict_rule *rule)
{
	return part->peer[0] && rule->cause != CAUSE_CPU_QUOTA &&
	       rule->cause != CAUSE_OVERSUBSCRIBED;
}

void evidence_who(const struct verdict_facts *facts, const struct verdict_rule *rule,
		  struct text *out)
{
	const struct path_part *part = part_of(facts, rule);

	if (rule->cause == CAUSE_RUN_QUEUE && facts->stolen > facts->starved / 2) {
		text_append_string(out, "the hypervisor");
		return;
	}
	if (!part)
		return;
	if (rule->kind != PATH_CPU && is_about_peer(part, rule))
		text_append_string(out, part->peer);
	else
		said_part_name(part, out);
}

/* The command line without the folder of its first word. */
static const char *short_command(const struct path_part *part)
{
	const char *blank = strchr(part->command, ' ');
	const char *start = part->command;

	for (const char *at = start; *at && (!blank || at < blank); at++)
		if (*at == '/' && at[1])
			start = at + 1;
	return start;
}

/*
 * Appends a command line so that it can be read: without the backslashes before blanks, and of a
 * script inside of it the first line.
 */
static void said_words(const char *command, struct text *out)
{
	char last = ' ';

	for (size_t columns = 0; *command && columns < COMMAND_COLUMNS; command++) {
		if (*command == '\n' && last != ' ') {
			text_append_string(out, " ...");
			return;
		}
		if (*command == '\n')
			continue;
		if (*command == '\\' && command[1])
			command++;
		text_append(out, command, 1);
		last = *command;
		columns++;
	}
}

/* "sort -k3 big"; "heavy of solver x3 (run --all)": the command says more where it fits. */
static void said_command(const struct path_part *part, struct text *out)
{
	const char *command = short_command(part);
	size_t name = strlen(part->program);
	bool begins = strncmp(command, part->program, name) == 0 && part->processes <= 1;

	said_part_name(part, out);
	if (part->processes > 1)
		text_format(out, " x%llu", (unsigned long long)part->processes);
	if (begins) {
		said_words(command + name, out);
	} else if (command[0]) {
		text_append_string(out, " (");
		said_words(command, out);
		text_append_string(out, ")");
	}
}

void evidence_part(const struct verdict_facts *facts, const struct verdict_rule *rule,
		   struct text *out)
{
	const struct path_part *part = part_of(facts, rule);

	if (!part)
		return;
	if (facts->path->of_busiest)
		text_append_string(out, "the first thread only waited: ");
	unit_format_share(
		out, share_of(part == facts->who ? facts->who_ns : (double)part->ns, facts->whole));
	text_append_string(out, " in ");
	said_command(part, out);
	if (!is_about_peer(part, rule))
		return;
	text_format(out, "%s%s for ", part->kind == PATH_RUN_QUEUE ? ", behind " : ", ended by ",
		    part->peer);
	unit_format_real(out, UNIT_NS, (double)part->peer_ns);
}
