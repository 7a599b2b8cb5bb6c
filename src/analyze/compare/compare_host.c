/* SPDX-License-Identifier: MIT */
#include "analyze/compare/compare_host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compare/comparison.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"

/* Facts that identify a host; the other facts change by themselves or describe the capture. */
static const struct {
	enum fact_id id;
	enum metric_unit unit;
} lasting[] = {
	{ FACT_machine_id_hash, UNIT_TEXT },
	{ FACT_kernel_name, UNIT_TEXT },
	{ FACT_kernel_release, UNIT_TEXT },
	{ FACT_arch, UNIT_TEXT },
	{ FACT_kernel_cmdline, UNIT_TEXT },
	{ FACT_cpu_model, UNIT_TEXT },
	{ FACT_cpu_vendor, UNIT_TEXT },
	{ FACT_online_cpus, UNIT_TEXT },
	{ FACT_smt, UNIT_TEXT },
	{ FACT_numa_nodes, UNIT_COUNT },
	{ FACT_total_memory_bytes, UNIT_BYTES },
	{ FACT_swap_total_bytes, UNIT_BYTES },
	{ FACT_hugepages_total, UNIT_COUNT },
	{ FACT_hugepage_size_bytes, UNIT_BYTES },
	{ FACT_page_size, UNIT_BYTES },
	{ FACT_clock_ticks, UNIT_COUNT },
	{ FACT_thp_enabled, UNIT_TEXT },
	{ FACT_thp_defrag, UNIT_TEXT },
	{ FACT_task_delayacct, UNIT_TEXT },
	{ FACT_config_task_xacct, UNIT_TEXT },
};

/* Gives the fact in words, in the arena; NULL when it is absent.  0 or -ENOMEM. */
static int fact_words(const struct fact *fact, enum metric_unit unit, struct arena *arena,
		      const char **ret)
{
	struct text words = { 0 };

	*ret = NULL;
	if (!fact->present)
		return 0;
	if (unit == UNIT_TEXT)
		text_append_string(&words, fact->text);
	else
		text_format(&words, "%" PRIu64, fact->number);
	if (!words.failed)
		*ret = arena_copy(arena, text_string(&words), words.length);
	text_free(&words);
	return *ret ? 0 : -ENOMEM;
}

/*
 * Compares the chosen word of a kernel menu, "always [madvise] never": JSON
 * lines of a run have only that word.
 */
static bool same_choice(const char *a, const char *b)
{
	const char *from_a = strchr(a, '['), *from_b = strchr(b, '[');

	a = from_a ? from_a + 1 : a;
	b = from_b ? from_b + 1 : b;
	return strcspn(a, "]") == strcspn(b, "]") && strncmp(a, b, strcspn(a, "]")) == 0;
}

static int compare_fact(const struct snapshot *before, const struct snapshot *after, size_t which,
			struct comparison *comparison)
{
	enum fact_id id = lasting[which].id;
	const struct fact *a = &before->facts[id], *b = &after->facts[id];
	struct host_change change = { .name = facts[id].name,
				      .is_number = lasting[which].unit != UNIT_TEXT,
				      .unit = lasting[which].unit };

	/* A fact that one side lacks is not a change: the notes say what is unknown. */
	if (!a->present || !b->present ||
	    (facts[id].is_text ? same_choice(a->text, b->text) : a->number == b->number))
		return 0;
	if (fact_words(a, lasting[which].unit, &comparison->arena, &change.before) < 0 ||
	    fact_words(b, lasting[which].unit, &comparison->arena, &change.after) < 0)
		return -ENOMEM;
	return array_append(&comparison->host_changes, change);
}

/* A setting, from its only row; NULL when it is not there.  0 or -ENOMEM. */
static int setting_words(const struct snapshot *snapshot, const char *name, struct arena *arena,
			 const char **ret)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_HOST];
	const struct column *column = sheet_find(sheet, name);
	char number[32];
	uint64_t value;

	*ret = NULL;
	if (sheet->row_count == 0)
		return 0;
	switch (column_get(column, 0, &value)) {
	case CELL_TEXT:
		*ret = snapshot_text(snapshot, (uint32_t)value);
		return 0;
	case CELL_NUMBER:
		snprintf(number, sizeof(number), "%" PRIu64, value);
		*ret = arena_copy(arena, number, strlen(number));
		return *ret ? 0 : -ENOMEM;
	default:
		return 0;
	}
}

static bool same_words(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A change in a family of settings, such as one for each CPU. */
struct family {
	size_t change; /* in host_changes */
	const char *word;
	size_t word_length;
	unsigned members;
};

/* "cpufreq_governor cpu0 and 63 more" instead of 64 lines. */
static int name_family(struct comparison *comparison, const struct family *family)
{
	struct host_change *change;
	char name[SHEET_NAME_SIZE + 32];

	if (family->members < 2)
		return 0;
	change = &comparison->host_changes.data[family->change];
	snprintf(name, sizeof(name), "%s and %u more", change->name, family->members - 1);
	change->name = arena_copy(&comparison->arena, name, strlen(name));
	return change->name ? 0 : -ENOMEM;
}

/* Counts a change with the one before when only the member differs; otherwise adds it. */
static int add_setting(struct comparison *comparison, const struct host_change *change,
		       struct family *family)
{
	size_t length = strcspn(change->name, " ");
	const struct host_change *last;

	if (family->members && length == family->word_length &&
	    memcmp(change->name, family->word, length) == 0) {
		last = &comparison->host_changes.data[family->change];
		if (same_words(last->before, change->before) &&
		    same_words(last->after, change->after)) {
			family->members++;
			return 0;
		}
	}
	if (name_family(comparison, family) < 0)
		return -ENOMEM;
	*family = (struct family){ .change = comparison->host_changes.count,
				   .word = change->name,
				   .word_length = length,
				   .members = 1 };
	return array_append(&comparison->host_changes, *change);
}

static bool has_settings(const struct snapshot *snapshot)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_HOST];

	for (size_t i = 0; i < sheet->columns.count; i++)
		if (sheet->columns.data[i].metric->kind == KIND_SETTING)
			return true;
	return false;
}

/* Compares the settings of one side: all that A has, then those that only B has. */
static int compare_settings(const struct snapshot *before, const struct snapshot *after,
			    bool of_before, struct comparison *comparison)
{
	const struct snapshot *of = of_before ? before : after;
	const struct sheet *sheet = &of->sheets[SHEET_HOST];
	struct family family = { 0 };

	/* JSON lines of a run have no settings: that does not mean that each changed. */
	if (!has_settings(before) || !has_settings(after))
		return 0;
	for (size_t i = 0; i < sheet->columns.count; i++) {
		const struct metric *metric = sheet->columns.data[i].metric;
		struct host_change change = { .name = metric->name };

		if (metric->kind != KIND_SETTING)
			continue;
		if (setting_words(before, change.name, &comparison->arena, &change.before) < 0 ||
		    setting_words(after, change.name, &comparison->arena, &change.after) < 0)
			return -ENOMEM;
		/* Settings that both sides have were compared in the first round. */
		if (same_words(change.before, change.after) || (!of_before && change.before))
			continue;
		if (add_setting(comparison, &change, &family) < 0)
			return -ENOMEM;
	}
	return name_family(comparison, &family);
}

int compare_hosts(const struct snapshot *before, const struct snapshot *after,
		  struct comparison *comparison)
{
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lasting) && status == 0; i++)
		status = compare_fact(before, after, i, comparison);
	if (status == 0)
		status = compare_settings(before, after, true, comparison);
	if (status == 0)
		status = compare_settings(before, after, false, comparison);
	return status;
}
