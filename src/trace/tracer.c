/* SPDX-License-Identifier: MIT */
#include "trace/tracer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/text.h"
#include "model/tree/run.h"

/* Best first. */
static const struct tracer_kind *const kinds[] = {
	&bpf_tracer,
	&connector_tracer,
	&procfs_tracer,
};

/* A tracer, and why better ones do not work here. */
struct opened {
	struct tracer tracer;
	struct tracer_options options;
	char *reasons[ARRAY_SIZE(kinds)];
};

static struct opened *opened_of(const struct tracer *tracer)
{
	return (struct opened *)tracer;
}

static const struct tracer_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return NULL;
}

static int refuse_name(const char *name, struct error *error)
{
	struct text known = { 0 };
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		text_format(&known, "%s%s", i ? ", " : "", kinds[i]->name);
	status = error_set(error, -EINVAL,
			   "there is no way to follow processes that is called '%s': use one of %s",
			   name, text_string(&known));
	text_free(&known);
	return status;
}

static int open_kind(const struct tracer_kind *kind, const struct host *host,
		     const struct tracer_options *options, struct tracer *ret, struct error *error)
{
	int status;

	if (!kind->open)
		return error_set(error, -ENOTSUP, "this program was built without it");
	status = kind->open(host, options, &ret->state, error);
	if (status < 0)
		return error_set(error, status, "it cannot be used: %s", strerror(-status));
	ret->kind = kind;
	return 0;
}

static int open_named(struct opened *opened, const struct host *host, const char *name,
		      const struct tracer_options *options, struct error *error)
{
	const struct tracer_kind *kind = find_kind(name);
	struct error reason = { 0 };
	int status;

	if (!kind)
		return refuse_name(name, error);
	status = open_kind(kind, host, options, &opened->tracer, &reason);
	if (status < 0)
		return error_set(error, status, "cannot follow processes by %s: %s", name,
				 reason.message);
	return 0;
}

static int refuse_all(const struct opened *opened, int status, struct error *error)
{
	struct text reasons = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		text_format(&reasons, "%s%s: %s", i ? "; " : "", kinds[i]->name,
			    opened->reasons[i]);
	status = error_set(error, status, "no way to follow processes works here: %s",
			   text_string(&reasons));
	text_free(&reasons);
	return status;
}

static int open_first(struct opened *opened, const struct host *host,
		      const struct tracer_options *options, struct error *error)
{
	int status = -ENOTSUP;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct error reason = { 0 };

		status = open_kind(kinds[i], host, options, &opened->tracer, &reason);
		if (status == 0)
			return 0;
		opened->reasons[i] = strdup(reason.message);
		if (status == -ENOMEM || !opened->reasons[i])
			return error_set(error, -ENOMEM, "out of memory");
	}
	return refuse_all(opened, status, error);
}

int tracer_open(const struct host *host, const char *name, const struct tracer_options *options,
		struct tracer **ret, struct error *error)
{
	struct opened *opened = calloc(1, sizeof(*opened));
	int status;

	if (!opened)
		return error_set(error, -ENOMEM, "out of memory");
	opened->options = *options;
	if (name)
		status = open_named(opened, host, name, options, error);
	else
		status = open_first(opened, host, options, error);
	if (status < 0) {
		tracer_close(&opened->tracer);
		return status;
	}
	*ret = &opened->tracer;
	return 0;
}

const struct tracer_kind *tracer_kind(size_t place)
{
	return place < ARRAY_SIZE(kinds) ? kinds[place] : NULL;
}

int tracer_try(const struct tracer_kind *kind, const struct host *host, struct error *error)
{
	const struct tracer_options options = { .syscalls = true, .waits = true };
	struct tracer tracer;
	int status = open_kind(kind, host, &options, &tracer, error);

	if (status == 0)
		kind->close(tracer.state);
	return status;
}

enum source_state tracer_try_stacks(const struct host *host, struct error *error)
{
	const struct tracer_options options = { .waits = true, .stacks = { 99, NS_PER_MS } };
	const struct source_report *trouble;
	enum source_state state = SOURCE_OK;
	struct tracer tracer;

	if (open_kind(&bpf_tracer, host, &options, &tracer, error) < 0)
		return SOURCE_UNAVAILABLE;
	trouble = bpf_tracer.stack_trouble ? bpf_tracer.stack_trouble(tracer.state) : NULL;
	if (trouble) {
		state = trouble->state;
		error_set(error, 0, "%s", trouble->reason);
	}
	bpf_tracer.close(tracer.state);
	return state;
}

static int report_stacks(const struct opened *opened, struct run *run)
{
	const struct tracer_stack_options *asked = &opened->options.stacks;
	const struct tracer *tracer = &opened->tracer;
	const struct source_report *trouble;

	if (!asked->frequency_hz && !asked->off_cpu_min_ns)
		return run_add_source(run, "stacks", SOURCE_OFF, "not asked for");
	trouble = tracer->kind->stack_trouble(tracer->state);
	return run_add_source(run, "stacks", trouble ? trouble->state : SOURCE_OK,
			      trouble ? trouble->reason : NULL);
}

/* A source that would work is off when nobody asked for it. */
static int report_source(const struct opened *opened, const struct source_report *row,
			 struct run *run)
{
	bool works = row->state == SOURCE_OK;

	if (works && !opened->options.syscalls && strcmp(row->name, "syscalls") == 0)
		return run_add_source(run, row->name, SOURCE_OFF, "not asked for");
	if (works && !opened->options.waits && strcmp(row->name, "critical_path") == 0)
		return run_add_source(run, row->name, SOURCE_OFF, "not asked for");
	if (works && strcmp(row->name, "stacks") == 0)
		return report_stacks(opened, run);
	return run_add_source(run, row->name, row->state, row->reason);
}

int tracer_report(const struct tracer *tracer, struct run *run)
{
	const struct opened *opened = opened_of(tracer);
	int status = 0;

	for (size_t i = 0; i < tracer->kind->source_count && status == 0; i++)
		status = report_source(opened, &tracer->kind->sources[i], run);
	run->tracer = tracer->kind->name;
	run->tracer_misses = tracer->kind->misses;
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && status == 0; i++)
		if (opened->reasons[i])
			status = run_add_source(run, kinds[i]->name, SOURCE_UNAVAILABLE,
						opened->reasons[i]);
	return status;
}

void tracer_close(struct tracer *tracer)
{
	if (!tracer)
		return;
	if (tracer->kind)
		tracer->kind->close(tracer->state);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		free(opened_of(tracer)->reasons[i]);
	free(tracer);
}
