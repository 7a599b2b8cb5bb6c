/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "collect/scope/scope_decode.h"
#include "model/scope/scopes.h"

/* Makes an empty tally for every label number, and for 0, which means no label. */
static int reserve_tallies(struct scope_workspace *workspace)
{
	size_t wanted = workspace->labels.count + 1;
	int status = array_reserve(&workspace->tallies, wanted);

	while (status == 0 && workspace->tallies.count < wanted)
		workspace->tallies.data[workspace->tallies.count++] = (struct scope_tally){ 0 };
	return status;
}

static uint64_t add_capped(uint64_t left, uint64_t right)
{
	return left + right < left ? UINT64_MAX : left + right;
}

static void add_statistic(struct scope_tally *tally, const struct scope_header *header,
			  const char *bytes)
{
	struct scope_statistic statistic;
	size_t buckets =
		header->bucket_count < SCOPE_BUCKETS ? header->bucket_count : SCOPE_BUCKETS;

	memset(&statistic, 0, sizeof(statistic));
	memcpy(&statistic, bytes,
	       offsetof(struct scope_statistic, buckets) + buckets * sizeof(uint32_t));
	tally->count = add_capped(tally->count, statistic.count);
	tally->total_ticks = add_capped(tally->total_ticks, statistic.total_ticks);
	tally->self_ticks = add_capped(tally->self_ticks, statistic.self_ticks);
	tally->cpu_ns = add_capped(tally->cpu_ns, statistic.cpu_ns);
	tally->cpu_samples = add_capped(tally->cpu_samples, statistic.cpu_samples);
	if (statistic.longest_ticks > tally->longest_ticks)
		tally->longest_ticks = statistic.longest_ticks;
	for (size_t i = 0; i < buckets; i++)
		tally->buckets[i] += statistic.buckets[i];
}

/* Whether the statistics are in use.  A scope may have CPU samples before it was ever closed. */
static bool is_used(const char *bytes)
{
	uint64_t count, samples;

	memcpy(&count, bytes + offsetof(struct scope_statistic, count), sizeof(count));
	memcpy(&samples, bytes + offsetof(struct scope_statistic, cpu_samples), sizeof(samples));
	return count || samples;
}

int scope_tallies_add(struct scope_workspace *workspace, const struct scope_header *header,
		      const char *statistics, uint32_t count)
{
	int status = reserve_tallies(workspace);

	for (uint32_t i = 0; i < count && status == 0; i++) {
		const char *bytes = statistics + (size_t)i * header->statistic_size;
		uint32_t label;

		memcpy(&label, bytes + offsetof(struct scope_statistic, label), sizeof(label));
		if (!is_used(bytes) || (label == 0 && i + 1 < count))
			continue;
		if (label >= workspace->labels.count)
			label = 0;
		add_statistic(&workspace->tallies.data[label], header, bytes);
	}
	return status;
}

static uint64_t quantile(const struct scope_tally *tally, const struct scope_scale *scale,
			 double share)
{
	uint64_t ticks = scope_buckets_quantile(tally->buckets, SCOPE_BUCKETS, share);

	/* If there was only one, the total is its time. */
	if (ticks > tally->longest_ticks || tally->count == 1)
		ticks = tally->longest_ticks;
	return scope_scale_span(scale, ticks);
}

static struct scope_label_use finish_tally(const struct scope_workspace *workspace, size_t label,
					   const struct scope_scale *scale)
{
	const struct scope_tally *tally = &workspace->tallies.data[label];
	struct scope_label_use use = {
		.count = tally->count,
		.total_ns = scope_scale_span(scale, tally->total_ticks),
		.self_ns = scope_scale_span(scale, tally->self_ticks),
		.longest_ns = scope_scale_span(scale, tally->longest_ticks),
		.p50_ns = quantile(tally, scale, 0.5),
		.p99_ns = quantile(tally, scale, 0.99),
		.has_cpu = tally->cpu_samples > 0,
		.cpu_ns = tally->cpu_ns,
	};
	const char *text = scope_label_text(workspace, (uint32_t)label);

	memcpy(use.label, text, strlen(text));
	return use;
}

/* The entry without a label comes last. */
static int compare_uses(const void *left, const void *right)
{
	const struct scope_label_use *a = left, *b = right;

	if ((a->label[0] == '\0') != (b->label[0] == '\0'))
		return a->label[0] ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(a->label, b->label);
}

int scope_tallies_finish(struct scope_workspace *workspace, const struct scope_scale *scale,
			 struct scopes *ret)
{
	size_t count = 0;

	if (array_reserve(&ret->labels, workspace->tallies.count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < workspace->tallies.count; i++)
		if (workspace->tallies.data[i].count || workspace->tallies.data[i].cpu_samples)
			ret->labels.data[count++] = finish_tally(workspace, i, scale);
	ret->labels.count = count;
	if (count)
		qsort(ret->labels.data, count, sizeof(ret->labels.data[0]), compare_uses);
	return 0;
}
