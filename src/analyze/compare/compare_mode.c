/* SPDX-License-Identifier: MIT */
#include "analyze/compare/compare_mode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compare/layout/compare_layout.h"
#include "analyze/compare/comparison.h"
#include "analyze/match/exited.h"
#include "analyze/verdict/losses.h"
#include "base/error.h"
#include "model/run/run_snapshot.h"

__attribute__((format(printf, 2, 3))) static int note(struct comparison *comparison,
						      const char *format, ...)
{
	char buffer[1024];
	va_list arguments;
	const char *copy;

	va_start(arguments, format);
	vsnprintf(buffer, sizeof(buffer), format, arguments);
	va_end(arguments);
	copy = arena_copy(&comparison->arena, buffer, strlen(buffer));
	return copy ? array_append(&comparison->notes, copy) : -ENOMEM;
}

static const struct fact *fact_of(const struct compare_side *side, enum fact_id id)
{
	return &side->snapshots[0]->facts[id];
}

/* Whether both sides have the fact; an unknown fact does not count as different. */
static bool both_have(const struct compare_side *sides, enum fact_id id)
{
	return fact_of(&sides[0], id)->present && fact_of(&sides[1], id)->present;
}

static bool differs(const struct compare_side *sides, enum fact_id id)
{
	const struct fact *a = fact_of(&sides[0], id), *b = fact_of(&sides[1], id);

	if (!a->present || !b->present)
		return false;
	return facts[id].is_text ? strcmp(a->text, b->text) != 0 : a->number != b->number;
}

static bool is_older(const struct compare_side *sides)
{
	return fact_of(&sides[1], FACT_boottime_ns)->number <
	       fact_of(&sides[0], FACT_boottime_ns)->number;
}

/* Whether the snapshots of a side are runs: 1, 0, or -1 when only some are. */
static int runs_of(const struct compare_side *side)
{
	for (size_t i = 1; i < side->count; i++)
		if (snapshot_is_run(side->snapshots[i]) != snapshot_is_run(side->snapshots[0]))
			return -1;
	return snapshot_is_run(side->snapshots[0]);
}

/* Why the sides cannot be an interval, or NULL. */
static const char *against_interval(const struct compare_side *sides)
{
	if (runs_of(&sides[0]) || runs_of(&sides[1]))
		return "each run is a whole of its own, not a moment";
	if (sides[0].count > 1 || sides[1].count > 1)
		return "a side has several snapshots";
	if (differs(sides, FACT_boot_id))
		return "the snapshots are of different boots";
	if (differs(sides, FACT_kernel_release))
		return "the snapshots have one boot id but different kernels";
	if (!both_have(sides, FACT_boottime_ns))
		return "a snapshot does not say when it was taken";
	if (differs(sides, FACT_pid_namespace))
		return "the snapshots number their tasks in different PID namespaces";
	if (is_older(sides))
		return "the second snapshot is older than the first; change their places for an interval";
	return NULL;
}

const char *compare_mode_refusal(const struct snapshot *before, const struct snapshot *after)
{
	const struct compare_side sides[SIDES] = { { &before, 1 }, { &after, 1 } };

	if (before->interval_ns || after->interval_ns)
		return "one of them is an interval itself";
	return both_have(sides, FACT_boot_id) ? against_interval(sides) :
						"a snapshot has no boot id";
}

/* Whether the snapshots of a side are intervals: 1, 0, or -1 when only some are. */
static int intervals_of(const struct compare_side *side)
{
	for (size_t i = 1; i < side->count; i++)
		if (!side->snapshots[i]->interval_ns != !side->snapshots[0]->interval_ns)
			return -1;
	return side->snapshots[0]->interval_ns > 0;
}

static int choose_intervals(const struct compare_side *sides, struct comparison *comparison)
{
	comparison->mode = COMPARE_INTERVALS;
	if (sides[0].count > 1 || sides[1].count > 1)
		return note(comparison,
			    "intervals: what was done in a second of each, %zu of them against %zu",
			    sides[0].count, sides[1].count);
	return note(comparison, "intervals: what was done in a second, in %.3f s against %.3f s",
		    (double)sides[0].snapshots[0]->interval_ns / 1e9,
		    (double)sides[1].snapshots[0]->interval_ns / 1e9);
}

static int choose_interval(const struct compare_side *sides, struct comparison *comparison)
{
	comparison->mode = COMPARE_INTERVAL;
	comparison->elapsed_ns = fact_of(&sides[1], FACT_boottime_ns)->number -
				 fact_of(&sides[0], FACT_boottime_ns)->number;
	if (!both_have(sides, FACT_boot_id))
		return note(comparison, "interval, as asked: a snapshot has no boot id, so that "
					"both are of one boot is taken for granted");
	return note(comparison, "interval: both snapshots are of one boot, %.3f s apart",
		    (double)comparison->elapsed_ns / 1e9);
}

static int choose_population(struct comparison *comparison, bool asked, const char *reason)
{
	comparison->mode = COMPARE_POPULATION;
	if (asked)
		return note(comparison, "population, as asked: each side as it stands");
	return note(comparison, "population: %s", reason);
}

int compare_mode_choose(const struct compare_side *sides, const struct compare_options *options,
			struct comparison *comparison, struct error *error)
{
	const char *against;

	if (intervals_of(&sides[0]) < 0 || intervals_of(&sides[0]) != intervals_of(&sides[1]))
		return error_set(error, -EINVAL,
				 "cannot compare an interval with a moment: give two moments, or "
				 "two intervals as A..B C..D");
	if (intervals_of(&sides[0]))
		return choose_intervals(sides, comparison);
	against = against_interval(sides);
	if (runs_of(&sides[0]) < 0 || runs_of(&sides[0]) != runs_of(&sides[1]))
		return error_set(error, -EINVAL,
				 "cannot compare a run with a capture: a run has all that its "
				 "tasks did, a capture what the host's tasks are at one moment");
	switch (options->mode) {
	case COMPARE_INTERVAL:
		if (against)
			return error_set(error, -EINVAL, "cannot compare as an interval: %s",
					 against);
		return choose_interval(sides, comparison);
	case COMPARE_POPULATION:
		return choose_population(comparison, true, NULL);
	case COMPARE_INTERVALS:
	case COMPARE_AUTO:
		break;
	}
	if (!against && !both_have(sides, FACT_boot_id))
		against = "a snapshot has no boot id";
	return against ? choose_population(comparison, false, against) :
			 choose_interval(sides, comparison);
}

/* The facts about a host that a comparison needs, with their names for people. */
static const struct {
	enum fact_id id;
	const char *what;
} context[] = {
	{ FACT_boot_id, "boot id" },	       { FACT_boottime_ns, "time since boot" },
	{ FACT_kernel_release, "kernel" },     { FACT_online_cpus, "online CPUs" },
	{ FACT_total_memory_bytes, "memory" },
};

static int note_context(struct comparison *comparison, const struct snapshot *snapshot,
			const char *side)
{
	char missing[128] = "";
	size_t length = 0, count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(context); i++) {
		if (snapshot->facts[context[i].id].present)
			continue;
		length += (size_t)snprintf(missing + length, sizeof(missing) - length, "%s%s",
					   count++ ? ", " : "", context[i].what);
	}
	return count ? note(comparison, "%s: not known of the host: %s", side, missing) : 0;
}

/* Levels of a minute cannot be added up to those of a moment. */
static int note_resolution(struct comparison *comparison, const struct snapshot *snapshot,
			   const char *side)
{
	if (!snapshot->facts[FACT_resolution].present)
		return 0;
	return note(comparison,
		    "%s: no tick is kept of that time: these are all processes of that minute, "
		    "also those that did not live at once, so sums are too large",
		    side);
}

static const char *side_name(bool after)
{
	return after ? "after" : "before";
}

/* What of a run may be more than it says. */
static int note_bounds(struct comparison *comparison, const struct snapshot *snapshot, bool after)
{
	static const char *const words[] = { "counts of tasks", "their times and amounts",
					     "peak memory" };
	unsigned bounds = run_snapshot_bounds(snapshot);
	char found[96] = "";
	size_t length = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (bounds & 1U << i)
			length += (size_t)snprintf(found + length, sizeof(found) - length, "%s%s",
						   length ? ", " : "", words[i]);
	return length ? note(comparison, "%s: at least, since something was missed: %s",
			     side_name(after), found) :
			0;
}

static int note_losses(struct comparison *comparison, const struct snapshot *snapshot, bool after)
{
	struct losses losses = losses_of(snapshot);
	const struct capture_tally *tally = &snapshot->tally;
	uint64_t dropped = tally->discarded_values + tally->negative_dotted_values;
	int status = note_resolution(comparison, snapshot, side_name(after));

	if (status == 0)
		status = note_context(comparison, snapshot, side_name(after));

	if (status == 0)
		status = note_bounds(comparison, snapshot, after);
	if (status == 0 && losses.read_failures && losses.dominant)
		status = note(
			comparison, "%s: %" PRIu64 " read%s failed, %s %s%s%s", side_name(after),
			losses.read_failures, losses.read_failures == 1 ? "" : "s",
			losses.read_failures == losses.dominant->failed ? "of" : "most of them of",
			losses.dominant->name, losses.dominant->reason ? ": " : "",
			losses.dominant->reason ? losses.dominant->reason : "");
	if (status == 0 && dropped)
		status = note(comparison, "%s: %" PRIu64 " impossible value%s dropped",
			      side_name(after), dropped, dropped == 1 ? " was" : "s were");
	return status;
}

/* Facts that make the sides different in kind, and the note for each. */
static const struct {
	enum fact_id id;
	const char *what;
} kinds[] = {
	{ FACT_cgroup_namespace, "the sides name cgroups in different cgroup namespaces" },
	{ FACT_cgroup_hierarchy, "the sides name cgroups in different hierarchies" },
	{ FACT_pid_namespace, "the sides number tasks in different PID namespaces" },
	{ FACT_task_source, "the sides were read in different ways" },
	{ FACT_counters_since, "the sides count from different moments" },
	{ FACT_filter, "the sides were limited to different tasks" },
};

static int note_kinds(const struct compare_side *sides, struct comparison *comparison)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		enum fact_id id = kinds[i].id;
		const struct fact *a = fact_of(&sides[0], id), *b = fact_of(&sides[1], id);
		const char *first, *second;
		/* An absent filter means that there was none; any other absent fact is unknown. */
		bool one_sided = id == FACT_filter && a->present != b->present;

		if (!one_sided && !differs(sides, id))
			continue;
		first = compare_fact_words(comparison, sides[0].snapshots[0], id);
		second = compare_fact_words(comparison, sides[1].snapshots[0], id);
		if (!first || !second ||
		    note(comparison, "%s: %s, then %s", kinds[i].what, first, second) < 0)
			return -ENOMEM;
	}
	return 0;
}

int compare_mode_note_sides(const struct compare_side *sides, struct comparison *comparison)
{
	int status = note_kinds(sides, comparison);

	for (int side = 0; side < SIDES; side++)
		for (size_t i = 0; i < sides[side].count && status == 0; i++)
			status = note_losses(comparison, sides[side].snapshots[i], side);
	return status;
}

/* Threads that ended while their processes live on. */
static size_t ended_threads(const struct join *join)
{
	size_t count = 0;

	for (uint32_t row = 0; row < join->after->process_count; row++)
		if (join_is_row(join->before_of_process[row]))
			count += join->ended_in_process[join->before_of_process[row]];
	return count;
}

/* Processes with threads that no snapshot has: known only from the totals that they keep. */
static size_t passed_processes(const struct join *join)
{
	size_t count = 0;

	for (uint32_t row = 0; row < join->after->process_count; row++)
		count += exited_passed(join, row);
	return count;
}

static bool has_totals(const struct snapshot *snapshot)
{
	return snapshot_measured(snapshot, METRIC_dead_run_time_ns) > 0;
}

int compare_mode_note_ended(const struct compare_layout *layout, struct comparison *comparison)
{
	const struct join *join = &layout->join;
	size_t ended = ended_threads(join), passed = passed_processes(join);
	int status = 0;

	comparison->processes_ended = join->processes_ended;
	if (join->processes_ended)
		status = note(
			comparison,
			"%zu process%s ended: what %s did in between is in the child_ metrics of "
			"parents that waited, and nowhere else",
			join->processes_ended, join->processes_ended == 1 ? "" : "es",
			join->processes_ended == 1 ? "it" : "they");
	if (status == 0 && ended && !(has_totals(join->before) && has_totals(join->after)))
		status = note(
			comparison,
			"%zu thread%s ended of processes that live on, without totals of their "
			"CPU time: differences are of threads that stayed or were born",
			ended, ended == 1 ? "" : "s");
	else if (status == 0 && ended)
		status = note(
			comparison,
			"%zu thread%s ended of processes that live on: their CPU time, context "
			"switches, faults and I/O are counted, nothing else of them is known",
			ended, ended == 1 ? "" : "s");
	if (status == 0 && join->missed)
		status = note(
			comparison,
			"%zu %s older than the first snapshot but only in the second: what was "
			"done in between is not known",
			join->missed, join->missed == 1 ? "task is" : "tasks are");
	if (status == 0 && passed)
		status = note(
			comparison,
			"threads came and went in between in %zu process%s: their CPU time, context "
			"switches, faults and I/O are counted, nothing else of them is known",
			passed, passed == 1 ? "" : "es");
	return status;
}
