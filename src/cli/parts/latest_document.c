/* SPDX-License-Identifier: MIT */
#include "cli/parts/latest_document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/output/memory_stream.h"
#include "cli/args/store_args.h"
#include "model/record/process_totals.h"
#include "model/snapshot/snapshot.h"
#include "record/socket/client.h"
#include "record/record_paths.h"
#include "render/record/record_json.h"
#include "store/history/history_activity.h"

int latest_from_recorder(const char *socket, char **ret, struct error *error)
{
	CLEANUP(client_close) struct client client = { .fd = -1 };
	const char *result = NULL;
	size_t length = 0;
	char path[PATH_MAX];
	int status = socket ? 0 : record_socket_path(path);

	if (status == 0)
		status = client_open(&client, socket ? socket : path, error);
	if (status == 0)
		status = client_ask(&client, "latest", error);
	if (status == 0)
		status = client_answer(&client, &result, &length, error);
	if (status < 0)
		return status;
	*ret = strndup(result, length);
	return *ret ? 0 : error_set(error, -ENOMEM, "out of memory");
}

static int write_sample(void *context, const struct host_sample *sample)
{
	host_sample_json(context, sample);
	return 1; /* the newest is enough */
}

static int write_anomaly(void *context, enum anomaly_change change, const struct anomaly *anomaly)
{
	(void)change;
	anomaly_json(context, anomaly);
	return 0;
}

/* The newest tick, the one before it if it is of the same boot, and what processes had used. */
struct newest {
	struct snapshot *now, *before;
	struct process_total *totals, *totals_before;
};

static void newest_clear(struct newest *newest)
{
	snapshot_free(newest->now);
	snapshot_free(newest->before);
	free(newest->totals);
	free(newest->totals_before);
}

static int read_newest(struct history *history, struct newest *ret, struct error *error)
{
	const struct fact *now, *then;
	struct error ignored = { 0 };
	int status = history_snapshot(history, UINT64_MAX, &ret->now, error);

	if (status < 0)
		return status;
	now = ret->now->facts;
	status = process_totals(ret->now, METRIC_run_time_ns, &ret->totals);
	/* A recording may have one tick only, or minutes before it: then there is no rate. */
	if (status == 0 && history_snapshot(history, now[FACT_captured_at_unix_ns].number - 1,
					    &ret->before, &ignored) == 0)
		status = process_totals(ret->before, METRIC_run_time_ns, &ret->totals_before);
	then = ret->before ? ret->before->facts : NULL;
	if (then && (!then[FACT_boot_id].present || !now[FACT_boot_id].present ||
		     strcmp(then[FACT_boot_id].text, now[FACT_boot_id].text) != 0))
		snapshot_free(TAKE_PTR(ret->before));
	return status < 0 ? error_set(error, status, "out of memory") : 0;
}

static void write_processes(struct json *json, const struct newest *newest)
{
	const struct snapshot *now = newest->now;

	json_member_array(json, "processes");
	for (uint32_t row = 0; row < now->process_count; row++) {
		struct process_figures figures = {
			.unix_ns = now->facts[FACT_captured_at_unix_ns].number,
			.cpu_is_least = newest->totals[row].is_least,
		};

		figures.has_cpu = newest->before &&
				  process_cpu_percent(newest->before, newest->totals_before, now,
						      newest->totals, row, &figures.cpu_percent);
		process_json(json, now, row, &figures, true);
	}
	json_end_array(json);
}

static int write_document(struct json *json, struct history *history, struct error *error)
{
	CLEANUP(newest_clear) struct newest newest = { 0 };
	const struct history_span all = { 0, UINT64_MAX };
	const struct anomaly_query open = { .span = all, .open_only = true };
	CLEANUP(free_pointer) char *lacks_gpu = history_meta(history, "gpu");
	int status = read_newest(history, &newest, error);
	struct history_span then;

	if (status < 0)
		return status;
	then.from_unix_ns = then.to_unix_ns = newest.now->facts[FACT_captured_at_unix_ns].number;
	json_begin_object(json);
	json_key(json, "host");
	status = history_samples(history, &then, 1, write_sample, json, error);
	write_processes(json, &newest);
	json_member_array(json, "anomalies");
	if (status >= 0)
		status = history_anomalies(history, &open, write_anomaly, json, error);
	json_end_array(json);
	if (lacks_gpu && lacks_gpu[0])
		json_member_string(json, "gpu_absent", lacks_gpu);
	json_end_object(json);
	return status < 0 ? status : 0;
}

int latest_from_store(const struct store_args *args, char **ret, struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	size_t length = 0;
	struct json json;
	FILE *out;
	int status = store_args_open(args, &history, error);

	if (status < 0)
		return status;
	out = memory_stream_open(ret, &length);
	if (!out)
		return error_set(error, -ENOMEM, "out of memory");
	json = json_writer(out);
	json.one_line = true;
	status = write_document(&json, history, error);
	return fclose(out) != 0 ? error_set(error, -ENOMEM, "out of memory") : status;
}
