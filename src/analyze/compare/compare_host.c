/* SPDX-License-Identifier: MIT */
#include "analyze/compare/compare_mode.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compare/comparison.h"

/* Facts that identify a host; the other facts change by themselves or describe the capture. */
static const struct {
	enum fact_id id;
	enum metric_unit unit;
} lasting[] = {
	{ FACT_machine_id_hash, UNIT_TEXT },
	{ FACT_hostname, UNIT_TEXT },
	{ FACT_kernel_name, UNIT_TEXT },
	{ FACT_kernel_release, UNIT_TEXT },
	{ FACT_arch, UNIT_TEXT },
	{ FACT_kernel_cmdline, UNIT_TEXT },
	{ FACT_cpu_model, UNIT_TEXT },
	{ FACT_cpu_vendor, UNIT_TEXT },
	{ FACT_online_cpus, UNIT_TEXT },
	{ FACT_affinity, UNIT_TEXT },
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

static const char *number_words(struct comparison *comparison, uint64_t number)
{
	char words[32];
	int length = snprintf(words, sizeof(words), "%" PRIu64, number);

	return arena_copy(&comparison->arena, words, (size_t)length);
}

const char *compare_fact_words(struct comparison *comparison, const struct snapshot *snapshot,
			       enum fact_id id)
{
	const struct fact *fact = &snapshot->facts[id];

	if (!fact->present)
		return "none";
	return facts[id].is_text ? fact->text : number_words(comparison, fact->number);
}

/*
 * Compares the chosen word of a kernel menu, "always [madvise] never": older JSON
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
	change.before = compare_fact_words(comparison, before, id);
	change.after = compare_fact_words(comparison, after, id);
	if (!change.before || !change.after)
		return -ENOMEM;
	return array_append(&comparison->host_changes, change);
}

/* A setting, from its only row; NULL when it is not there.  0 or -ENOMEM. */
static int setting_words(const struct snapshot *snapshot, const char *name,
			 struct comparison *comparison, const char **ret)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_HOST];
	enum cell_state state = CELL_ABSENT;
	uint64_t value = 0;

	*ret = NULL;
	if (sheet->row_count)
		state = column_get(sheet_find(sheet, name), 0, &value);
	if (state == CELL_TEXT)
		*ret = snapshot_text(snapshot, (uint32_t)value);
	else if (state == CELL_NUMBER)
		*ret = number_words(comparison, value);
	return state == CELL_NUMBER && !*ret ? -ENOMEM : 0;
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

	/* Older JSON lines of a run have no settings: that does not mean that each changed. */
	if (!has_settings(before) || !has_settings(after))
		return 0;
	for (size_t i = 0; i < sheet->columns.count; i++) {
		const struct metric *metric = sheet->columns.data[i].metric;
		struct host_change change = { .name = metric->name };

		if (metric->kind != KIND_SETTING)
			continue;
		if (setting_words(before, change.name, comparison, &change.before) < 0 ||
		    setting_words(after, change.name, comparison, &change.after) < 0)
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
