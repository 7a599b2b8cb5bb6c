/* SPDX-License-Identifier: MIT */
#include "cli/parts/doctor/doctor_attempts.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "collect/capture.h"
#include "host/host.h"
#include "host/proc/kernel_symbols.h"
#include "trace/life/lifecycle.h"
#include "trace/tracer.h"

static struct attempt *begin(const struct host *host, struct attempts *attempts)
{
	struct attempt *attempt = &attempts->list[attempts->count++];

	attempt->state = SOURCE_OFF;
	if (!host->live)
		error_set(&attempt->reason, 0, "a recorded tree has nobody to follow");
	return attempt;
}

static void end(struct attempt *attempt, int status)
{
	attempt->state = status == 0 ? SOURCE_OK : SOURCE_UNAVAILABLE;
}

/* Prepares each way of following a tree, follows nobody, and ends it again. */
static void examine_tracers(const struct host *host, struct attempts *attempts)
{
	const struct tracer_kind *kind;

	while (attempts->count < ATTEMPTS_MAX && (kind = tracer_kind(attempts->count))) {
		struct attempt *attempt = begin(host, attempts);

		attempt->name = kind->name;
		attempt->needs = kind->needs;
		attempt->misses = kind->misses;
		if (host->live)
			end(attempt, tracer_try(kind, host, &attempt->reason));
	}
}

static int try_source(const struct host *host, const char *name, struct error *error)
{
	const struct lifecycle_options wanted = { .source = name };
	struct lifecycle *opened = NULL;
	int status = lifecycle_open(host, &wanted, &opened, error);

	lifecycle_close(opened);
	return status;
}

static void examine_lives(const struct host *host, struct attempts *attempts)
{
	struct lifecycle_kind kind;

	while (attempts->count < ATTEMPTS_MAX && lifecycle_kind(attempts->count, &kind)) {
		struct attempt *attempt = begin(host, attempts);

		attempt->name = kind.name;
		attempt->needs = kind.needs;
		attempt->misses = kind.misses;
		if (host->live)
			end(attempt, try_source(host, kind.name, &attempt->reason));
	}
}

static void examine_activity(const struct host *host, struct attempts *attempts)
{
	CLEANUP(sampling_close_pointer) struct sampling *sampling = NULL;
	const struct capture_options wanted = { .lister = LIST_BPF, .activity = true };
	struct attempt *attempt = begin(host, attempts);

	attempt->name = "bpf";
	attempt->needs = sources[SOURCE_TASK_ITERATOR].needs;
	attempt->misses = "what happens between two looks, a second apart";
	if (host->live)
		end(attempt, sampling_open(host, &wanted, &sampling, &attempt->reason));
}

static void examine_stacks(const struct host *host, struct attempts *attempts)
{
	struct attempt *attempt = begin(host, attempts);

	attempt->name = bpf_tracer.name;
	attempt->needs = bpf_tracer.needs;
	attempt->misses = "on the CPU what happens between two samples";
	if (host->live)
		attempt->state = tracer_try_stacks(host, &attempt->reason);
}

/* Without them stacks still have the functions of programs. */
static void examine_kernel_names(const struct host *host, struct attempts *attempts)
{
	CLEANUP(kernel_symbols_clear) struct kernel_symbols symbols = { 0 };
	struct attempt *attempt = begin(host, attempts);

	attempt->name = "kallsyms";
	attempt->needs = "CAP_SYSLOG, where kernel.kptr_restrict is below 2";
	attempt->misses = "functions that the compiler put into others";
	if (host->live)
		end(attempt, kernel_symbols_read(&symbols, host, &attempt->reason));
}

void attempts_examine(const struct host *host, struct doctor_attempts *ret)
{
	examine_activity(host, &ret->activity);
	examine_tracers(host, &ret->tracers);
	examine_stacks(host, &ret->stacks);
	examine_kernel_names(host, &ret->kernel_names);
	examine_lives(host, &ret->lives);
}

static void print_attempt(FILE *out, const struct attempt *attempt)
{
	fprintf(out, "  %-14s %-12s %s%s\n", attempt->name, source_state_name(attempt->state),
		attempt->misses ? "can miss " : "misses nothing",
		attempt->misses ? attempt->misses : "");
	if (attempt->state == SOURCE_OK)
		return;
	fprintf(out, "  %-14s %-12s why: %s\n", "", "", attempt->reason.message);
	if (attempt->state == SOURCE_UNAVAILABLE)
		fprintf(out, "  %-14s %-12s needs: %s\n", "", "", attempt->needs);
}

void attempts_print(FILE *out, const char *title, const struct attempts *attempts)
{
	fprintf(out, "\n%s, the first that works is used:\n", title);
	for (size_t i = 0; i < attempts->count; i++)
		print_attempt(out, &attempts->list[i]);
}

static void json_attempt(struct json *json, const struct attempt *attempt)
{
	bool is_ok = attempt->state == SOURCE_OK;

	json_begin_object(json);
	json_member_string(json, "name", attempt->name);
	json_member_string(json, "state", source_state_name(attempt->state));
	json_member_text(json, "reason", is_ok ? NULL : attempt->reason.message);
	json_member_bool(json, "usable", is_ok);
	json_member_text(json, "misses", attempt->misses);
	json_member_text(json, "needs", attempt->state == SOURCE_OFF ? NULL : attempt->needs);
	json_end_object(json);
}

void attempts_json(struct json *json, const char *key, const struct attempts *attempts)
{
	json_member_array(json, key);
	for (size_t i = 0; i < attempts->count; i++)
		json_attempt(json, &attempts->list[i]);
	json_end_array(json);
}
