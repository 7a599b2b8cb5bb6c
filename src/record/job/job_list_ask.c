/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/output/memory_stream.h"
#include "record/job/job_list.h"

static char *print_query(const struct job_query *query)
{
	char *text = NULL;
	size_t length;
	FILE *out = memory_stream_open(&text, &length);
	struct json json = json_line_writer(out);

	if (!out)
		return NULL;
	json_begin_object(&json);
	json_member_u64(&json, "limit", query->limit);
	json_member_u64(&json, "running", query->running_only);
	json_member_u64(&json, "own", query->has_uid);
	json_member_u64(&json, "from_ns", query->span.from_unix_ns);
	json_member_u64(&json, "below", query->below_id);
	json_member_given(&json, "name", query->name);
	json_end_object(&json);
	return memory_stream_line(out, &text);
}

static int ask_page(job_asker *ask, const char *socket, const struct job_query *query,
		    const struct job_list_sinks *sinks, struct job_list_page *ret,
		    struct error *error)
{
	CLEANUP(free_pointer) char *parameters = print_query(query);
	CLEANUP(free_pointer) char *answer = NULL;
	int status = parameters ? ask(socket, "jobs", parameters, &answer, error) :
				  error_set(error, -ENOMEM, "out of memory");

	return status < 0 ? status : job_list_read(answer, strlen(answer), sinks, ret, error);
}

int job_list_ask(job_asker *ask, const char *socket, const struct job_query *query,
		 const struct job_list_sinks *sinks, struct error *error)
{
	size_t left = query->limit ? query->limit : SIZE_MAX;
	struct job_query part = *query;
	struct job_list_page page = { .count = JOB_LIST_MOST };
	int status = 0;

	while (status == 0 && left && page.count == JOB_LIST_MOST) {
		part.limit = left < JOB_LIST_MOST ? left : JOB_LIST_MOST;
		status = ask_page(ask, socket, &part, sinks, &page, error);
		if (status == 0 &&
		    (page.count > part.limit || (part.below_id && page.last_id >= part.below_id)))
			status = error_set(error, -EBADMSG, "the recorder answered nonsense");
		left -= page.count < left ? page.count : left;
		part.below_id = page.last_id;
	}
	return status;
}
