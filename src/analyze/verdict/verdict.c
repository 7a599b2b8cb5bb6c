/* SPDX-License-Identifier: MIT */
#include <math.h>
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
#define CUT_MARK "…"
/* The verdict is mixed when two causes of different classes are about equal and both below this. */
#define MIXED_BELOW 0.4
#define MIXED_SECOND 0.8
/* "No cause found" is a guess at best. */
#define NONE_SCORE 0.4
/* What was not judged along the path is less sure, and less still without any waits. */
#define BY_SUMS 0.65
#define BY_CPU 0.5
#define WITHOUT_CALLS 0.9
#define SHORT_RUN 0.7
/* Waits that are estimates from samples: short ones are found by chance, their number is unknown. */
#define SAMPLED_SURE 0.85
/*
 * What a thread waits for that is to be woken by another is not visible: a queue's next item, or a
 * lock that is made of a semaphore, as Python's are.
 */
#define WOKEN_SURE 0.6
/* A wait with a time limit is a sleep, or a wait for work that did not come. */
#define TIMED_SURE 0.65
/* A thread that may collect garbage, by its name or its functions, also does other work. */
#define COLLECTOR_SURE 0.65
/* Where collecting has this share of the computing, that it is not most of it may be chance. */
#define COLLECTING_MUCH 0.25
/* Calls that nearly all fail may ask for the same in vain, or look for many things that are not there. */
#define FAILING_SURE 0.65
/* Threads that do not get a lock at all may have nothing to do: some park idle workers like that. */
#define KEPT_OUT_SURE 0.65
/*
 * Where others had the CPU for this share of the time, whoever computes is not far from being starved, and
 * threads that share a lock meet less often.
 */
#define SHARED_MUCH 0.35
#define SHARED_SURE 0.65
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
#define CAUSE(id, name, class, basis, right, said, hint)                                           \
	[CAUSE_##id] = { name, CLASS_##class, hint, CAUSE_BASIS_##basis, right, said },
#include "analyze/verdict/causes.def"
#undef CAUSE
};

/*
 * A low score is a close race, or a case where what was measured fits another cause as well: then an answer
 * is not surer than the share of such answers that was right, rounded down.  Of 856 answers of the whole corpus
 * 45 had a score from 0.6 on, 36 of them right, and 13 one from 0.5 on, 9 of them right.
 */
static const struct {
	double score, most;
} calibration[] = { { 0.7, 1 }, { 0.6, 0.80 }, { 0.5, 0.69 } };

/* What is known of a cause before its first answer: as if it had so many that were as good as the average. */
#define AVERAGE_ANSWERS 8.0

struct answers {
	double right, said;
};

/* Those of a cause, or where `is_like` is NULL all. */
static struct answers answers_of(bool (*is_like)(enum run_cause cause, enum run_cause other),
				 enum run_cause cause)
{
	struct answers sum = { 0 };

	for (enum run_cause i = 0; i < CAUSE_COUNT; i++) {
		if (is_like && !is_like(cause, i))
			continue;
		sum.right += causes[i].right;
		sum.said += causes[i].said;
	}
	return sum;
}

/* Causes that rest on facts have one record, since each of them is rare. */
static bool have_one_record(enum run_cause cause, enum run_cause other)
{
	return cause == other ||
	       (causes[cause].basis == CAUSE_BASIS_FACT && causes[other].basis == CAUSE_BASIS_FACT);
}

/*
 * A lower bound of the share of such answers that is right: the mean less the standard deviation of what
 * the record leaves possible (a beta distribution).  So few answers say less than many, also if all were right.
 */
static double earned(enum run_cause cause)
{
	struct answers all = answers_of(NULL, cause), own = answers_of(have_one_record, cause);
	double said = own.said + AVERAGE_ANSWERS;
	double mean = (own.right + AVERAGE_ANSWERS * share_of(all.right, all.said)) / said;

	return mean - sqrt(mean * (1 - mean) / (said + 1));
}

double verdict_confidence(enum run_cause cause, double score)
{
	for (size_t i = 0; i < ARRAY_SIZE(calibration); i++)
		if (score >= calibration[i].score)
			return lesser(earned(cause), calibration[i].most);
	return 0;
}

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

/* How many bytes the first characters have that take so many columns and fit into the room. */
static size_t cut_length(const char *text, size_t columns, size_t room)
{
	size_t length = 0;

	for (; text[length] && columns; columns--) {
		size_t bytes = text_character(text + length, strlen(text + length));

		if (length + (bytes ? bytes : 1) > room)
			break;
		length += bytes ? bytes : 1;
	}
	return length;
}

void verdict_copy_line(const char *line, char to[DIAGNOSIS_TEXT])
{
	size_t length = cut_length(line, COLUMNS_MAX, DIAGNOSIS_TEXT - 1);
	const char *mark = "";

	if (line[length]) {
		length = cut_length(line, COLUMNS_MAX - 1, DIAGNOSIS_TEXT - sizeof(CUT_MARK));
		mark = CUT_MARK;
	}
	snprintf(to, DIAGNOSIS_TEXT, "%.*s%s", (int)length, line, mark);
}

/* Names of threads are untrusted. */
static bool copy_shown(const struct text *from, char to[DIAGNOSIS_TEXT])
{
	CLEANUP(text_free) struct text shown = { 0 };

	text_append_escaped(&shown, text_string(from), from->length);
	verdict_copy_line(from->failed || shown.failed ? "" : text_string(&shown), to);
	return to[0] != '\0';
}

static void add_line(struct verdict *verdict, const struct text *line)
{
	if (verdict->evidence_count < LINES_MAX &&
	    copy_shown(line, verdict->evidence[verdict->evidence_count]))
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

/* Names the program, thread or peer that it is about, in the verdict itself and as a line. */
static void add_who(struct verdict *verdict, const struct verdict_facts *facts,
		    const struct verdict_rule *rule)
{
	CLEANUP(text_free) struct text name = { 0 };
	CLEANUP(text_free) struct text line = { 0 };

	evidence_who(facts, rule, &name);
	copy_shown(&name, verdict->who);
	evidence_part(facts, rule, &line);
	if (line.length == 0)
		evidence_top_wait(facts, rule, &line);
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
	double sure = facts->path ? 1 : facts->has_ledger ? BY_SUMS : BY_CPU;

	if (facts->is_sampled)
		sure *= SAMPLED_SURE;
	if (!facts->has_calls)
		sure *= WITHOUT_CALLS;
	if (facts->wall < 10 * SHORTEST_NS)
		sure *= SHORT_RUN;
	/* A lost thread still contributes what was known of it. */
	return sure * (1 - lost_part(facts->run) / 2);
}

/* From the lead over the next cause, and how much of the time the cause explains. */
static double score(const struct ranking *ranking, const struct verdict_facts *facts)
{
	double first = ranking->strengths[ranking->first];
	double second = ranking->second == CAUSE_COUNT - 1 ?
				share_of(facts->unexplained, facts->whole) :
				ranking->strengths[ranking->second];
	double lead = first > 0 ? first / (first + second) : 0;

	if (first > 1)
		return 1;
	return lead * lesser(1, 0.5 + first) * foundation(facts);
}

/* The most that the score of a cause can be, where what was measured fits another cause as well. */
static double sure_of(const struct verdict_rule *rule, const struct verdict_facts *facts)
{
	enum run_cause cause = rule->cause;

	if (cause == CAUSE_NONE)
		return NONE_SCORE;
	if (rule->kind == PATH_CPU && facts->shared >= SHARED_MUCH * facts->whole)
		return SHARED_SURE;
	if (cause == CAUSE_POLL && verdict_is_woken(facts))
		return WOKEN_SURE;
	if (cause == CAUSE_SPINNING && fails_in_vain(&facts->sums))
		return FAILING_SURE;
	if (cause == CAUSE_SLEEP && facts->timed > facts->wait[WAIT_TIMER])
		return TIMED_SURE;
	if (cause == CAUSE_GC && (crew_may_be_collector(facts->who->thread) ||
				  !crew_is_collector(&facts->crew, facts->who->thread)))
		return COLLECTOR_SURE;
	if ((cause == CAUSE_CPU || cause == CAUSE_SERIALISED) &&
	    facts->collecting >= COLLECTING_MUCH)
		return COLLECTOR_SURE;
	if ((cause == CAUSE_CPU || cause == CAUSE_SERIALISED) && verdict_is_kept_out(facts))
		return KEPT_OUT_SURE;
	return 1;
}

static void name_cause(struct verdict *verdict, const struct verdict_facts *facts,
		       const struct ranking *ranking)
{
	const struct verdict_rule *rule = &verdict_rules[ranking->first];

	verdict->cause = rule->cause;
	verdict->class =
		is_mixed(ranking, CAUSE_COUNT - 1) ? CLASS_MIXED : causes[rule->cause].class;
	verdict->score = lesser(score(ranking, facts), sure_of(rule, facts));
	verdict->confidence = verdict_confidence(verdict->cause, verdict->score);
	add_evidence(verdict, facts, rule->evidence);
	add_who(verdict, facts, rule);
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

static void reach_verdict(const struct verdict_facts *facts, struct verdict *ret)
{
	struct ranking ranking = rank(facts);

	*ret = (struct verdict){ .class = CLASS_UNKNOWN, .cause = CAUSE_NONE };
	if (is_too_short(facts, &ranking)) {
		say_too_short(ret, facts);
	} else {
		name_cause(ret, facts, &ranking);
		/* Before the last line, which may find no room. */
		if (!say_second(ret, facts, &ranking))
			say_missing(ret, facts);
		add_evidence(ret, facts, evidence_split);
	}
	ret->hint = causes[ret->cause].hint;
}

void verdict_say_timed(struct verdict *verdict)
{
	verdict->cause = CAUSE_SLEEP;
	verdict->class = causes[CAUSE_SLEEP].class;
	verdict->hint = causes[CAUSE_SLEEP].hint;
	verdict->score = TIMED_SURE;
	verdict->confidence = verdict_confidence(verdict->cause, verdict->score);
}

void diagnose(const struct run *run, struct diagnosis *ret)
{
	struct verdict_facts facts;

	verdict_facts_gather(run, &facts);
	reach_verdict(&facts, &ret->verdict);
	syscalls_analyze(run, &ret->verdict, &ret->syscalls);
	offcpu_analyze(&facts, &ret->offcpu);
}
