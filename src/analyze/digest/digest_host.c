/* SPDX-License-Identifier: MIT */
/*
 * Rules of a digest about how busy the host and its disks were.  They read the host's own
 * figures of both sides: counters of the interval, of the run or since boot.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compare/layout/compare_layout.h"
#include "analyze/digest/digest_parts.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"

/* A share that changed by less than this is told once, not as before and after. */
#define STEADY_SHARE 0.05
#define DISKS_MAX 4

/* The counter of a side, of all its snapshots together; false when one of them lacks it. */
static bool total_of(const struct digester *digester, int side, const char *name, double *ret)
{
	const struct compare_layout *layout = digester->layout;

	*ret = 0;
	for (size_t i = compare_first(layout, side); i < compare_end(layout, side); i++) {
		const struct sheet *sheet = &layout->runs[i].snapshot->sheets[SHEET_HOST];
		uint64_t value = 0;

		if (!sheet->row_count ||
		    column_get(sheet_find(sheet, name), 0, &value) != CELL_NUMBER)
			return false;
		*ret += (double)value;
	}
	return true;
}

/* What the counter added while the side lasted.  Before an interval there is no such time. */
static bool added(const struct digester *digester, int side, const char *name, double *ret)
{
	double before;

	if (digester->form != DIGEST_DONE)
		return total_of(digester, side, name, ret);
	if (side == 0 || !total_of(digester, 0, name, &before) ||
	    !total_of(digester, 1, name, ret) || *ret < before)
		return false;
	*ret -= before;
	return true;
}

/* How long the side lasted, in ns; 0: not known. */
static double lasted(const struct digester *digester, int side)
{
	const struct compare_layout *layout = digester->layout;
	double sum = 0;

	if (digester->form == DIGEST_DONE)
		return (double)digester->base->elapsed_ns;
	for (size_t i = compare_first(layout, side); i < compare_end(layout, side); i++) {
		const struct snapshot *snapshot = layout->runs[i].snapshot;
		enum fact_id age = snapshot_is_run(snapshot) ? FACT_duration_ns : FACT_boottime_ns;

		sum += digester->form == DIGEST_RATES ? (double)snapshot->interval_ns :
							(double)snapshot->facts[age].number;
	}
	return sum;
}

/* How busy something was on each side, 0 to 1; NAN: not known. */
struct busy {
	double share[SIDES];
};

/* Counters of captures count since boot, those of a run since it began. */
static bool is_since_boot(const struct digester *digester)
{
	const struct compare_layout *layout = digester->layout;

	return digester->form == DIGEST_LIVES &&
	       !snapshot_is_run(layout->runs[layout->before_count].snapshot);
}

/* " was 20 % → 97 % busy since boot" */
static void append_busy(struct text *out, const struct digester *digester, const struct busy *busy)
{
	text_append_string(out, " was ");
	if (fabs(busy->share[1] - busy->share[0]) >= STEADY_SHARE) {
		unit_format_share(out, busy->share[0]);
		text_append_string(out, " → ");
	}
	unit_format_share(out, busy->share[1]);
	text_append_string(out, " busy");
	if (is_since_boot(digester))
		text_append_string(out, " since boot");
}

static int say_busy(struct digester *digester, const struct digest_rule *rule, const char *who,
		    const char *reading, const struct busy *busy, const char *rest)
{
	CLEANUP(text_free) struct text after = { 0 };
	struct digest_line line = { .resource = rule->resource,
				    .who = who,
				    .section = COMPARE_HOST_USAGE,
				    .group = "host",
				    .metric = reading,
				    .has_capacity = true,
				    .of_capacity = busy->share[1] };

	if (!isnan(busy->share[0])) {
		line.has_delta = true;
		line.delta = busy->share[1] - busy->share[0];
	}
	append_busy(&after, digester, busy);
	text_append_string(&after, rest);
	return digest_say(digester, line, "", &after);
}

/* Whether the last side is busy enough to name it. */
static bool is_busy(const struct digest_rule *rule, const struct busy *busy)
{
	return busy->share[1] >= rule->floor;
}

static const struct cpu_mode {
	const char *reading, *words;
	bool is_idle;
} cpu_modes[] = {
	{ "stat cpu user", "user", false },	  { "stat cpu nice", "nice", false },
	{ "stat cpu system", "system", false },	  { "stat cpu irq", "interrupts", false },
	{ "stat cpu softirq", "softirq", false }, { "stat cpu steal", "stolen", false },
	{ "stat cpu idle", "idle", true },	  { "stat cpu iowait", "iowait", true },
};

/* The share of each mode of CPU time, and of all that is not idle; NAN when not known. */
static double share_modes(const struct digester *digester, int side,
			  double shares[static ARRAY_SIZE(cpu_modes)])
{
	double all = 0, busy = 0;

	for (size_t i = 0; i < ARRAY_SIZE(cpu_modes); i++) {
		/* The kernel's sum of iowait can fall: what it added is not known then. */
		bool is_known = added(digester, side, cpu_modes[i].reading, &shares[i]);

		if (!is_known && strcmp(cpu_modes[i].words, "idle") == 0)
			return NAN;
		shares[i] = is_known ? shares[i] : 0;
		all += shares[i];
		busy += cpu_modes[i].is_idle ? 0 : shares[i];
	}
	for (size_t i = 0; i < ARRAY_SIZE(cpu_modes); i++)
		shares[i] /= all;
	return all > 0 ? busy / all : NAN;
}

/* The busy mode with the largest share, but for one; -1: none has a hundredth. */
static int largest_mode(const double *shares, int other)
{
	int most = -1;

	for (int i = 0; i < (int)ARRAY_SIZE(cpu_modes); i++)
		if (i != other && !cpu_modes[i].is_idle && shares[i] >= 0.01 &&
		    (most < 0 || shares[i] > shares[most]))
			most = i;
	return most;
}

/* " (61 % user, 36 % system)": the two modes that most of the time was spent in. */
static void append_modes(struct text *out, const double *shares)
{
	int most = largest_mode(shares, -1), next = largest_mode(shares, most);

	text_format(out, " (%.0f %% %s", shares[most] * 100, cpu_modes[most].words);
	if (next >= 0)
		text_format(out, ", %.0f %% %s", shares[next] * 100, cpu_modes[next].words);
	text_append_string(out, ")");
}

/* A host that has no idle time left explains what waits. */
int digest_host_busy(struct digester *digester, const struct digest_rule *rule)
{
	CLEANUP(text_free) struct text rest = { 0 };
	double shares[ARRAY_SIZE(cpu_modes)];
	struct busy busy = { { share_modes(digester, 0, shares), NAN } };

	busy.share[1] = share_modes(digester, 1, shares);
	if (!is_busy(rule, &busy))
		return 0;
	if (largest_mode(shares, -1) >= 0)
		append_modes(&rest, shares);
	if (!is_since_boot(digester))
		text_append_string(&rest, ": no CPU time left");
	return rest.failed ?
		       -ENOMEM :
		       say_busy(digester, rule, "host", "stat cpu idle", &busy, text_string(&rest));
}

/* The share of a side's time in which a counter of busy time grew. */
static double share_time(const struct digester *digester, int side, const char *reading)
{
	double time = lasted(digester, side), value;

	return time > 0 && added(digester, side, reading, &value) ? fmin(value / time, 1) : NAN;
}

struct busy_disk {
	const char *reading, *word;
	size_t length;
	struct busy busy;
};

/* Keeps the busiest disks, the first one first.  Returns how many there are now. */
static size_t keep_disk(struct busy_disk *disks, size_t count, size_t most,
			const struct busy_disk *disk)
{
	size_t at = count;

	while (at > 0 && disks[at - 1].busy.share[1] < disk->busy.share[1])
		at--;
	if (at >= most)
		return count;
	count += count < most;
	memmove(&disks[at + 1], &disks[at], (count - at - 1) * sizeof(*disks));
	disks[at] = *disk;
	return count;
}

int digest_disk_busy(struct digester *digester, const struct digest_rule *rule)
{
	const struct compare_layout *layout = digester->layout;
	const struct sheet *sheet =
		&layout->runs[layout->before_count].snapshot->sheets[SHEET_HOST];
	struct busy_disk disks[DISKS_MAX];
	size_t count = 0;
	int status = 0;

	for (size_t i = 0; i < sheet->columns.count; i++) {
		struct busy_disk disk = { .reading = sheet->columns.data[i].metric->name };

		if (!digest_has_pattern(disk.reading, rule->reading, &disk.word, &disk.length))
			continue;
		for (int side = 0; side < SIDES; side++)
			disk.busy.share[side] = share_time(digester, side, disk.reading);
		if (is_busy(rule, &disk.busy))
			count = keep_disk(disks, count, rule->most, &disk);
	}
	for (size_t i = 0; i < count && status == 0; i++) {
		char name[64];

		snprintf(name, sizeof(name), "disk %.*s", (int)disks[i].length, disks[i].word);
		status = say_busy(digester, rule, name, disks[i].reading, &disks[i].busy, "");
	}
	return status;
}
