/* SPDX-License-Identifier: MIT */
/*
 * Filters are written by people, and by scripts that put names into them.  One that is refused has
 * a sentence, and a position inside the text; one that is taken judges every task of a snapshot,
 * and its own text, given once more, is the same filter.
 */
#include "analyze/filter/filter.h"
#include "analyze/filter/filter_match.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "fuzz_text.h"
#include "model/snapshot/snapshot.h"

#define TASKS 4

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	uint32_t number;

	fuzz_require(snapshot_intern(snapshot, text, strlen(text), &number) == 0);
	return number;
}

/* A chain of processes, with values that some of them lack. */
static struct snapshot *some_snapshot(void)
{
	struct snapshot *snapshot;

	fuzz_require(snapshot_new(&snapshot) == 0);
	for (int32_t pid = 1; pid <= TASKS; pid++) {
		struct task task = { .tid = pid, .comm = intern(snapshot, "nginx"), .cgroup = 0 };
		uint32_t row;

		if (pid > 1)
			task.cgroup = intern(snapshot, "/system.slice/nginx.service");
		fuzz_require(snapshot_process(snapshot, pid, &task.process) == 0);
		snapshot->processes[task.process].pcomm = task.comm;
		snapshot->processes[task.process].parent = pid - 1;
		fuzz_require(snapshot_add_task(snapshot, &task, &row) == 0);
		fuzz_require(snapshot_need_column(snapshot, METRIC_rss_bytes) == 0);
		if (pid > 2)
			snapshot_set(snapshot, METRIC_rss_bytes, task.process, (uint64_t)pid << 30);
	}
	fuzz_require(snapshot_finish(snapshot) == 0);
	return snapshot;
}

static void check_taken(const struct filter *filter)
{
	static const double cpu[TASKS] = { 0, 1, 10, 100 };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = some_snapshot();
	CLEANUP(filter_clear) struct filter again = { 0 };
	CLEANUP(free_pointer) uint8_t *outcomes = NULL;
	struct error error = { 0 };

	fuzz_require(filter->terms.count > 0);
	fuzz_require(filter_add(&again, text_string(filter->text), &error) == 0);
	fuzz_require(again.terms.count == filter->terms.count);
	if (filter_match(filter, snapshot, cpu, &outcomes, &error) < 0) {
		fuzz_require(error.message[0] != '\0');
		return;
	}
	for (size_t i = 0; i < TASKS; i++)
		fuzz_require(outcomes[i] < FILTER_ABSENT + filter->terms.count);
	fuzz_require(filter_apply(&again, &snapshot, 1, &error) == 0 || error.message[0]);
}

/* Any text stands for itself when it is written as a literal. */
static void check_literal(const char *name)
{
	CLEANUP(filter_clear) struct filter filter = { 0 };
	CLEANUP(text_free) struct text term = { 0 };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = some_snapshot();
	CLEANUP(free_pointer) uint8_t *outcomes = NULL;
	struct error error = { 0 };

	if (!*name || strlen(name) > 200)
		return;
	text_append_string(&term, "comm=");
	filter_append_literal(&term, name, "");
	snapshot->tasks[0].comm = intern(snapshot, name);
	fuzz_require(filter_add(&filter, term.data, &error) == 0);
	fuzz_require(filter_match(&filter, snapshot, NULL, &outcomes, &error) == 0);
	fuzz_require(outcomes[0] == FILTER_YES);
	fuzz_require(outcomes[1] == (strcmp(name, "nginx") == 0 ? FILTER_YES : FILTER_NO));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_pointer) char *text = fuzz_text(data, size);
	CLEANUP(filter_clear) struct filter filter = { 0 };
	struct error error = { 0 };

	if (filter_add(&filter, text, &error) < 0) {
		fuzz_require(error.message[0] != '\0');
		fuzz_require(error.caret <= strlen(error.excerpt));
	} else {
		check_taken(&filter);
	}
	check_literal(text);
	return 0;
}
