/* SPDX-License-Identifier: MIT */
/* What a recorder answers about one job, and about all of them. */
#include <string.h>

#include "base/error.h"
#include "fuzz_text.h"
#include "record/job/job_list.h"
#include "store/history/job/history_job_report.h"

static int check_row(void *context, const struct job_row *row)
{
	(void)context;
	fuzz_require(row->job->name);
	fuzz_require(row->job->outcome <= JOB_UNKNOWN || row->job->outcome == JOB_RUNNING);
	return 0;
}

static int check_hotspot(void *context, const struct job_hotspot *hotspot)
{
	(void)context;
	fuzz_require(hotspot->name);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct job_list_sinks sinks = { check_row, check_hotspot, NULL };
	char *text = fuzz_text(data, size);
	struct job_list_page page;
	size_t run_size;
	void *run;
	struct job_report report = { 0 };
	struct error error = { 0 };

	if (job_report_read(text, strlen(text), &report, &error) == 0) {
		fuzz_require(report.job.name);
		for (size_t i = 0; i < report.steps.count; i++)
			fuzz_require(report.steps.data[i].name);
		for (size_t i = 0; i < report.events.count; i++)
			fuzz_require(report.events.data[i].kind < JOB_EVENT_KIND_COUNT &&
				     report.events.data[i].count);
		for (size_t i = 0; i < report.syscalls.count; i++)
			fuzz_require(report.syscalls.data[i].name);
	} else {
		fuzz_require(error.message[0]);
	}
	job_report_clear(&report);
	if (job_run_read(text, strlen(text), &run, &run_size, &(struct error){ 0 }) == 0)
		free(run);
	(void)job_list_read(text, strlen(text), &sinks, &page, &(struct error){ 0 });
	free(text);
	return 0;
}
