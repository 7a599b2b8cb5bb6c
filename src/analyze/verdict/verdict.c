/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "analyze/verdict/diagnosis.h"
#include "analyze/verdict/verdict_evidence.h"
#include "analyze/verdict/verdict_numbers.h"
#include "base/cleanup.h"
#include "metric/unit.h"

/* A shorter run says nothing about what limits a program; starting one takes as long. */
#define SHORTEST_NS 20e6
#define LINES_MAX 4
#define COLUMNS_MAX 100
/* The verdict is mixed when two causes of different classes are about equal and both below this. */
#define MIXED_BELOW 0.4
#define MIXED_SECOND 0.8
#define MOST_SURE 0.97
/* The confidence of "no cause found" is at most this. */
#define NONE_SURE 0.5
/* A handful of waits may be chance; this many are a pattern. */
#define FEW_SURE 0.5
#define MANY_WAITS 20.0
/* A wait on a condition may be for a lock or for work: their number is only a hint. */
#define TURNS_SURE 0.6
/* Waits that are estimates from samples: short ones are found by chance, their number is unknown. */
#define SAMPLED_SURE 0.85
/* Lost threads are mentioned when they are at least this part of all threads. */
#define LOST_PART 0.01

/* clang-format off */
const char *const class_names[CLASS_COUNT] = {
	[CLASS_CPU_BOUND]     = "cpu_bound",
	[CLASS_IO_BOUND]      = "io_bound",
	[CLASS_MEMORY_BOUND]  = "memory_bound",
	[CLASS_NETWORK_BOUND] = "network_bound",
	[CLASS_LOCK_BOUND]    = "lock_bound",
	[CLASS_STARVED]       = "starved",
	[CLASS_IDLE]          = "idle",
	[CLASS_MIXED]         = "mixed",
	[CLASS_UNKNOWN]       = "unknown",
};
/* clang-format on */

const struct cause_info causes[CAUSE_COUNT] = {
#define CAUSE(id, name, class, hint) [CAUSE_##id] = { name, CLASS_##class, hint },
#include "analyze/verdict/causes.def"
#undef CAUSE
};

struct ranking {
	double strengths[CAUSE_COUNT]; /* by rule */
	size_t first, second;	       /* rules */
};

static struct ranking rank(const struct verdict_facts *facts)
{
	struct ranking ranking = { .first = 0, .second = 0 };
	double *strengths = ranking.strengths;

	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		strengths[i] = verdict_rules[i].strength(facts);
		if (strengths[i] > strengths[ranking.first])
			ranking.first = i;
	}
	ranking.second = ranking.first ? 0 : 1;
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		if (i != ranking.first && strengths[i] > strengths[ranking.second])
			ranking.second = i;
	return ranking;
}

/* Names of threads are untrusted; a cut never leaves half a character. */
static void add_line(struct verdict *verdict, const struct text *line)
{
	CLEANUP(text_free) struct text shown = { 0 };
	const char *from;
	char *to = verdict->evidence[verdict->evidence_count];
	size_t length = 0;

	text_append_escaped(&shown, text_string(line), line->length);
	if (line->length == 0 || line->failed || shown.failed ||
	    verdict->evidence_count == LINES_MAX)
		return;
	from = text_string(&shown);
	for (size_t columns = 0; from[length] && columns < COLUMNS_MAX; columns++) {
		size_t bytes = text_character(from + length, strlen(from + length));

		if (bytes == 0)
			bytes = 1;
		if (length + bytes >= DIAGNOSIS_TEXT)
			break;
		length += bytes;
	}
	memcpy(to, from, length);
	to[length] = '\0';
	verdict->evidence_count++;
}

static void add_sentence(struct verdict *verdict, const char *sentence)
{
	CLEANUP(text_free) struct text line = { 0 };

	text_append_string(&line, sentence);
	add_line(verdict, &line);
}

static void add_evidence(struct verdict *verdict, const struct verdict_facts *facts,
			 verdict_evidence *evidence)
{
	CLEANUP(text_free) struct text line = { 0 };

	evidence(facts, &line);
	add_line(verdict, &line);
}

static void add_top_wait(struct verdict *verdict, const struct verdict_facts *facts)
{
	CLEANUP(text_free) struct text line = { 0 };

	evidence_top_wait(facts, verdict->cause, &line);
	add_line(verdict, &line);
}

static bool is_mixed(const struct ranking *ranking, size_t none)
{
	double first = ranking->strengths[ranking->first];

	if (ranking->second == none || first >= MIXED_BELOW ||
	    ranking->strengths[ranking->second] < first * MIXED_SECOND)
		return false;
	return causes[verdict_rules[ranking->first].cause].class !=
	       causes[verdict_rules[ranking->second].cause].class;
}

/* The part of all threads that were not followed to their end. */
static double lost_part(const struct run *run)
{
	double lost = (double)run->losses.threads + (double)run->losses.untracked_tasks;
	double all = (double)run->tree->threads + (double)run->losses.untracked_tasks;

	return lesser(share_of(lost, all), 1);
}

/* How much was measured of what a verdict is based on. */
static double foundation(const struct verdict_facts *facts)
{
	double sure = facts->has_ledger ? 1 : 0.6;

	if (facts->is_sampled)
		sure *= SAMPLED_SURE;
	if (!facts->has_calls)
		sure *= 0.9;
	if (facts->wall < 10 * SHORTEST_NS)
		sure *= 0.7;
	/* A lost thread still contributes what was known of it. */
	return sure * (1 - lost_part(facts->run) / 2);
}

/* How many waits support a cause; -1 when the cause is not about waits for others. */
static double waits_for(const struct verdict_facts *facts, enum run_cause cause)
{
	const struct amounts *amounts = &facts->run->tree->amounts;

	switch (cause) {
	case CAUSE_LOCK:
		return facts->lock_waits;
	case CAUSE_PIPE:
		return waited_count(amounts, WAIT_PIPE);
	case CAUSE_NETWORK: /* also in poll() for it */
		return waited_count(amounts, WAIT_NETWORK) + waited_count(amounts, WAIT_POLL);
	default:
		return -1;
	}
}

/* The highest confidence that a cause can have, however far it leads. */
static double most_sure(const struct verdict_facts *facts, enum run_cause cause)
{
	double count = waits_for(facts, cause);

	if (cause == CAUSE_NONE)
		return NONE_SURE;
	if (evidence_is_conditions(facts, cause) && facts->in_turns)
		return TURNS_SURE;
	if (count < 0)
		return MOST_SURE;
	return FEW_SURE + (MOST_SURE - FEW_SURE) * share_of(count, MANY_WAITS);
}

/* From the lead over the next cause, and how much of the time the cause explains. */
static double confidence(const struct ranking *ranking, const struct verdict_facts *facts)
{
	double first = ranking->strengths[ranking->first];
	double second = ranking->second == CAUSE_COUNT - 1 ?
				share_of(facts->unexplained, facts->demand) :
				ranking->strengths[ranking->second];
	double lead = first > 0 ? first / (first + second) : 0;

	if (first > 1)
		return MOST_SURE;
	lead *= (first < 0.5 ? 0.5 + first : 1) * foundation(facts);
	return lead < MOST_SURE ? lead : MOST_SURE;
}

static void name_cause(struct verdict *verdict, const struct verdict_facts *facts,
		       const struct ranking *ranking)
{
	const struct verdict_rule *rule = &verdict_rules[ranking->first];

	verdict->cause = rule->cause;
	verdict->class =
		is_mixed(ranking, CAUSE_COUNT - 1) ? CLASS_MIXED : causes[rule->cause].class;
	verdict->confidence = lesser(confidence(ranking, facts), most_sure(facts, rule->cause));
	add_evidence(verdict, facts, rule->evidence);
	add_top_wait(verdict, facts);
}

/* Stopped, or waiting for children that are not followed: idle without one of the known causes. */
static bool is_plainly_idle(const struct verdict_facts *facts)
{
	return facts->has_ledger && facts->idle > facts->wall / 2;
}

static void add_idle_reason(struct verdict *verdict, const struct verdict_facts *facts)
{
	bool stopped = facts->wait[WAIT_STOPPED] > facts->wait[WAIT_CHILD];

	verdict->class = CLASS_IDLE;
	add_sentence(verdict,
		     stopped ? "it was stopped most of the time" :
			       "it waited for the end of children or threads most of the time");
}

static bool is_too_short(const struct verdict_facts *facts, const struct ranking *ranking)
{
	return facts->wall < SHORTEST_NS && ranking->strengths[ranking->first] <= 1;
}

static void say_too_short(struct verdict *verdict, const struct verdict_facts *facts)
{
	CLEANUP(text_free) struct text line = { 0 };

	text_append_string(&line, "insufficient data: it was watched for only ");
	unit_format_real(&line, UNIT_NS, facts->wall);
	add_line(verdict, &line);
}

static void say_missing(struct verdict *verdict, const struct verdict_facts *facts)
{
	if (!facts->has_ledger && verdict->cause != CAUSE_NONE)
		add_sentence(verdict,
			     "insufficient data: waits were not measured, so more may limit it");
	else if (lost_part(facts->run) > LOST_PART)
		add_sentence(verdict, "some threads were lost: see losses");
}

/* Returns true when it said that waits were not measured, which then need not be said again. */
static bool say_second(struct verdict *verdict, const struct verdict_facts *facts,
		       const struct ranking *ranking)
{
	const struct verdict_rule *rule = &verdict_rules[ranking->second];

	if (verdict->cause == CAUSE_NONE ||
	    ranking->strengths[ranking->second] <= ranking->strengths[ranking->first] / 3)
		return false;
	add_evidence(verdict, facts, rule->evidence);
	return rule->cause == CAUSE_NONE && !facts->has_ledger;
}

static void reach_verdict(const struct run *run, struct verdict *ret)
{
	struct verdict_facts facts;
	struct ranking ranking;

	*ret = (struct verdict){ .class = CLASS_UNKNOWN, .cause = CAUSE_NONE };
	verdict_facts_gather(run, &facts);
	ranking = rank(&facts);
	if (is_too_short(&facts, &ranking)) {
		say_too_short(ret, &facts);
	} else {
		name_cause(ret, &facts, &ranking);
		if (ret->cause == CAUSE_NONE && is_plainly_idle(&facts))
			add_idle_reason(ret, &facts);
		/* Before the last line, which may find no room. */
		if (!say_second(ret, &facts, &ranking))
			say_missing(ret, &facts);
		add_evidence(ret, &facts, evidence_split);
	}
	ret->hint = causes[ret->cause].hint;
}

void diagnose(const struct run *run, struct diagnosis *ret)
{
	syscalls_analyze(run, &ret->syscalls);
	offcpu_analyze(run, &ret->offcpu);
	reach_verdict(run, &ret->verdict);
}
