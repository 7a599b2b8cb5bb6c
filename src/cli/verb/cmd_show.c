/* SPDX-License-Identifier: MIT */
/*
 * show: shows a snapshot, from a file or taken now, by groups.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyze/group/forest.h"
#include "analyze/group/group.h"
#include "analyze/group/group_sorting.h"
#include "analyze/group/group_tree.h"
#include "analyze/group/selection.h"
#include "analyze/verdict/losses.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/args/capture_args.h"
#include "cli/args/grouping_args.h"
#include "cli/parts/compare/two_captures.h"
#include "model/snapshot/snapshot.h"
#include "render/page.h"
#include "render/sheet/sheet_view.h"
#include "render/snapshot/snapshot_view.h"
#include "store/recording.h"

#define GROUPS_IN_TEXT 20
#define OUTPUT_BUFFER ((size_t)256 * 1024)

static struct {
	struct capture_args capture;
	struct grouping_args grouping;
	struct view_args view;
	struct option_number wait, interval, count;
	bool forest;
} args;

static const struct option options[] = {
	{ 'd', "duration", OPTION_DURATION, &args.wait, "TIME",
	  "show what happens now: capture, again after TIME, and show what was done in a second",
	  NULL },
	{ 'i', "interval", OPTION_DURATION, &args.interval, "TIME",
	  "show it again and again, TIME apart, until Ctrl-C", NULL },
	{ 0, "count", OPTION_NUMBER, &args.count, "N", "with -i: so many times", NULL },
	AXIS_OPTION(args.view),
	SORT_OPTION(args.view, "LIST",
		    "order by metrics, tasks, group or pid, each with :asc or :desc (default: "
		    "run_time_ns)"),
	{ 0, "forest", OPTION_FLAG, &args.forest, NULL,
	  "processes, each below the one that started it", NULL },
	METRICS_OPTION(args.view, "metrics to show, e.g. majflt,*_delay_total_ns"),
	LIMIT_OPTION(args.view,
		     "show the first N groups, 0 for all (default: 20 as text, else all)"),
	SECTIONS_OPTION(args.view, "of " SECTION_NAMES, SECTION_NAMES),
	COLUMNS_OPTION(args.view, VIEW_COLUMNS),
	FORMAT_OPTION(args.view, "text|json|csv"),
	VERBOSE_OPTION(args.view, "also say what else could not be read, and why"),
	GROUPING_OPTIONS(args.grouping),
	CAPTURE_OPTIONS(args.capture),
	{ 0 },
};

/*
 * The metrics that fit a terminal and answer the first questions: CPU, waiting,
 * disk, memory, files.
 */
static const enum metric_id text_metrics[] = {
	METRIC_run_time_ns, METRIC_wait_time_ns, METRIC_majflt,	  METRIC_read_bytes,
	METRIC_write_bytes, METRIC_rss_bytes,	 METRIC_open_fds,
};

/*
 * The same for a run: what they did and waited for, the largest, how they ended.  A name of 15
 * characters, the number of processes and the first four are 80 columns.
 */
static const enum metric_id run_metrics[] = {
	METRIC_run_time_ns, METRIC_wait_costly_ns, METRIC_hiwater_rss_bytes,
	METRIC_failures,    METRIC_wait_time_ns,
};

/* Without BPF only the wait for a CPU is known. */
static const enum metric_id run_metrics_without_reasons[] = {
	METRIC_run_time_ns, METRIC_wait_time_ns,   METRIC_hiwater_rss_bytes,
	METRIC_failures,    METRIC_wait_costly_ns,
};

/* Everything that the options say, parsed before a file is opened or a host is read. */
struct request {
	enum view_format format;
	enum group_axis axis;
	struct grouping_options grouping;
	struct group_sorting sort;
	struct snapshot_view view;
};

/* A line of CSV is a task, a group or a reading; one file cannot mix them. */
static int check_csv(const struct request *request, struct error *error)
{
	uint32_t sections = request->view.sections;

	if (request->format != FORMAT_CSV || !(sections & READING_SECTIONS) ||
	    !(sections & ~READING_SECTIONS))
		return 0;
	return error_set(error, -EINVAL,
			 "csv is one table: ask for sections of tasks (identity to scopes) or of "
			 "readings (cgroups to host-details), not both");
}

/* Without a list: text has its overview; else only the metrics of -m if given; else everything. */
static int parse_sections(struct request *request, struct error *error)
{
	int status = 0;

	if (args.view.sections)
		status = sections_parse(args.view.sections, &request->view.sections, error);
	else if (request->format == FORMAT_JSON && !args.view.metrics)
		request->view.sections = ALL_SECTIONS;
	return status < 0 ? status : check_csv(request, error);
}

/* What the rows are ordered by stands first, since the last columns give way on a narrow terminal. */
static void choose_overview(struct request *request, const enum metric_id *ids, size_t count)
{
	struct selection *shown = &request->view.metrics;

	*shown = (struct selection){ 0 };
	for (size_t i = 0; i < request->sort.count; i++)
		if (request->sort.keys[i].by == ORDER_METRIC)
			selection_add(shown, request->sort.keys[i].metric);
	for (size_t i = 0; i < count; i++)
		selection_add(shown, ids[i]);
}

static int parse_metrics(struct request *request, struct error *error)
{
	struct selection *shown = &request->view.metrics;

	if (args.view.metrics)
		return selection_parse(args.view.metrics, shown, error);
	if (args.view.sections) {
		selection_add_sections(shown, request->view.sections);
		return 0;
	}
	request->view.may_leave_out = true;
	if (request->format == FORMAT_TEXT)
		choose_overview(request, text_metrics, ARRAY_SIZE(text_metrics));
	else
		selection_all(shown);
	return 0;
}

static int parse_columns(struct request *request, struct error *error)
{
	int status = view_has_columns(&args.view, ", and -m chooses its metrics", error);

	return status > 0 ? view_columns_parse(args.view.columns, &request->view.columns, error) :
			    status;
}

static int parse_request(struct request *request, struct error *error)
{
	int status;

	request->format = view_format(&args.view);
	request->axis = args.forest && !args.view.group_by ? AXIS_PROCESS : view_axis(&args.view);
	if (args.forest && request->axis != AXIS_PROCESS)
		return error_set(error, -EINVAL, "--forest is of processes: -g process");
	request->view.is_verbose = args.view.verbose;
	request->view.limit = view_limit(&args.view, GROUPS_IN_TEXT);
	status = grouping_args_read(&args.grouping, &request->grouping, error);
	if (status == 0)
		status = parse_columns(request, error);
	if (status == 0)
		status = parse_sections(request, error);
	if (status == 0 && args.view.sort)
		status = group_sorting_parse(args.view.sort, &request->sort, error);
	if (status == 0)
		status = parse_metrics(request, error);
	for (size_t i = request->sort.count; i-- > 0 && status == 0;)
		if (request->sort.keys[i].by == ORDER_METRIC)
			selection_add_first(&request->view.metrics, request->sort.keys[i].metric);
	return status;
}

/* The metrics of the overview depend on what the file holds. */
static void choose_run_metrics(struct request *request, const struct snapshot *snapshot)
{
	bool has_reasons = snapshot_measured(snapshot, METRIC_wait_disk_ns) > 0;

	if (!args.view.metrics && !args.view.sections && request->format == FORMAT_TEXT)
		choose_overview(request, has_reasons ? run_metrics : run_metrics_without_reasons,
				ARRAY_SIZE(run_metrics));
}

/*
 * Without -s: the section of the heap by what lives there; else by time on a CPU, else by the
 * first shown metric with numbers, else by tasks.
 */
static struct group_sort default_sort(const struct snapshot *snapshot,
				      const struct snapshot_view *view)
{
	const struct selection *shown = &view->metrics;

	if (view->sections == 1u << SECTION_HEAP &&
	    snapshot_measured(snapshot, METRIC_allocated_bytes))
		return (struct group_sort){ .by = ORDER_METRIC,
					    .metric = METRIC_live_heap_estimate };
	if (snapshot_measured(snapshot, METRIC_run_time_ns))
		return (struct group_sort){ .by = ORDER_METRIC, .metric = METRIC_run_time_ns };
	for (size_t i = 0; i < shown->count; i++) {
		enum metric_id id = shown->ids[i];

		if (!metric_is_derived(id) && metrics[id].kind != KIND_CATEGORY &&
		    id != METRIC_thread_count && snapshot_measured(snapshot, id))
			return (struct group_sort){ .by = ORDER_METRIC, .metric = id };
	}
	return (struct group_sort){ .by = ORDER_TASKS };
}

static int check_times(const struct request *request, int count, struct error *error)
{
	bool is_live = args.wait.given || args.interval.given;

	if (is_live && (count || args.capture.root))
		return error_set(
			error, -EINVAL,
			"-d and -i show this host as it is now; they do not go with a file "
			"or a recorded tree");
	if ((args.wait.given && !args.wait.value) || (args.interval.given && !args.interval.value))
		return error_set(error, -EINVAL, "-d and -i need a time above 0, such as 1s");
	if (args.count.given && (!args.interval.given || !args.count.value))
		return error_set(error, -EINVAL,
				 "--count says how often -i shows it, and is above 0");
	if (args.wait.given && request->view.sections & READING_SECTIONS && args.view.sections)
		return error_set(
			error, -EINVAL,
			"-d shows what tasks do; ask `taskscope compare -d` for sections of "
			"readings (cgroups to host-details)");
	return 0;
}

static int read_file(const char *name, struct snapshot **ret, struct error *error)
{
	CLEANUP(filter_clear) struct filter filter = { 0 };
	int status = filter_args_read(&args.capture.tasks, &filter, error);

	if (status == 0)
		status = recording_read(name, ret, error);
	return status < 0 ? status : filter_apply(&filter, ret, 1, error);
}

static int take_interval(struct snapshot **ret, struct error *error)
{
	CLEANUP(filter_clear) struct filter filter = { 0 };
	int status = filter_args_live(&args.capture.tasks, &filter, error);

	if (status == 0)
		status = two_captures_interval(&args.capture, args.wait.value, ret, error);
	return status < 0 ? status : filter_apply(&filter, ret, 1, error);
}

static int get_snapshot(char **words, int count, struct snapshot **ret, struct error *error)
{
	uint64_t number;

	if (args.wait.given)
		return take_interval(ret, error);
	if (count == 0)
		return capture_args_take(&args.capture, ret, error);
	if (capture_args_given(&args.capture))
		return error_set(error, -EINVAL,
				 "options that say what to capture do not go with a file: '%s' "
				 "is captured already",
				 words[0]);
	if (parse_u64(words[0], &number) && access(words[0], F_OK) < 0)
		return error_set(error, -ENOENT,
				 "there is no file '%s'; to show that process, write -p %s",
				 words[0], words[0]);
	return read_file(words[0], ret, error);
}

static int print_view(const struct request *request, const struct snapshot_view *view)
{
	struct page page;
	int status;

	switch (request->format) {
	case FORMAT_TEXT:
		page_open(&page, stdout);
		status = snapshot_text_print(view, &page.terminal, page.out);
		return page_close(&page) < 0 ? -ENOMEM : status;
	case FORMAT_JSON:
		snapshot_json_print(view, stdout);
		return 0;
	case FORMAT_CSV:
		if (view->sections & READING_SECTIONS)
			return sheet_csv_print(view->grouping->snapshot, view->sections, stdout);
		return snapshot_csv_print(view, stdout);
	}
	return -EINVAL;
}

/* People see the axis all as a tree, with sums; programs see its keys. */
static int arrange_tree(struct snapshot_view *view, struct group_tree *tree)
{
	int status = group_tree_make(tree, view->grouping, view_shown(view));

	view->depths = tree->depths;
	view->labels = tree->labels;
	view->lines = tree->count;
	return status;
}

static int show(const struct request *request, const struct snapshot *snapshot)
{
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	CLEANUP(group_tree_clear) struct group_tree tree = { 0 };
	CLEANUP(free_pointer) uint32_t *depths = NULL;
	struct snapshot_view view = request->view;
	struct group_sort usual;
	int status = grouping_make(snapshot, request->axis, &request->grouping, &grouping);

	if (status < 0)
		return status;
	usual = default_sort(snapshot, &view);
	status = group_sorting_apply(&request->sort, &usual, grouping);
	if (status < 0)
		return status;
	if (args.forest)
		status = forest_order(grouping, &depths);
	if (status < 0)
		return status;
	view.depths = depths;
	view.grouping = grouping;
	if (request->axis == AXIS_ALL && request->format == FORMAT_TEXT)
		status = arrange_tree(&view, &tree);
	return status < 0 ? status : print_view(request, &view);
}

static int show_once(struct request *request, char **words, int count, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	int status = get_snapshot(words, count, &snapshot, error);

	if (status < 0)
		return status;
	if (snapshot_is_run(snapshot))
		choose_run_metrics(request, snapshot);
	selection_drop_untraced(&request->view.metrics, (const struct snapshot *const *)&snapshot,
				1);
	status = show(request, snapshot);
	return status < 0 ? error_set(error, status, "cannot show it: %s", strerror(-status)) : 0;
}

/* Each time is on a deadline of its own, so that the pace is kept. */
static int show_again(struct request *request, struct error *error)
{
	uint64_t deadline_ns = clock_ns(CLOCK_BOOTTIME), shown = 0;
	int status = 0;

	while (status == 0 && !ferror(stdout) && (!args.count.given || shown < args.count.value)) {
		if (shown++ && two_captures_wait(deadline_ns, true))
			break;
		if (shown > 1 && request->format == FORMAT_TEXT)
			putchar('\n');
		status = show_once(request, NULL, 0, error);
		fflush(stdout);
		deadline_ns += args.interval.value;
	}
	return status;
}

int verb_show(char **words, int count, struct error *error)
{
	struct request request = { .format = FORMAT_TEXT };
	int status = parse_request(&request, error);

	if (status == 0)
		status = check_times(&request, count, error);
	if (status < 0)
		return status;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	if (args.interval.given)
		return show_again(&request, error);
	return show_once(&request, words, count, error);
}

const struct command command_show = {
	.name = "show",
	.arguments = "[FILE]",
	.summary = "show a snapshot or a run by program, thread, cgroup or user",
	.description =
		"Shows a .tscope file (- is one from standard input), or without one captures\n"
		"this host now and shows that. With\n"
		"-d it shows what happens now: what was done in a second between two captures,\n"
		"CPU time as percent of one core (%cpu). -i shows it again and again. Of\n"
		"a run (`taskscope run -o`, .tscope or .jsonl) it shows all tasks that there\n"
		"were, ended ones too; those that used little are added up by program. A\n"
		"file of ktstr (.ctprof.zst) is recognised by its content; a 0 in it that\n"
		"nothing proves to be measured is absent.\n"
		"\n"
		"Tasks are put into groups and each metric is folded over the group; a metric of\n"
		"processes, such as memory, counts once for each process.\n"
		"\n"
		"The axes pcomm, comm and cgroup group by pattern: worker-1 and worker-2 are\n"
		"worker-{N}; {H} stands for eight or more hexadecimal digits, {I} for an id. A\n"
		"name that is alone with its pattern stays as it is, but for a cgroup with an\n"
		"id. comm-exact groups by the name itself, container by the container that the\n"
		"cgroup path names; outside of any, by the systemd unit; scope by the innermost\n"
		"scope that a thread of a program with libtaskscope is in. The axis all has the\n"
		"patterns of cgroup, process and thread in one key; as text it is a tree, with\n"
		"sums of all that a cgroup or process contains. In a GLOB, * is anything within a\n"
		"segment of the path, ** anything, ? one character and [a-z] one of a set.\n"
		"\n"
		"A value that was not measured is \"-\", and \"*\" marks one that covers only part\n"
		"of the group; the lines below the table say why. Any of the columns metric,\n"
		"value, measured, unit and tags gives a line for each group and metric. Where a\n"
		"thread is in a scope, its label, age and steps are shown as well; of a group,\n"
		"those of the scope that it has been in for longest.\n"
		"\n"
		"-p, -c, -u and --filter leave only some tasks, of a file as of a capture; the\n"
		"lines below the table say how many there were. With -d, counters in a filter are\n"
		"what was done in that time, and cpu is percent of one core.\n"
		"\n"
		"With --sections everything of a kind is shown instead: all metrics of the\n"
		"groups, and readings of cgroups (use, limits, memory.stat, memory.events,\n"
		"pressure), of the memory of processes and of the host. A reading that is absent\n"
		"is \"-\", one without a limit \"max\".",
	.examples =
		"taskscope show before.tscope\tthe busiest programs of a capture\n"
		"taskscope show build.tscope\twhat the programs of a run used and waited for\n"
		"taskscope show -g cgroup -s wait_time_ns\twho waits for a CPU now, by cgroup\n"
		"taskscope show -g thread -s majflt,minflt\tby faults that waited, then by others\n"
		"taskscope show --forest -n 0\twho started whom\n"
		"taskscope show -d 1s\twho uses the CPU now\n"
		"taskscope show -d 1s -i 5s --count 10\tten times, five seconds apart\n"
		"taskscope show -g thread -p 1234 -n 0\tevery thread of a process\n"
		"taskscope show before.tscope -u www --filter 'rss_bytes>1G'\tlarge processes of a user\n"
		"taskscope show -d 1s --filter 'cpu>5' -g thread\tthreads that use more than 5 % of a core\n"
		"taskscope show -g scope -m 'run_time_ns,scope_*'\twhat programs say that they do\n"
		"taskscope show -m '*_delay_total_ns' -g comm\twhat threads wait for\n"
		"taskscope show -g cgroup --flatten '/user.slice/**'\tall users as one\n"
		"taskscope show --sections cgroups,limits,pressure\twhat cgroups use, may use and wait for\n"
		"taskscope show before.tscope -g thread --format json\teverything, for programs",
	.reads = ".tscope .jsonl .ctprof.zst .db",
	.options = options,
	.words_max = 1,
};
