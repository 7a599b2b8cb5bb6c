/* SPDX-License-Identifier: MIT */
#include "store/run/run_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/kernel_names.h"
#include "model/run/run_sheets.h"
#include "model/snapshot/snapshot.h"
#include "store/run/run_json_parts.h"
#include "model/tree/run_order.h"

static const char *fact_of(const struct snapshot *host, enum fact_id id)
{
	const struct fact *fact = &host->facts[id];

	return fact->present && fact->text ? fact->text : NULL;
}

/* Writes facts again under the names that other monitors use. */
static void write_known_names(struct json *json, const struct snapshot *host)
{
	const char *kernel = fact_of(host, FACT_kernel_release);
	const char *model = fact_of(host, FACT_cpu_model), *smt = fact_of(host, FACT_smt);

	const char *name = fact_of(host, FACT_hostname), *cpus = fact_of(host, FACT_affinity);

	json_member_given(json, "host", name);
	json_member_given(json, "affinity_inherited", cpus);
	json_member_given(json, "kernel", kernel);
	if (model) {
		json_member_object(json, "lscpu");
		json_member_string(json, "model", model);
		json_end_object(json);
	}
	if (host->facts[FACT_numa_nodes].present) {
		json_member_object(json, "numa");
		json_member_u64(json, "nodes", host->facts[FACT_numa_nodes].number);
		json_end_object(json);
	}
	if (smt)
		json_member_bool(json, "smt_active", strcmp(smt, "on") == 0);
}

static void write_fact(struct json *json, const struct snapshot *host, enum fact_id id)
{
	const struct fact *fact = &host->facts[id];

	if (!fact->present)
		return;
	if (!facts[id].is_text)
		json_member_u64(json, facts[id].name, fact->number);
	else
		json_member_string(json, facts[id].name, fact->text ? fact->text : "");
}

/* Writes the governor of each CPU; without any, the reason. */
static void write_governors(struct json *json, const struct snapshot *host)
{
	const struct sheet *sheet = &host->sheets[SHEET_HOST];
	const char *reason = NULL;
	bool is_open = false;

	for (size_t i = 0; i < sheet->columns.count; i++) {
		const struct column *column = &sheet->columns.data[i];
		const char *name = column->metric->name;
		uint64_t word;

		if (strncmp(name, RUN_GOVERNOR_READING, strlen(RUN_GOVERNOR_READING)) != 0)
			continue;
		reason = column->absent;
		if (!sheet->row_count || column_get(column, 0, &word) != CELL_TEXT)
			continue;
		if (!is_open) {
			json_member_object(json, "cpufreq_governor");
			is_open = true;
		}
		json_member_string(json, name + strlen(RUN_GOVERNOR_READING),
				   snapshot_text(host, (uint32_t)word));
	}
	if (is_open) {
		json_end_object(json);
	} else if (reason) {
		json_member_object(json, "absent");
		json_member_string(json, "cpufreq_governor", reason);
		json_end_object(json);
	}
}

static void write_environment(struct json *json, const struct snapshot *host,
			      bool is_of_host(int id))
{
	write_known_names(json, host);
	for (int id = 0; id < FACT_COUNT; id++)
		if (is_of_host(id))
			write_fact(json, host, id);
	write_governors(json, host);
}

static bool is_any(int id)
{
	(void)id;
	return true;
}

/* What is of the capture of the facts, or of the run, is left out. */
static bool is_lasting(int id)
{
	return id != FACT_captured_at_unix_ns && id != FACT_monotonic_ns &&
	       id != FACT_boottime_ns && !fact_is_of_recording(id);
}

void run_json_environment(struct json *json, const struct snapshot *host)
{
	write_environment(json, host, is_lasting);
}

void run_json_env(FILE *out, const struct snapshot *host)
{
	struct json json = run_json_begin(out, "env", host->facts[FACT_captured_at_unix_ns].number);

	write_environment(&json, host, is_any);
	run_json_sheet(&json, "readings", host, &host->sheets[SHEET_HOST]);
	json_end_object(&json);
}

void run_json_metadata(FILE *out, const struct run *run)
{
	struct json json = run_json_begin(out, "metadata", run->begin_unix_ns);

	run_json_about(&json, run);
	json_end_object(&json);
}

/* Percent of one core since the previous sample, or since the start. */
static void write_cpu_usage(struct json *json, const struct run *run)
{
	const struct run_sample *last = &run->last, *previous = &run->previous;
	uint64_t since = previous->time_ns ? previous->time_ns : run->begin_ns;
	uint64_t before = 0, now;

	if (previous->time_ns)
		run_sample_cpu(previous, &before);
	if (!run_sample_cpu(last, &now) || last->time_ns <= since)
		return;
	json_member_fixed(
		json, "cpu_usage",
		now > before ? 100.0 * (double)(now - before) / (double)(last->time_ns - since) : 0,
		2);
}

void run_json_sample(FILE *out, const struct run *run)
{
	const struct run_sample *last = &run->last;
	struct json json = run_json_begin(out, "sample", run_unix_ns(run, last->time_ns));
	uint64_t offset = run_offset_ns(run, last->time_ns);

	json_member_u64(&json, "time_ns", offset);
	json_member_fixed(&json, "uptime_secs", (double)offset / 1e9, 3);
	write_cpu_usage(&json, run);
	if (last->has_rss)
		json_member_u64(&json, "mem_rss_kb", last->rss_bytes / 1024);
	json_member_u64(&json, "processes_alive", last->processes);
	json_member_u64(&json, "threads_alive", last->threads);
	json_member_u64(&json, "processes_ever", run->tree->processes);
	json_member_u64(&json, "threads_ever", run->tree->threads);
	if (last->has_fds)
		json_member_u64(&json, "open_fds", last->open_fds);
	run_json_amounts(&json, &last->amounts);
	json_member_nonzero(&json, "unseen_cpu_ns", last->unseen_cpu_ns);
	json_end_object(&json);
}

static void write_process(struct json *json, const struct run *run,
			  const struct tree_process *process, unsigned detail)
{
	json_begin_object(json);
	run_json_process_members(json, run, process, detail);
	json_end_object(json);
}

void run_json_tree(FILE *out, const struct run *run, size_t limit)
{
	struct json json = run_json_begin(out, "tree", run_unix_ns(run, run->last.time_ns));
	size_t count;
	CLEANUP(free_pointer)
	const struct tree_process **live = run_processes_sorted(run->tree, false, true, &count);
	size_t shown = count < limit ? count : limit;

	json_member_u64(&json, "time_ns", run_offset_ns(run, run->last.time_ns));
	json_member_u64(&json, "processes_alive", run->tree->live_processes);
	json_member_u64(&json, "threads_alive", run->tree->live_threads);
	json_member_array(&json, "processes");
	for (size_t i = 0; i < shown; i++)
		write_process(&json, run, live[i], RUN_JSON_BRIEF);
	json_end_array(&json);
	if (run->tree->live_processes > shown)
		json_member_u64(&json, "omitted", run->tree->live_processes - shown);
	json_end_object(&json);
}

static void write_sender(struct json *json, int32_t pid, const char *name)
{
	if (!pid)
		return;
	json_member_i64(json, "sender_pid", pid);
	json_member_string(json, "sender", name);
}

static void write_event(struct json *json, const struct tree_event *event)
{
	char name[KERNEL_NAME_SIZE];

	switch (event->type) {
	case TREE_FORK:
		json_member_i64(json, "ppid", event->fork.parent_pid);
		if (event->fork.inner_pid && event->fork.inner_pid != event->task.pid)
			json_member_i64(json, "inner_pid", event->fork.inner_pid);
		json_member_string(json, "comm", event->fork.comm);
		json_member_flag(json, "found", event->fork.found);
		break;
	case TREE_EXEC:
		json_member_string(json, "comm", event->exec.comm);
		run_json_words(json, event->exec.arguments, event->exec.length);
		json_member_flag(json, "cmd_cut", event->exec.cut);
		break;
	case TREE_SIGNAL:
		json_member_u64(json, "signal", (uint64_t)event->signal.number);
		json_member_string(json, "signal_name", signal_name(event->signal.number, name));
		write_sender(json, event->signal.sender_pid, event->signal.sender_comm);
		break;
	default:
		break;
	}
}

void run_json_event(FILE *out, const struct run *run, const struct tree_event *event)
{
	struct json json = run_json_begin(out, "event", run_unix_ns(run, event->time_ns));

	json_member_u64(&json, "time_ns", run_offset_ns(run, event->time_ns));
	json_member_string(&json, "event", tree_event_names[event->type]);
	json_member_i64(&json, "pid", event->task.pid);
	json_member_i64(&json, "tid", event->task.tid);
	json_member_nonzero(&json, "start_time_ns", event->task.start_ns);
	write_event(&json, event);
	json_end_object(&json);
}

void run_json_exit(FILE *out, const struct run *run, const struct tree_process *process)
{
	struct json json = run_json_begin(out, "exit", run_unix_ns(run, process->end_ns));

	run_json_process_members(&json, run, process,
				 RUN_JSON_WAITS | RUN_JSON_SYSCALLS | RUN_JSON_THREADS);
	json_end_object(&json);
}
