/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/statistics_lines.h"

#include "lib/scope/area.h"
#include "lib/scope/block.h"
#include "lib/scope/locks.h"

enum { COPY_TRIES = 64 };

/* Number 0 sums up all labels that have no place of their own. */
static void add(struct statistics_sum *sums, const struct scope_statistic *statistic)
{
	struct statistics_sum *sum = &sums[statistic->label < SCOPE_LABELS ? statistic->label : 0];

	sum->count += statistic->count;
	sum->total_ticks += statistic->total_ticks;
	sum->self_ticks += statistic->self_ticks;
	if (statistic->longest_ticks > sum->longest_ticks)
		sum->longest_ticks = statistic->longest_ticks;
	sum->cpu_ns += statistic->cpu_ns;
	sum->cpu_samples += statistic->cpu_samples;
	for (uint32_t i = 0; i < SCOPE_BUCKETS; i++)
		sum->buckets[i] += statistic->buckets[i];
}

/* If the block changes during every try, the last copy is used. */
static void add_block(struct statistics_sum *sums, const struct scope_thread *block)
{
	struct scope_statistic copy[SCOPE_STATISTICS];

	for (unsigned int i = 0; i < COPY_TRIES; i++) {
		uint32_t sequence = LOAD(block->sequence);

		words_copy(copy, block->statistics, sizeof(copy));
		if (!(sequence & 1) && LOAD(block->sequence) == sequence)
			break;
	}
	for (uint32_t i = 0; i < SCOPE_STATISTICS; i++)
		add(sums, &copy[i]);
}

static void add_retired(struct statistics_sum *sums, uint32_t place)
{
	struct scope_statistic copy;

	words_copy(&copy, &area_retired()[place], sizeof(copy));
	add(sums, &copy);
}

/*
 * The lock keeps threads from ending: that would move their statistics while they are added up.
 * Places of labels that do not exist are not read, since reading alone would make their pages take
 * memory.
 */
static void add_all(struct statistics_sum *sums)
{
	uint32_t slots = LOAD(area.header->thread_count), labels = LOAD(area.header->label_count);

	lock_take(LOCK_THREADS);
	for (uint32_t i = 1; i < labels && i < SCOPE_LABELS; i++)
		add_retired(sums, i);
	add_retired(sums, SCOPE_RETIRED - 1);
	for (uint32_t i = 0; i < slots && i < SCOPE_THREADS; i++)
		add_block(sums, area_thread(i));
	lock_release(LOCK_THREADS);
}

uint64_t statistics_percentile(const struct statistics_sum *sum, unsigned int percent)
{
	uint64_t ticks = scope_buckets_quantile(sum->buckets, SCOPE_BUCKETS, percent / 100.0);

	/* If there was only one, the longest is its time. */
	return ticks > sum->longest_ticks || sum->count == 1 ? sum->longest_ticks : ticks;
}

static void add_time(struct line *line, const char *key, double ticks, double ns_per_tick)
{
	line_add_duration(line, key, (uint64_t)(ticks * ns_per_tick));
}

static void print_sum(const struct statistics_sum *sum, uint32_t label, double ns_per_tick,
		      struct output *output)
{
	struct amount cpu = { .is_known = sum->cpu_samples > 0, .value = sum->cpu_ns };
	struct amount samples = { .is_known = cpu.is_known, .value = sum->cpu_samples };
	const char *text = label ? area_labels()[label].text : NULL;
	double count = sum->count ? (double)sum->count : 1;
	struct line line;

	line_begin(&line, LINE_SCOPE, area.header->pid);
	line_add_as(&line, "label", NULL, "<other>", line_text(LINE_LABEL, text));
	line_add_count(&line, "count", sum->count);
	add_time(&line, "total", (double)sum->total_ticks, ns_per_tick);
	add_time(&line, "self", (double)sum->self_ticks, ns_per_tick);
	add_time(&line, "mean", (double)sum->total_ticks / count, ns_per_tick);
	add_time(&line, "p50", (double)statistics_percentile(sum, 50), ns_per_tick);
	add_time(&line, "p99", (double)statistics_percentile(sum, 99), ns_per_tick);
	add_time(&line, "max", (double)sum->longest_ticks, ns_per_tick);
	line_add_as(&line, "cpu", NULL, "<not-sampled>", line_amount(LINE_DURATION, cpu));
	line_add_as(&line, "cpu_samples", " (sampled * times)", "",
		    line_amount(LINE_COUNT, samples));
	output_line(output, &line);
}

static bool is_used(const struct statistics_sum *sum)
{
	return sum->count || sum->cpu_samples;
}

/* The label with the longest total. */
static uint32_t longest_label(const struct statistics_sum *sums)
{
	uint32_t longest = SCOPE_LABELS;

	for (uint32_t i = 0; i < SCOPE_LABELS; i++)
		if (is_used(&sums[i]) &&
		    (longest == SCOPE_LABELS || sums[i].total_ticks > sums[longest].total_ticks))
			longest = i;
	return longest;
}

void statistics_print(struct statistics_sum *sums, double ns_per_tick, struct output *output)
{
	uint32_t label;

	add_all(sums);
	while ((label = longest_label(sums)) < SCOPE_LABELS) {
		print_sum(&sums[label], label, ns_per_tick, output);
		sums[label] = (struct statistics_sum){ 0 };
	}
}
