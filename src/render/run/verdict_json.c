/* SPDX-License-Identifier: MIT */
/* Writes the conclusions: the verdict, and the two analyses that other monitors have too. */
#include "render/run/verdict_json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/verdict/diagnosis.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "model/tree/run_order.h"

#define TOP_BLOCKING 10

static const char *const basis_names[] = {
	[BASIS_NONE] = "none",
	[BASIS_COUNTS] = "counts",
	[BASIS_LATENCY] = "latency",
};

static void write_share(struct json *json, const char *key, double value)
{
	json_member_fixed(json, key, value, 4);
}

static void write_times(struct json *json, const struct amounts *amounts, const char *count_key)
{
	uint64_t count = amounts_get(amounts, AMOUNT_offcpu_count);
	uint64_t shortest = amounts_get(amounts, AMOUNT_offcpu_min_ns);
	uint64_t total = run_off_cpu_ns(amounts);

	json_member_u64(json, "total_time_ns", total);
	if (!amounts_has(amounts, AMOUNT_offcpu_count))
		return;
	json_member_u64(json, count_key, count);
	if (!count)
		return;
	json_member_u64(json, "avg_time_ns", total / count);
	json_member_u64(json, "max_time_ns", amounts_get(amounts, AMOUNT_offcpu_max_ns));
	json_member_nonzero(json, "min_time_ns", shortest);
}

static bool same_number(const struct tree_thread *a, const struct tree_thread *b)
{
	return a->key.pid == b->key.pid && a->key.tid == b->key.tid;
}

/* The key is "pid:tid", which may have been reused: those threads share one entry. */
static void write_thread_stats(struct json *json, const struct tree *tree)
{
	size_t count, next;
	CLEANUP(free_pointer)
	const struct tree_thread **threads =
		run_threads_sorted(tree, run_threads_by_number, &count);

	json_member_object(json, "thread_stats");
	for (size_t i = 0; i < count; i = next) {
		struct amounts sum = { 0 };
		char key[32];

		for (next = i; next < count && same_number(threads[i], threads[next]); next++)
			amounts_add(&sum, &threads[next]->amounts);
		snprintf(key, sizeof(key), "%" PRId32 ":%" PRId32, threads[i]->key.pid,
			 threads[i]->key.tid);
		json_member_object(json, key);
		json_member_i64(json, "tid", threads[i]->key.tid);
		write_times(json, &sum, "count");
		json_end_object(json);
	}
	json_end_object(json);
}

static void write_blocking(struct json *json, const struct tree *tree)
{
	double total = (double)run_off_cpu_ns(&tree->amounts);
	size_t count;
	CLEANUP(free_pointer)
	const struct tree_thread **threads =
		run_threads_sorted(tree, run_threads_by_off_cpu, &count);

	json_member_array(json, "top_blocking_threads");
	for (size_t i = 0; i < count && i < TOP_BLOCKING; i++) {
		uint64_t own = run_off_cpu_ns(&threads[i]->amounts);

		if (!own)
			break;
		json_begin_object(json);
		json_member_i64(json, "pid", threads[i]->key.pid);
		json_member_i64(json, "tid", threads[i]->key.tid);
		write_share(json, "time_ms", (double)own / 1e6);
		json_member_fixed(json, "percentage", total > 0 ? (double)own / total * 100 : 0, 2);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_offcpu_analysis(struct json *json, const struct offcpu_analysis *analysis)
{
	json_member_strings(json, "bottlenecks", analysis->bottlenecks, analysis->bottleneck_count);
	json_member_object(json, "analysis");
	json_member_string(json, "bottleneck_type", offcpu_bottleneck_names[analysis->bottleneck]);
	write_share(json, "io_wait_percentage", analysis->io_wait_percentage);
	write_share(json, "lock_contention_percentage", analysis->lock_contention_percentage);
	write_share(json, "sleep_percentage", analysis->sleep_percentage);
	write_share(json, "run_queue_percentage", analysis->run_queue_percentage);
	json_member_strings(json, "optimization_hints", analysis->hints, analysis->hint_count);
	json_end_object(json);
}

static void write_offcpu(struct json *json, const struct run *run,
			 const struct diagnosis *diagnosis, bool is_brief)
{
	if (!diagnosis->offcpu.measured)
		return;
	json_member_object(json, "offcpu");
	write_times(json, &run->tree->amounts, "total_events");
	if (!is_brief)
		write_thread_stats(json, run->tree);
	write_blocking(json, run->tree);
	write_offcpu_analysis(json, &diagnosis->offcpu);
	json_end_object(json);
}

/* Rates of system calls; nothing where no call was seen, since calls were not watched. */
static void write_rates(struct json *json, const struct syscall_analysis *analysis)
{
	write_share(json, "syscall_rate_per_sec", analysis->syscall_rate_per_sec);
	write_share(json, "io_intensity", analysis->io_intensity);
	write_share(json, "memory_intensity", analysis->memory_intensity);
	write_share(json, "cpu_intensity", analysis->cpu_intensity);
	write_share(json, "network_intensity", analysis->network_intensity);
	json_member_strings(json, "bottleneck_indicators", analysis->indicators,
			    analysis->indicator_count);
	json_member_object(json, "performance_profile");
	json_member_string(json, "workload_type", analysis->workload_type);
	write_share(json, "bottleneck_likelihood", analysis->bottleneck_likelihood);
	json_member_strings(json, "optimization_hints", analysis->hints, analysis->hint_count);
	json_end_object(json);
}

static void write_analysis(struct json *json, const struct diagnosis *diagnosis)
{
	const struct syscall_analysis *analysis = &diagnosis->syscalls;

	json_member_object(json, "analysis");
	json_member_string(json, "behavior_classification", class_names[analysis->behavior]);
	if (analysis->basis != BASIS_NONE)
		write_rates(json, analysis);
	json_member_string(json, "basis", basis_names[analysis->basis]);
	json_end_object(json);
}

void verdict_json(struct json *json, const struct diagnosis *diagnosis)
{
	const struct verdict *verdict = &diagnosis->verdict;

	json_member_object(json, "verdict");
	json_member_string(json, "class", class_names[verdict->class]);
	json_member_string(json, "cause", causes[verdict->cause].name);
	write_share(json, "score", verdict->score);
	write_share(json, "confidence", verdict->confidence);
	if (verdict->who[0])
		json_member_string(json, "who", verdict->who);
	json_member_array(json, "evidence");
	for (size_t i = 0; i < verdict->evidence_count; i++)
		json_string(json, verdict->evidence[i]);
	json_end_array(json);
	json_member_given(json, "hint", verdict->hint);
	json_end_object(json);
}

void diagnosis_json(struct json *json, const struct run *run, const void *diagnosis, bool is_brief)
{
	write_offcpu(json, run, diagnosis, is_brief);
	write_analysis(json, diagnosis);
	verdict_json(json, diagnosis);
}
