/* SPDX-License-Identifier: MIT */
#include "collect/gpu/gpu_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/gpu/drm_devices.h"
#include "host/gpu/gpu.h"
#include "host/gpu/gpu_error.h"

/* The number of the first PID namespace of every host. */
#define FIRST_PID_NAMESPACE 0xeffffffc

static const enum metric_id gpu_metrics[] = { METRIC_gpu_memory_bytes, METRIC_gpu_busy_percent,
					      METRIC_gpu_time_ns };

static const char *const value_names[GPU_VALUE_COUNT] = {
#define GPU_VALUE(id, ...) [GPU_##id] = #id,
#include "host/gpu/gpu_values.def"
};

void gpu_source_close(struct gpu_source *source)
{
	if (!source)
		return;
	gpu_close(source->nvidia);
	drm_clients_clear(&source->clients);
	free(source);
}

/* Opens what the first sample needs: a recorded tree has no driver to ask. */
static int open_source(struct capture *capture)
{
	struct gpu_source **source = &capture->sampling->gpu;

	if (*source)
		return 0;
	*source = calloc(1, sizeof(**source));
	if (!*source)
		return -ENOMEM;
	return capture->host->live ? gpu_open(&(*source)->nvidia) : 0;
}

int gpu_begin(struct capture *capture)
{
	int status;

	if (!source_wanted(capture, SOURCE_GPU))
		return 0;
	status = open_source(capture);
	if (status == 0 && capture->sampling->gpu->nvidia)
		gpu_ask(capture->sampling->gpu->nvidia);
	return status;
}

static int note_text(struct capture *capture, uint32_t index, const char *what, const char *text)
{
	char name[SHEET_NAME_SIZE];

	snprintf(name, sizeof(name), "gpu %" PRIu32 " %s", index, what);
	return text[0] ? snapshot_note_text(capture->snapshot, SHEET_HOST, name, text) : 0;
}

static int note_device(struct capture *capture, uint32_t index, const struct gpu_device *device)
{
	struct snapshot *snapshot = capture->snapshot;
	int status = note_text(capture, index, "name", device->name);

	if (status == 0)
		status = note_text(capture, index, "uuid", device->uuid);
	for (int id = 0; status == 0 && id < GPU_VALUE_COUNT; id++) {
		const struct gpu_number *number = &device->values[id];
		char name[SHEET_NAME_SIZE];

		snprintf(name, sizeof(name), "gpu %" PRIu32 " %s", index, value_names[id]);
		status = number->error ?
				 sheet_set_absent(&snapshot->sheets[SHEET_HOST], name,
						  gpu_error_words(number->error)) :
				 snapshot_note_number(snapshot, SHEET_HOST, name, number->value);
	}
	return status;
}

static void add_to_cell(struct snapshot *snapshot, enum metric_id id, uint32_t row,
			const struct gpu_number *number)
{
	uint64_t before = 0;

	if (number->error)
		return;
	(void)snapshot_get(snapshot, id, row, &before);
	snapshot_set(snapshot, id, row, before + number->value);
}

/* A process that began after the question is another one, which has the number now. */
static void note_processes(struct capture *capture, const struct gpu_report *report)
{
	uint64_t asked_ns = gpu_asked_boot_ns(capture->sampling->gpu->nvidia);
	struct snapshot *snapshot = capture->snapshot;

	for (uint32_t i = 0; i < report->process_count; i++) {
		const struct gpu_process *process = &report->processes[i];
		int64_t row = snapshot_find_process(snapshot, (int32_t)process->pid);

		if (row < 0 || snapshot->processes[row].start_time_ns > asked_ns)
			continue;
		add_to_cell(snapshot, METRIC_gpu_memory_bytes, (uint32_t)row,
			    &process->memory_bytes);
		add_to_cell(snapshot, METRIC_gpu_busy_percent, (uint32_t)row,
			    &process->busy_percent);
	}
}

/* Why the driver's numbers of processes mean nothing here, or NULL. */
static const char *no_processes(const struct capture *capture)
{
	uint64_t namespace;

	if (capture->proc_is_foreign)
		return PROC_IS_FOREIGN;
	if (host_namespace(capture->host, "pid", &namespace) && namespace != FIRST_PID_NAMESPACE)
		return "NVIDIA's driver has the host's numbers of processes, and this is another "
		       "PID namespace";
	return NULL;
}

/* What of the driver's answer is missing, for the source's report. */
static void append_gaps(struct text *out, const struct gpu_report *report)
{
	if (report->devices_left_out)
		text_format(out, "; %" PRIu32 " more could not be asked: %s",
			    report->devices_left_out,
			    report->left_out_error ? gpu_error_words(report->left_out_error) :
						     "more than are kept");
	if (report->processes_left_out)
		text_format(out, "; %" PRIu32 " processes found no room",
			    report->processes_left_out);
	for (uint32_t i = 0; i < report->device_count; i++)
		if (report->devices[i].processes_error)
			text_format(out, "; processes of GPU %" PRIu32 ": %s", i,
				    gpu_error_words(report->devices[i].processes_error));
}

/* How both kinds of drivers did, in words. */
struct outcome {
	struct text how;	  /* they answered */
	struct text failure;	  /* they did not */
	struct text no_busy;	  /* why processes have no utilisation */
	const char *no_processes; /* of NVIDIA */
	bool has_nvidia, has_drm, is_partial;
	bool is_late; /* NVIDIA's driver may answer at another time */
};

static void outcome_clear(struct outcome *outcome)
{
	text_free(&outcome->how);
	text_free(&outcome->failure);
	text_free(&outcome->no_busy);
}

static int take_nvidia(struct capture *capture, struct outcome *outcome)
{
	struct gpu_source *source = capture->sampling->gpu;
	const struct gpu_report *report;
	int status = 0;

	if (!source->nvidia)
		return 0;
	report = gpu_take(source->nvidia, source->samples++	   ? GPU_LATER_MS :
					  capture->options->gpu_ms ? capture->options->gpu_ms :
								     GPU_FIRST_MS);
	if (!report) {
		text_append_string(&outcome->failure, gpu_reason(source->nvidia));
		outcome->is_late = gpu_way(source->nvidia) != NULL;
		return 0;
	}
	outcome->has_nvidia = true;
	outcome->no_processes = no_processes(capture);
	text_format(&outcome->how, "%s tells of %" PRIu32 " GPU%s", gpu_way(source->nvidia),
		    report->device_count, report->device_count == 1 ? "" : "s");
	append_gaps(&outcome->how, report);
	outcome->is_partial = report->devices_left_out || report->processes_left_out;
	for (uint32_t i = 0; status == 0 && i < report->device_count; i++) {
		status = note_device(capture, i, &report->devices[i]);
		outcome->is_partial |= report->devices[i].processes_error != 0;
		if (report->devices[i].busy_error && !outcome->no_busy.length)
			text_append_string(&outcome->no_busy,
					   gpu_error_words(report->devices[i].busy_error));
	}
	if (status == 0 && !outcome->no_processes)
		note_processes(capture, report);
	return status;
}

static int take_drm(struct capture *capture, struct outcome *outcome)
{
	int count = drm_devices_read(capture);

	if (count <= 0 || capture->proc_is_foreign) {
		text_format(&outcome->failure, "%s%s", outcome->failure.length ? "; " : "",
			    count > 0		? PROC_IS_FOREIGN :
			    capture->host->live ? "there is no other GPU with a driver" :
						  NOT_RECORDED);
		return count < 0 ? count : 0;
	}
	outcome->has_drm = true;
	text_format(&outcome->how, "%ssys and fdinfo tell of %d GPU%s",
		    outcome->how.length ? "; " : "", count, count == 1 ? "" : "s");
	return drm_clients_read(&capture->sampling->gpu->clients, capture);
}

/* Why cells are absent. */
static int explain(struct capture *capture, const struct outcome *outcome)
{
	static const char unused[] = "processes that use no GPU have none";
	const char *failure = text_string(&outcome->failure);
	bool has_any = outcome->has_nvidia || outcome->has_drm;
	const char *reasons[] = {
		outcome->no_processes && !outcome->has_drm ? outcome->no_processes :
		has_any					   ? unused :
							     failure,
		outcome->no_processes	? outcome->no_processes :
		outcome->no_busy.length ? text_string(&outcome->no_busy) :
		outcome->has_nvidia	? unused :
		outcome->has_drm	? "only NVIDIA's driver tells it: see gpu_time_ns" :
					  failure,
		outcome->has_drm    ? unused :
		outcome->has_nvidia ? "NVIDIA's driver does not tell it: see gpu_busy_percent" :
				      failure,
	};
	int status = 0;

	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(gpu_metrics); i++)
		if (snapshot_measured(capture->snapshot, gpu_metrics[i]) <
		    capture->snapshot->process_count)
			status = snapshot_set_absent(capture->snapshot, gpu_metrics[i], reasons[i]);
	if (status == 0 && !has_any)
		status = sheet_set_absent(&capture->snapshot->sheets[SHEET_HOST], "gpu *", failure);
	return status;
}

static int report_source(struct capture *capture, const struct outcome *outcome)
{
	struct source_tally *tally = &capture->tallies[SOURCE_GPU];
	bool has_any = outcome->has_nvidia || outcome->has_drm;
	const struct text *words = has_any ? &outcome->how : &outcome->failure;
	char *reason = arena_copy(&capture->snapshot->arena, text_string(words), words->length);

	if (words->failed || !reason)
		return -ENOMEM;
	if (!has_any) {
		source_set_missing(tally, reason);
		if (outcome->is_late)
			tally->error = EAGAIN;
	} else {
		tally->read += !tally->read;
		tally->reason = tally->failed ? tally->reason : reason;
	}
	tally->is_partial |= outcome->is_partial;
	return explain(capture, outcome);
}

int gpu_collect(struct capture *capture)
{
	CLEANUP(outcome_clear) struct outcome outcome = { 0 };
	int status = 0;

	if (!source_wanted(capture, SOURCE_GPU))
		return 0;
	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(gpu_metrics); i++)
		status = snapshot_need_column(capture->snapshot, gpu_metrics[i]);
	if (status == 0)
		status = take_nvidia(capture, &outcome);
	if (status == 0)
		status = take_drm(capture, &outcome);
	return status < 0 ? status : report_source(capture, &outcome);
}
