/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/statistics_lines.h"

#include <string.h>
#include <sys/mman.h>

#include "lib/area.h"
#include "lib/block.h"
#include "lib/locks.h"

enum { COPY_TRIES = 64 };

#define SUMS_SIZE (SCOPE_LABELS * sizeof(struct statistics_sum))

/* Number 0 sums up all labels that have no place of their own. */
static void add(struct statistics_sum *sums, const struct scope_statistic *statistic)
{
	struct statistics_sum *sum = &sums[statistic->label < SCOPE_LABELS ? statistic->label : 0];

	sum->count += statistic->count;
	sum->total_ticks += statistic->total_ticks;
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

/* Less than the number of scopes when a bucket is full. */
static double bucket_total(const struct statistics_sum *sum)
{
	double total = 0;

	for (uint32_t i = 0; i < SCOPE_BUCKETS; i++)
		total += (double)sum->buckets[i];
	return total;
}

uint64_t statistics_percentile(const struct statistics_sum *sum, unsigned int percent)
{
	double wanted = bucket_total(sum) * percent / 100, below = 0;

	if (sum->count == 1)
		return sum->longest_ticks; /* the only one */
	for (uint32_t i = 0; i < SCOPE_BUCKETS; i++) {
		double start = i ? (double)(UINT64_C(1) << i) : 0;
		double width = (double)(UINT64_C(2) << i) - start;
		double inside = (double)sum->buckets[i], value;

		if (!inside || below + inside < wanted) {
			below += inside;
			continue;
		}
		/* Assume that times are evenly spread in their bucket. */
		value = start + width * (wanted - below) / inside;
		return value < (double)sum->longest_ticks ? (uint64_t)value : sum->longest_ticks;
	}
	return sum->longest_ticks;
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

/* The label with the longest total among those that are not printed yet. */
static uint32_t next_label(const struct statistics_sum *sums, const uint8_t *is_printed)
{
	uint32_t best = SCOPE_LABELS;

	for (uint32_t i = 0; i < SCOPE_LABELS; i++)
		if (is_used(&sums[i]) && !is_printed[i] &&
		    (best == SCOPE_LABELS || sums[i].total_ticks > sums[best].total_ticks))
			best = i;
	return best;
}

void statistics_print(double ns_per_tick, struct output *output)
{
	struct statistics_sum *sums = mmap(NULL, SUMS_SIZE, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t is_printed[SCOPE_LABELS] = { 0 };
	uint32_t label;

	if (sums == MAP_FAILED)
		return;
	add_all(sums);
	while ((label = next_label(sums, is_printed)) < SCOPE_LABELS) {
		print_sum(&sums[label], label, ns_per_tick, output);
		is_printed[label] = 1;
	}
	munmap(sums, SUMS_SIZE);
}
