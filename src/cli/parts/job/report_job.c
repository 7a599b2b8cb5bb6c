/* SPDX-License-Identifier: MIT */
#include "cli/parts/job/report_job.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/args/store_args.h"
#include "host/host.h"
#include "model/run/run_snapshot.h"
#include "model/snapshot/snapshot.h"
#include "record/job/job_subject.h"
#include "store/history/job/history_job_report.h"
#include "store/history/job/history_jobs.h"
#include "store/snapshot_file.h"

static bool ends_in(const char *word, const char *ending, size_t length)
{
	size_t all = strlen(word);

	return all > length && strncmp(word + all - length, ending, length) == 0;
}

bool report_word_is_file(const char *word, const char *endings)
{
	if (strchr(word, '/') || strcmp(word, "-") == 0)
		return true;
	while (*endings) {
		size_t length = strcspn(endings, " ");

		if (ends_in(word, endings, length))
			return true;
		endings += length + (endings[length] == ' ');
	}
	return false;
}

static int make_query(const char *word, struct job_query *query, struct error *error)
{
	if (!word)
		return 0;
	if (word[0] != '#')
		query->name = word;
	else if (!parse_u64(word + 1, &query->id) || !query->id)
		return error_set(error, -EINVAL, "'%s' is not the number of a job, such as #12",
				 word);
	return 0;
}

/* How long a running job has run, or that it cannot run any more, is known by this host alone. */
static int judge(struct job_report *report, struct error *error)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct job_scene scene;
	int status = host_open(&host, NULL, error);

	if (status < 0)
		return status;
	job_scene_look(&scene, host);
	job_subject_judge(&scene, &report->job);
	report->duration_ns = job_duration_ns(&report->job, &scene.now);
	return 0;
}

int report_job_read(const struct store_args *store, const char *word, const char *step,
		    struct history **ret_history, struct job_report *ret, struct error *error)
{
	struct job_query query = { .span = { 0, UINT64_MAX } };
	int status = make_query(word, &query, error);

	if (status == 0)
		status = store_args_open(store, ret_history, error);
	if (status == 0)
		status = history_job_report(*ret_history, &query, step, ret, error);
	return status < 0 ? status : judge(ret, error);
}

int report_job_run(struct history *history, const struct job_report *report, struct run **ret,
		   struct error *error)
{
	CLEANUP(free_pointer) void *bytes = NULL;
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	size_t size;
	int status;

	if (!report->has_run)
		return error_set(error, -ENODATA,
				 "there is no run of job %s (#%" PRIu64 "): only `taskscope run "
				 "--job` keeps one, and the oldest go when there is no room%s",
				 report->job.name, report->job.id,
				 report->steps.count && !report->step ?
					 "; --step K asks for that of a step" :
					 "");
	status = history_report_run(history, report, &bytes, &size, error);
	if (status == 0)
		status = snapshot_file_decode("the run of the job", bytes, size, &snapshot, error);
	if (status == 0 && run_from_snapshot(snapshot, ret) < 0)
		status = error_set(error, -EBADMSG, "the run of the job cannot be read");
	return status;
}
