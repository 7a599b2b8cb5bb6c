/* SPDX-License-Identifier: MIT */
#include "record/job/pattern_search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/output/memory_stream.h"
#include "base/text.h"
#include "render/outcome/outcome_view.h"

#define PAGE_JOBS 256

static int keep_pattern(struct history *history, const struct outcome_group *group,
			uint64_t now_unix_ns, struct error *error)
{
	CLEANUP(text_free) struct text name = { 0 };
	CLEANUP(free_pointer) char *details = NULL;
	size_t length;
	FILE *out = memory_stream_open(&details, &length);
	struct json json = json_line_writer(out);
	struct pattern pattern = {
		.unix_ns = now_unix_ns,
		.kind = PATTERN_CORRELATION,
		.jobs = group->table.jobs,
		.failures = group->table.failures,
		.rate = group->rate,
		.p_value = group->corrected_p,
	};

	if (!out)
		return error_set(error, -ENOMEM, "out of memory");
	outcome_group_json(&json, group);
	outcome_group_sentence(&name, group);
	if (fclose(out) != 0 || name.failed)
		return error_set(error, -ENOMEM, "out of memory");
	details[strcspn(details, "\n")] = 0;
	pattern.name = text_string(&name);
	pattern.details = details;
	return history_put_pattern(history, &pattern, error);
}

static void end(struct pattern_search *search, int status, const struct error *error)
{
	past_jobs_clear(&search->past);
	correlation_clear(&search->found);
	search->found = (struct correlation){ 0 };
	search->is_reading = false;
	search->ended(search->context, status, error);
}

static void keep_found(struct pattern_search *search)
{
	struct error error = { 0 };
	int status = search->status < 0 ? error_set(&error, search->status, "out of memory") : 0;

	for (size_t i = 0; i < correlation_found(&search->found) && status == 0; i++)
		status = keep_pattern(search->history, &search->found.groups.data[i],
				      search->now_unix_ns, &error);
	end(search, status, &error);
}

static void *compare(void *context)
{
	struct pattern_search *search = context;

	search->status = correlate(search->past.jobs.data, search->past.jobs.count, &search->found);
	(void)eventfd_write(search->compared_fd, 1);
	return NULL;
}

static void take_compared(void *context)
{
	struct pattern_search *search = context;
	eventfd_t count;

	(void)eventfd_read(search->compared_fd, &count);
	if (!search->is_comparing)
		return;
	search->is_comparing = false;
	(void)pthread_join(search->thread, NULL);
	keep_found(search);
}

static void begin_comparing(struct pattern_search *search)
{
	struct error error = { 0 };
	int status = -pthread_create(&search->thread, NULL, compare, search);

	search->is_comparing = status == 0;
	if (status < 0)
		end(search, error_set(&error, status, "cannot compare jobs: %s", strerror(-status)),
		    &error);
}

static void begin_reading(struct pattern_search *search)
{
	if (!search->now_unix_ns)
		search->now_unix_ns = clock_ns(CLOCK_REALTIME);
	search->is_reading = true;
	search->query = (struct job_query){
		.span = { search->now_unix_ns > CORRELATE_SPAN_NS ?
				  search->now_unix_ns - CORRELATE_SPAN_NS :
				  0,
			  search->now_unix_ns },
		.ended_only = true,
		.limit = PAGE_JOBS,
	};
}

static void read_page(void *context)
{
	struct pattern_search *search = context;
	struct error error = { 0 };
	size_t before;
	int status;

	if (!search->is_reading)
		begin_reading(search);
	before = search->past.ids.count;
	status = past_jobs_read(search->history, &search->query, &search->past, &error);
	if (status < 0)
		end(search, status, &error);
	else if (search->past.ids.count - before < PAGE_JOBS)
		begin_comparing(search);
	else {
		search->query.below_id = search->past.ids.data[search->past.ids.count - 1];
		search->due.deadline_ns = monotonic_ns();
	}
}

int pattern_search_open(struct pattern_search *search, struct loop *loop, struct history *history,
			pattern_search_ended *ended, void *context)
{
	*search = (struct pattern_search){
		.loop = loop,
		.history = history,
		.ended = ended,
		.context = context,
		.due = { .due = read_page, .context = search, .deadline_ns = LOOP_NEVER },
		.compared = { .ready = take_compared, .context = search },
		.compared_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	if (search->compared_fd < 0)
		return -errno;
	loop_add_timer(loop, &search->due);
	return loop_add_fd(loop, &search->compared, search->compared_fd, EPOLLIN);
}

void pattern_search_close(struct pattern_search *search)
{
	if (!search->loop)
		return;
	if (search->is_comparing)
		(void)pthread_join(search->thread, NULL);
	loop_remove_timer(search->loop, &search->due);
	loop_remove_fd(search->loop, &search->compared);
	close_fd(&search->compared_fd);
	past_jobs_clear(&search->past);
	correlation_clear(&search->found);
}

void pattern_search_plan(struct pattern_search *search, uint64_t deadline_ns, uint64_t now_unix_ns)
{
	search->now_unix_ns = now_unix_ns;
	search->due.deadline_ns = deadline_ns;
}
