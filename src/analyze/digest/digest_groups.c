/* SPDX-License-Identifier: MIT */
/* Rules of a digest about groups that came, went or were restarted. */
#include <math.h>

#include "analyze/digest/digest_parts.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"

/* A group is small with less than this: of one CPU in ns a second, and of memory. */
#define SMALL_CPU 50e6
#define SMALL_RSS (16.0 * 1024 * 1024)
/* A restarted one is worth a word from here on. */
#define QUIET_CPU 10e6
/* The part of the interval that a service lives for at least, on either side. */
#define SHORT_LIFE 0.2
/* By how much more of its time a group sleeps, and how much more it burns, when it does. */
#define MORE_SLEEP 0.02
#define MORE_CPU 1.1

/* A group that one side has, and is large enough. */
static bool is_lone(const struct digester *digester, const struct compared_group *group,
		    bool is_new)
{
	bool before = group->tasks_before || group->missed, after = group->tasks_after;

	if (digest_is_own(group) || (is_new ? before || !after : after || !group->tasks_before))
		return false;
	/* Threads of the kernel, which have no memory, come and go without a meaning. */
	return group->has_rss && ((double)group->rss_bytes >= SMALL_RSS ||
				  (group->has_run_time &&
				   (double)group->run_time_ns >= SMALL_CPU * digester->seconds));
}

static int say_lone(struct digester *digester, const struct digest_rule *rule, bool is_new)
{
	const struct comparison *base = digester->base;
	const struct compared_group *largest = NULL;
	CLEANUP(text_free) struct text after = { 0 };
	struct digest_line line = { .resource = rule->resource };
	size_t count = 0;

	for (size_t i = 0; i < digester->layout->first_exited; i++) {
		const struct compared_group *group = compare_group(digester->layout, base, i);

		if (!is_lone(digester, group, is_new))
			continue;
		count++;
		if (!largest || group->run_time_ns > largest->run_time_ns)
			largest = group;
	}
	if (!largest)
		return 0;
	line.who = largest->key;
	line.metric = metrics[METRIC_thread_count].name;
	line.section = compare_section_of(METRIC_thread_count);
	if (count > 1)
		text_format(&after, " and %zu other group%s are %s", count - 1,
			    count == 2 ? "" : "s", is_new ? "new" : "gone");
	else
		text_append_string(&after, is_new ? " is new" : " is gone");
	return digest_say(digester, line, "", &after);
}

int digest_births(struct digester *digester, const struct digest_rule *rule)
{
	return say_lone(digester, rule, true);
}

int digest_deaths(struct digester *digester, const struct digest_rule *rule)
{
	return say_lone(digester, rule, false);
}

/* What a task of a group does in a second of its life, on both sides. */
struct lives {
	uint32_t group;
	double run[SIDES], wait[SIDES];
};

static double sleep_of(const struct lives *lives, int side)
{
	return fmax(1 - (lives->run[side] + lives->wait[side]) / 1e9, 0);
}

/*
 * Compilers and shells come and go all the time, and so are never the same: a
 * group was restarted if its tasks live for a good part of the interval.
 */
static bool is_candidate(const struct digester *digester, size_t group)
{
	const struct compared_group *of = compare_group(digester->layout, digester->base, group);
	const struct compare_run *runs = digester->layout->runs;
	const double *old = runs[0].rows[METRIC_OF_THREAD].lives;
	const double *new = runs[1].rows[METRIC_OF_THREAD].lives;

	if (of->restart == RESTART_NONE || digest_is_own(of) || !old || !new)
		return false;
	return old[group] >= SHORT_LIFE * digester->seconds * of->tasks_before &&
	       new[group] >= SHORT_LIFE * digester->seconds * of->tasks_after;
}

static double cpu_of(const struct digester *digester, const struct lives *lives)
{
	const struct compared_group *of =
		compare_group(digester->layout, digester->base, lives->group);

	return fmax(lives->run[0] * of->tasks_before, lives->run[1] * of->tasks_after);
}

/* How much more of its time the group sleeps without burning more; 0: it does not. */
static double more_sleep(const struct lives *lives)
{
	double more = sleep_of(lives, 1) - sleep_of(lives, 0);

	return more >= MORE_SLEEP && lives->run[1] <= MORE_CPU * lives->run[0] ? more : 0;
}

struct found {
	ARRAY_OF(struct lives) lives;
};

static void found_clear(struct found *found)
{
	array_free(&found->lives);
}

static bool life_rates(const struct digester *digester, size_t group, double *ret)
{
	return compare_work_life_rate(&digester->work, 0, group, &ret[0]) &&
	       compare_work_life_rate(&digester->work, 1, group, &ret[1]);
}

static int find_lives(struct digester *digester, struct found *ret)
{
	int status = compare_work_fold(&digester->work, &metrics[METRIC_run_time_ns]);

	for (uint32_t i = 0; i < digester->layout->first_exited && status == 0; i++) {
		struct lives lives = { .group = i };

		if (is_candidate(digester, i) && life_rates(digester, i, lives.run) &&
		    cpu_of(digester, &lives) >= QUIET_CPU)
			status = array_append(&ret->lives, lives);
	}
	if (status == 0 && ret->lives.count)
		status = compare_work_fold(&digester->work, &metrics[METRIC_wait_time_ns]);
	for (size_t i = 0; i < ret->lives.count && status == 0; i++) {
		struct lives *lives = &ret->lives.data[i];

		if (!life_rates(digester, lives->group, lives->wait))
			lives->wait[0] = lives->wait[1] = 0;
	}
	return status;
}

/* The group that sleeps so much more, or else the one that burns most; NULL: none is left. */
static struct lives *pick_lives(const struct digester *digester, struct found *found)
{
	struct lives *best = NULL;

	for (size_t i = 0; i < found->lives.count; i++) {
		struct lives *lives = &found->lives.data[i];

		if (lives->group == NO_GROUP)
			continue;
		if (!best || more_sleep(lives) > more_sleep(best) ||
		    (more_sleep(lives) == more_sleep(best) &&
		     cpu_of(digester, lives) > cpu_of(digester, best)))
			best = lives;
	}
	return best;
}

static void append_sleep(struct text *out, const struct lives *lives)
{
	text_append_string(out, "it sleeps more, ");
	unit_format_share(out, sleep_of(lives, 0));
	text_append_string(out, " → ");
	unit_format_share(out, sleep_of(lives, 1));
	text_append_string(out, ", burns no more CPU");
}

static void append_burn(struct text *out, const struct lives *lives)
{
	text_format(out, "CPU of a task %.3f → %.3f s/s", lives->run[0] / 1e9, lives->run[1] / 1e9);
}

static int say_lives(struct digester *digester, const struct digest_rule *rule,
		     const struct lives *lives)
{
	const struct compared_group *group =
		compare_group(digester->layout, digester->base, lives->group);
	CLEANUP(text_free) struct text after = { 0 }, hint = { 0 };
	struct digest_line line = { .resource = rule->resource,
				    .who = group->key,
				    .has_delta = true,
				    .delta = lives->run[1] - lives->run[0],
				    .section = compare_section_of(METRIC_run_time_ns),
				    .metric = metrics[METRIC_run_time_ns].name };
	int status;

	text_append_string(&after, " was restarted: ");
	if (more_sleep(lives) == 0) {
		append_burn(&after, lives);
		return digest_say(digester, line, "", &after);
	}
	append_sleep(&after, lives);
	status = digest_say(digester, line, "", &after);
	text_append_string(&hint, " sleeps");
	return status < 0 ? status :
			    digest_say(digester, line, "`taskscope attach` tells why ", &hint);
}

int digest_restarts(struct digester *digester, const struct digest_rule *rule)
{
	CLEANUP(found_clear) struct found found = { 0 };
	int status = find_lives(digester, &found);

	for (unsigned i = 0; i < rule->most && status == 0; i++) {
		struct lives *lives = pick_lives(digester, &found);

		if (!lives)
			break;
		status = say_lives(digester, rule, lives);
		lives->group = NO_GROUP;
	}
	return status;
}
