/* SPDX-License-Identifier: MIT */
#include "cli/parts/job/outcome_jobs.h"

#include <errno.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/args/store_args.h"
#include "record/job/past_jobs.h"
#include "store/history/job/history_jobs.h"

static int ask_root(const struct store_args *store, const char *socket, uint64_t age_ns,
		    struct job_query *query, struct past_jobs *ret, struct error *error)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	if (store->since.given)
		age_ns = store->since.value;
	query->span.from_unix_ns = age_ns && age_ns < now_ns ? now_ns - age_ns : 0;
	query->span.to_unix_ns = UINT64_MAX;
	return past_jobs_ask(socket, query, ret, error);
}

int outcome_jobs_read(const struct store_args *store, const char *socket, uint64_t age_ns,
		      struct job_query *query, struct past_jobs *ret, struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	int asked = store->store && !socket ? -ENOENT :
					      ask_root(store, socket, age_ns, query, ret, error);
	struct error why = { 0 };
	int status;

	/* The caller's own store, if there is one, may have jobs that ran before there was such a recorder. */
	if (socket || (asked != -ENOENT && (asked < 0 || ret->jobs.count)))
		return asked;
	status = store_args_open(store, &history, &why);
	if (status == -ENOENT && asked == 0)
		return 0;
	if (status < 0)
		return error_set(error, status, "%s", why.message);
	query->span = store_args_span(store, history, age_ns);
	return past_jobs_read(history, query, ret, error);
}
