/* SPDX-License-Identifier: MIT */
#include "cli/parts/find_processes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/filter/filter.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/args/filter_args.h"
#include "cli/args/pid_list.h"
#include "collect/capture.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "render/page.h"
#include "render/table/table.h"
#include "render/value.h"

#define WITHOUT(id) (1u << SOURCE_##id)
/* What says nothing about a task. */
#define HOST_SOURCES                                                                               \
	(WITHOUT(CGROUP_FILES) | WITHOUT(PRESSURE) | WITHOUT(SCHED_EXT) | WITHOUT(HOST_FIGURES))
/* What finding a name does not need. */
#define OTHER_SOURCES                                                                              \
	(HOST_SOURCES | WITHOUT(SCHEDSTAT) | WITHOUT(SCHED) | WITHOUT(IO) | WITHOUT(AFFINITY) |    \
	 WITHOUT(CGROUP) | WITHOUT(STATM) | WITHOUT(FDS) | WITHOUT(LIMITS) | WITHOUT(EXE) |        \
	 WITHOUT(TASKSTATS) | WITHOUT(JEMALLOC) | WITHOUT(SCOPES))

/* Adds this process and those that it was started from. */
static int add_own(const struct snapshot *snapshot, struct pid_list *own)
{
	int32_t pid = getpid();

	/* A chain of parents is shorter than the list of processes. */
	for (size_t steps = 0; pid && steps < snapshot->process_count; steps++) {
		int64_t row = snapshot_find_process(snapshot, pid);

		if (array_append(&own->pids, pid) < 0)
			return -ENOMEM;
		pid = row < 0 ? 0 : snapshot_parent(snapshot, (uint32_t)row);
	}
	return 0;
}

static bool has_pid(const struct pid_list *list, int32_t pid)
{
	for (size_t i = 0; i < list->pids.count; i++)
		if (list->pids.data[i] == pid)
			return true;
	return false;
}

static int leave_out(struct snapshot *snapshot, const struct pid_list *own)
{
	CLEANUP(free_pointer) uint8_t *keep = malloc(snapshot->task_count + 1);

	if (!keep)
		return -ENOMEM;
	for (uint32_t task = 0; task < snapshot->task_count; task++)
		keep[task] = !has_pid(own, snapshot->processes[snapshot->tasks[task].process].tgid);
	return snapshot_keep(snapshot, keep);
}

/* Captures, and leaves what matches.  *ret_own says that a process of our own did. */
static int find(const struct host *host, const struct filter *filter,
		const struct capture_options *options, struct snapshot **ret, bool *ret_own,
		struct error *error)
{
	CLEANUP(pid_list_free) struct pid_list own = { 0 };
	size_t matching;
	int status = capture_take(host, options, ret, error);

	if (status == 0 && host->live && add_own(*ret, &own) < 0)
		status = error_set(error, -ENOMEM, "out of memory");
	if (status == 0)
		status = filter_apply(filter, ret, 1, error);
	if (status < 0)
		return status;
	matching = (*ret)->process_count;
	if (leave_out(*ret, &own) < 0)
		return error_set(error, -ENOMEM, "out of memory");
	*ret_own = (*ret)->process_count < matching;
	return 0;
}

static int nothing_found(const struct snapshot *found, bool is_own, struct error *error)
{
	const struct filter_absence *absent = found->filter.absences;

	if (is_own)
		return error_set(error, -ESRCH,
				 "only taskscope itself, or what it was started from, matches '%s'",
				 found->filter.text);
	if (absent && absent->tasks)
		return error_set(error, -ESRCH,
				 "no process matches '%s'; of %" PRIu64 " task%s %s is absent: %s",
				 found->filter.text, absent->tasks, absent->tasks == 1 ? "" : "s",
				 absent->name, absent->reason);
	return error_set(error, -ESRCH, "no process matches '%s'", found->filter.text);
}

int find_processes(const struct host *host, const struct filter *filter, struct snapshot **ret,
		   struct error *error)
{
	const struct capture_options options = { .without = HOST_SOURCES };
	CLEANUP(snapshot_free_pointer) struct snapshot *found = NULL;
	bool is_own = false;
	int status = find(host, filter, &options, &found, &is_own, error);

	if (status < 0)
		return status;
	if (found->process_count == 0)
		return nothing_found(found, is_own, error);
	*ret = TAKE_PTR(found);
	return 0;
}

/* Whether a process has exactly this name. */
static bool has_name(const struct snapshot *snapshot, uint32_t process, const char *name)
{
	return strcmp(snapshot_text(snapshot, snapshot->processes[process].pcomm), name) == 0;
}

/* A name that looks like a glob is meant as a name where a process has it. */
static int prefer_exact(struct snapshot *snapshot, const char *name, struct error *error)
{
	CLEANUP(free_pointer) uint8_t *keep = calloc(snapshot->task_count + 1, 1);
	bool found = false;

	if (!keep)
		return error_set(error, -ENOMEM, "out of memory");
	for (uint32_t task = 0; task < snapshot->task_count; task++)
		found |= keep[task] = has_name(snapshot, snapshot->tasks[task].process, name);
	if (found && snapshot_keep(snapshot, keep) < 0)
		return error_set(error, -ENOMEM, "out of memory");
	return 0;
}

static int add_name(struct filter *filter, const char *name, struct error *error)
{
	CLEANUP(text_free) struct text term = { 0 };

	if (strchr(name, '"'))
		return error_set(error, -EINVAL,
				 "a name with quotes goes into --filter, such as "
				 "--filter 'pcomm=\"...\"'");
	text_format(&term, "pcomm=\"%s\"", name);
	return term.failed ? error_set(error, -ENOMEM, "out of memory") :
			     filter_add(filter, term.data, error);
}

int find_processes_named(const struct host *host, const char *name, struct snapshot **ret,
			 struct error *error)
{
	const struct capture_options options = { .lister = LIST_PROCFS, .without = OTHER_SOURCES };
	CLEANUP(snapshot_free_pointer) struct snapshot *found = NULL;
	CLEANUP(filter_clear) struct filter filter = { 0 };
	bool is_own = false;
	int status = add_name(&filter, name, error);

	if (status == 0)
		status = find(host, &filter, &options, &found, &is_own, error);
	if (status == 0)
		status = prefer_exact(found, name, error);
	if (status < 0)
		return status;
	if (found->process_count == 0)
		return is_own ? error_set(error, -ESRCH,
					  "only taskscope itself, or what it was started from, is "
					  "called '%s'",
					  name) :
				error_set(error, -ESRCH, "no process is called '%s'", name);
	*ret = TAKE_PTR(found);
	return 0;
}

/* The process that all others descend from, or -1. */
static int64_t common_root(const struct snapshot *found)
{
	int64_t root = -1;

	for (uint32_t row = 0; row < found->process_count; row++) {
		int32_t parent = snapshot_parent(found, row);

		if (parent && snapshot_find_process(found, parent) >= 0)
			continue;
		if (root >= 0)
			return -1;
		root = row;
	}
	return root;
}

static void put_start(struct table *table, const struct snapshot *found,
		      const struct process *process)
{
	const struct fact *now = &found->facts[FACT_captured_at_unix_ns];
	const struct fact *uptime = &found->facts[FACT_boottime_ns];

	if (!now->present || !uptime->present) {
		put_absent(table, NULL);
		return;
	}
	moment_text(put_begin(table), now->number - uptime->number + process->start_time_ns);
	put_end(table);
}

static void print_found(const struct snapshot *found, FILE *out)
{
	static const struct table_column columns[] = {
		{ "pid", TABLE_RIGHT, .unit = UNIT_ID },
		{ "user", TABLE_LEFT, .unit = UNIT_TEXT },
		{ "started", TABLE_LEFT, .unit = UNIT_TEXT },
		{ "command", TABLE_NAME, .unit = UNIT_TEXT },
	};
	CLEANUP(table_clear) struct table table = { 0 };
	struct page page;

	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	for (size_t row = 0; row < found->process_count; row++) {
		const struct process *process = &found->processes[row];

		put_number(&table, (uint64_t)process->tgid);
		put_string(&table, snapshot_text(found, process->user));
		put_start(&table, found, process);
		put_string(&table, snapshot_text(found, process->cmdline ? process->cmdline :
									   process->pcomm));
	}
	page_open(&page, out);
	(void)table_print(&table, &page.terminal, page.out);
	(void)page_close(&page);
}

static int take_one(const struct snapshot *found, const char *what, int32_t *ret, FILE *out,
		    struct error *error)
{
	int64_t root = common_root(found);

	if (found->process_count == 1) {
		*ret = found->processes[0].tgid;
		return 0;
	}
	print_found(found, out);
	if (root < 0)
		return error_set(error, -EINVAL,
				 "%zu processes match '%s': name one of them by its number",
				 found->process_count, what);
	return error_set(error, -EINVAL,
			 "%zu processes match '%s', and %" PRId32
			 " started the others: name one of them by its number",
			 found->process_count, what, found->processes[root].tgid);
}

/* By a number or a name alone. */
static int find_by_word(const struct host *host, const char *word, int32_t *ret, FILE *out,
			struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *found = NULL;
	int status;

	*ret = pid_of_word(word, strlen(word));
	if (*ret)
		return 0;
	if (strspn(word, "0123456789") == strlen(word))
		return error_set(error, -EINVAL, "'%s' is not a process id", word);
	status = find_processes_named(host, word, &found, error);
	return status < 0 ? status : take_one(found, word, ret, out, error);
}

int find_one_process(const struct host *host, const struct filter_args *args, int32_t *ret,
		     FILE *out, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *found = NULL;
	CLEANUP(filter_clear) struct filter filter = { 0 };
	int status;

	if (!filter_args_beyond_pids(args))
		return find_by_word(host, args->pids, ret, out, error);
	status = filter_args_read(args, &filter, error);
	if (status == 0)
		status = find_processes(host, &filter, &found, error);
	return status < 0 ? status : take_one(found, found->filter.text, ret, out, error);
}
