/* SPDX-License-Identifier: MIT */
/* The documents in pages: the summary as other outputs have it, and the past of a run as columns. */
#include <string.h>

#include "analyze/verdict/diagnosis.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/json.h"
#include "export/html.h"
#include "model/tree/run.h"
#include "model/tree/run_fields.h"
#include "model/tree/run_order.h"
#include "render/compare/compare_view.h"
#include "render/run/loss_words.h"
#include "render/run/verdict_json.h"
#include "store/run/run_json.h"
#include "store/run/run_json_parts.h"

#define DOCUMENT_VERSION 1

static struct json begin_document(FILE *out, const char *page)
{
	struct json json = json_line_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "format", "taskscope-page");
	json_member_u64(&json, "version", DOCUMENT_VERSION);
	json_member_string(&json, "page", page);
	json_member_string(&json, "taskscope", TASKSCOPE_VERSION);
	return json;
}

/* The object that `report --format json` prints. */
static void write_summary(struct json *json, const struct run *run)
{
	struct diagnosis diagnosis = { 0 };

	diagnose(run, &diagnosis);
	json_key(json, "summary");
	run_json_summary(json->out, run, diagnosis_json, &diagnosis, false);
	json->after_key = false;
}

static const char *const wait_kinds[] = {
	[WAIT_COST] = "cost",
	[WAIT_WORK] = "work",
	[WAIT_UNSURE] = "unsure",
};

/* What the page must know of our tables: it has none of its own. */
static void write_words(struct json *json)
{
	json_member_array(json, "waits");
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		json_begin_object(json);
		json_member_string(json, "name", waits[reason].name);
		json_member_string(json, "kind", wait_kinds[waits[reason].kind]);
		json_member_string(json, "help", waits[reason].help);
		json_end_object(json);
	}
	json_end_array(json);
	json_member_object(json, "loss_words");
	for (size_t i = 0; i < run_field_count; i++)
		if (run_fields[i].section == RUN_SECTION_LOSSES)
			json_member_string(json, run_fields[i].key,
					   loss_words(run_fields[i].key, 2));
	json_end_object(json);
}

/* A column of what `value` gives for each sample, null where it gives nothing; left out where it never does. */
typedef bool sample_value(const struct run_sample *sample, int id, uint64_t *ret);

static void write_column(struct json *json, const struct run_past *past, const char *key,
			 sample_value *value, int id)
{
	uint64_t found;
	bool any = false;

	for (size_t i = 0; i < past->samples.count && !any; i++)
		any = value(&past->samples.data[i], id, &found);
	if (!any)
		return;
	json_member_array(json, key);
	for (size_t i = 0; i < past->samples.count; i++) {
		if (value(&past->samples.data[i], id, &found))
			json_u64(json, found);
		else
			json_null(json);
	}
	json_end_array(json);
}

static bool value_of_amount(const struct run_sample *sample, int id, uint64_t *ret)
{
	*ret = amounts_get(&sample->amounts, (enum amount_id)id);
	return amounts_has(&sample->amounts, (enum amount_id)id);
}

static bool value_of_cpu(const struct run_sample *sample, int id, uint64_t *ret)
{
	(void)id;
	return run_sample_cpu(sample, ret);
}

static bool value_of_rss(const struct run_sample *sample, int id, uint64_t *ret)
{
	(void)id;
	*ret = sample->rss_bytes;
	return sample->has_rss;
}

static bool value_of_descriptors(const struct run_sample *sample, int id, uint64_t *ret)
{
	(void)id;
	*ret = sample->open_fds;
	return sample->has_fds;
}

static bool value_of_members(const struct run_sample *sample, int is_threads, uint64_t *ret)
{
	*ret = is_threads ? sample->threads : sample->processes;
	return true;
}

static void write_amounts(struct json *json, const struct run_past *past)
{
	static const enum amount_id shown[] = {
		AMOUNT_run_time_ns, AMOUNT_wait_time_ns, AMOUNT_read_bytes,   AMOUNT_write_bytes,
		AMOUNT_rchar,	    AMOUNT_wchar,	 AMOUNT_net_rx_bytes, AMOUNT_net_tx_bytes,
	};

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		write_column(json, past, metrics[amount_metrics[shown[i]]].name, value_of_amount,
			     (int)shown[i]);
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		int id = AMOUNT_wait_disk_ns + 3 * reason;

		write_column(json, past, metrics[amount_metrics[id]].name, value_of_amount, id);
	}
}

/* The names are those of the JSON lines; counters count from the beginning of the run. */
static void write_samples(struct json *json, const struct run *run)
{
	const struct run_past *past = &run->past;

	json_member_object(json, "samples");
	json_member_array(json, "time_ns");
	for (size_t i = 0; i < past->samples.count; i++)
		json_u64(json, run_offset_ns(run, past->samples.data[i].time_ns));
	json_end_array(json);
	write_column(json, past, "cpu_time_ns", value_of_cpu, 0);
	write_column(json, past, "rss_bytes", value_of_rss, 0);
	write_column(json, past, "open_fds", value_of_descriptors, 0);
	write_column(json, past, "processes_alive", value_of_members, false);
	write_column(json, past, "threads_alive", value_of_members, true);
	write_amounts(json, past);
	json_end_object(json);
}

static void write_event(struct json *json, const struct run *run, const struct past_event *event)
{
	json_begin_object(json);
	json_member_u64(json, "time_ns", run_offset_ns(run, event->time_ns));
	json_member_string(json, "event", event->event);
	json_member_i64(json, "pid", event->task.pid);
	json_member_i64(json, "tid", event->task.tid);
	json_member_string(json, "comm", event->comm);
	json_member_nonzero(json, "signal", event->signal);
	if (event->other_pid)
		json_member_i64(json, "other_pid", event->other_pid);
	json_end_object(json);
}

/* Forks are left out: a process says itself when it began. */
static void write_events(struct json *json, const struct run *run)
{
	json_member_array(json, "events");
	for (size_t i = 0; i < run->past.events.count; i++)
		if (strcmp(run->past.events.data[i].event, tree_event_names[TREE_FORK]) != 0)
			write_event(json, run, &run->past.events.data[i]);
	json_end_array(json);
	json_member_u64(json, "events_omitted", run->past.events_omitted);
}

static void write_processes(struct json *json, const struct run *run)
{
	size_t count;
	CLEANUP(free_pointer)
	const struct tree_process **processes = run_processes_sorted(run->tree, true, true, &count);

	json_member_array(json, "processes");
	for (size_t i = 0; i < count; i++) {
		json_begin_object(json);
		run_json_process_members(json, run, processes[i], RUN_JSON_WAITS);
		json_end_object(json);
	}
	json_end_array(json);
}

void html_run_document(FILE *out, const struct run *run)
{
	struct json json = begin_document(out, "run");

	write_words(&json);
	write_summary(&json, run);
	write_samples(&json, run);
	write_events(&json, run);
	write_processes(&json, run);
	json_key(&json, "profile");
	html_profile(&json, run->profile);
	json_end_object(&json);
}

static void write_side(struct json *json, const char *key, const struct run *const *runs,
		       size_t count)
{
	json_member_array(json, key);
	for (size_t i = 0; i < count; i++) {
		json_begin_object(json);
		write_summary(json, runs[i]);
		json_key(json, "profile");
		html_profile(json, runs[i]->profile);
		json_end_object(json);
	}
	json_end_array(json);
}

void html_comparison_document(FILE *out, const struct html_comparison *comparison)
{
	struct json json = begin_document(out, "comparison");

	json_key(&json, "comparison");
	compare_json_print(comparison->view, out);
	json.after_key = false;
	write_side(&json, "before", comparison->before, comparison->before_count);
	write_side(&json, "after", comparison->after, comparison->after_count);
	json_end_object(&json);
}
