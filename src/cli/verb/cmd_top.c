/* SPDX-License-Identifier: MIT */
/*
 * top: what processes and threads do, moment by moment: now, in a recording, or in a file.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/config.h"
#include "cli/args/capture_args.h"
#include "cli/args/store_args.h"
#include "cli/parts/top_config.h"
#include "cli/parts/compare/two_captures.h"
#include "model/snapshot/snapshot.h"
#include "record/current_store.h"
#include "render/terminal.h"
#include "store/history/instant.h"
#include "store/recording.h"
#include "tui/moment/moment.h"
#include "tui/moment/moment_source.h"
#include "tui/screen/keys.h"
#include "tui/screen/top.h"
#include "tui/view/moment_view.h"

#define INTERVAL_LEAST_NS (100 * NS_PER_MS)

static struct {
	struct capture_args capture;
	struct store_args store;
	struct view_args view;
	struct option_number interval, count, tree, history;
	const char *at, *job, *keys;
	bool json, forest, no_mouse, read_only;
} args = { .interval.value = NS_PER_SECOND };

static const struct option options[] = {
	{ 'i', "interval", OPTION_DURATION, &args.interval, "TIME",
	  "time from one moment to the next (default: 1s)", NULL },
	{ 0, "json", OPTION_FLAG, &args.json, NULL, "no screen: a line of JSON for each moment",
	  NULL },
	{ 0, "count", OPTION_NUMBER, &args.count, "N", "with --json: so many moments", NULL },
	{ 'g', "group-by", OPTION_TEXT, &args.view.group_by, "AXIS",
	  "what makes a row (default: process)", GROUP_AXES },
	SORT_OPTION(args.view, "LIST",
		    "order by metrics, tasks, group or pid, each with :asc or :desc (default: "
		    "run_time_ns)"),
	METRICS_OPTION(args.view, "metrics to show, e.g. run_time_ns,*_bytes"),
	LIMIT_OPTION(args.view, "with --json: the first N rows, 0 for all (default: 0)"),
	{ 0, "forest", OPTION_FLAG, &args.forest, NULL,
	  "processes, each below the one that started it", NULL },
	{ 0, "read-only", OPTION_FLAG, &args.read_only, NULL,
	  "send no signals, trace and profile nothing, save nothing", NULL },
	{ 0, "keys", OPTION_TEXT, &args.keys, "LIST",
	  "other keys, e.g. 'quit=Q tree=x,F8'; ? shows the names", NULL },
	{ 0, "no-mouse", OPTION_FLAG, &args.no_mouse, NULL, "leave the mouse to the terminal",
	  NULL },
	{ 0, "tree", OPTION_NUMBER, &args.tree, "PID", "only this process and all that it started",
	  NULL },
	{ 0, "job", OPTION_TEXT, &args.job, "NAME",
	  "only processes of jobs of this name, while these run", NULL },
	{ 0, "history", OPTION_DURATION, &args.history, "TIME",
	  "the last TIME of a recording instead of this host", NULL },
	STORE_OPTION(args.store),
	{ 0, "at", OPTION_TEXT, &args.at, "TIME",
	  "of a recording: begin at this time, e.g. 10:05, -5m or 2024-05-01T10:04", NULL },
	CAPTURE_OPTIONS(args.capture),
	{ 0 },
};

static bool reads_recording(void)
{
	return args.history.given || args.at || args.store.store;
}

static int check(int count, struct error *error)
{
	if (args.interval.value < INTERVAL_LEAST_NS)
		return error_set(error, -EINVAL, "--interval is at least 100ms");
	if (args.count.given && (!args.json || !args.count.value))
		return error_set(error, -EINVAL,
				 "--count says how many lines --json prints, and is above 0");
	if (args.view.limit.given && !args.json)
		return error_set(error, -EINVAL, "-n is for --json: a screen shows all rows");
	if (count && reads_recording())
		return error_set(error, -EINVAL,
				 "a file is shown, or a recording (--store, --history, --at), not "
				 "both");
	if ((count || reads_recording()) && capture_args_given(&args.capture))
		return error_set(error, -EINVAL,
				 "options that say what to capture go with this host only");
	if (args.forest && args.view.group_by && view_axis(&args.view) != AXIS_PROCESS)
		return error_set(error, -EINVAL, "--forest is of processes: -g process");
	if (args.tree.given && (!args.tree.value || args.tree.value > INT_MAX))
		return error_set(error, -EINVAL, "--tree takes the number of a process");
	return 0;
}

/* A capture leaves out by itself what -p and -c do not name. */
static int read_filter(bool is_live, struct filter *ret, struct error *error)
{
	CLEANUP(text_free) struct text term = { 0 };
	int status = is_live ? filter_args_live(&args.capture.tasks, ret, error) :
			       filter_args_read(&args.capture.tasks, ret, error);

	if (status < 0 || !args.tree.given)
		return status;
	text_format(&term, "tree=%llu", args.tree.value);
	return term.failed ? -ENOMEM : filter_add(ret, term.data, error);
}

static int read_choice(struct view_choice *ret, struct error *error)
{
	int status = 0;

	ret->axis = args.view.group_by ? view_axis(&args.view) : AXIS_PROCESS;
	ret->is_forest = args.forest;
	ret->of_jobs = args.job;
	ret->limit = args.view.limit.value;
	/* What rows wait for begins with their state. */
	view_choice_usual(ret, !args.json);
	if (args.view.metrics) {
		ret->metrics = (struct selection){ 0 };
		status = selection_parse(args.view.metrics, &ret->metrics, error);
	}
	if (status == 0 && args.view.sort)
		status = group_sorting_parse(args.view.sort, &ret->sorting, error);
	for (size_t i = ret->sorting.count; i-- > 0 && status == 0;)
		if (ret->sorting.keys[i].by == ORDER_METRIC)
			selection_add_first(&ret->metrics, ret->sorting.keys[i].metric);
	return status;
}

static int open_file(const char *name, struct moment_source **ret, struct error *error)
{
	struct snapshot *snapshot = NULL;
	int status = name ? recording_read(name, &snapshot, error) :
			    capture_args_take(&args.capture, &snapshot, error);

	return status < 0 ? status : file_source_open(snapshot, ret, error);
}

/* Without a time it begins at the end, and with --history where that begins. */
static int open_recording(struct moment_source **ret, struct error *error)
{
	struct history_span extent = { 0 };
	struct history *history = NULL;
	uint64_t at = args.history.given ? 0 : UINT64_MAX;
	int status = store_args_open(&args.store, &history, error);

	if (status == 0)
		(void)history_extent(history, &extent);
	if (status == 0 && args.at) {
		status = instant_parse(args.at, &extent, &at, error);
		if (status < 0)
			history_close(history);
	}
	return status < 0 ? status : store_source_open(history, args.history.value, at, ret, error);
}

static int open_live(struct capture_input *input, struct moment_source **ret, struct error *error)
{
	char store[PATH_MAX];
	int status = capture_input_open(input, &args.capture, error);

	if (status < 0)
		return status;
	return live_source_open(input->sampling, input->host,
				record_current_store(store) == 0 ? store : NULL, ret, error);
}

static int print_moment(const struct moment *moment, const struct view_choice *choice,
			struct error *error)
{
	CLEANUP(moment_view_clear) struct moment_view view = { 0 };
	int status = moment_view_make(&view, moment, choice, error);

	if (status == 0) {
		moment_json_print(moment, &view, stdout);
		fflush(stdout);
	}
	return status;
}

/* How many lines at most; one of --at, and of a recording whose newest moment is asked for. */
static unsigned long long lines_most(void)
{
	if (args.count.given)
		return args.count.value;
	return args.at || (reads_recording() && !args.history.given) ? 1 : ULLONG_MAX;
}

/* Each moment is on a deadline of its own, so that the pace is kept.  Rates need a moment before. */
static int print_lines(struct moment_source *source, const struct view_choice *choice,
		       struct error *error)
{
	CLEANUP(moment_clear) struct moment moment = { 0 };
	const struct move on = { .kind = MOVE_ON };
	uint64_t deadline_ns = clock_ns(CLOCK_BOOTTIME);
	bool is_live = source->kind->is_live;
	sigset_t interrupt;
	int status = 0;

	/* An interrupt ends it between two lines. */
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	if (is_live) {
		sigprocmask(SIG_BLOCK, &interrupt, NULL);
		status = moment_source_take(source, &on, &moment, error);
	}

	for (unsigned long long lines = 0; status == 0 && lines < lines_most() && !ferror(stdout);
	     lines++) {
		deadline_ns += args.interval.value;
		if (is_live && two_captures_wait(deadline_ns, false))
			return 0;
		status = moment_source_take(source, &on, &moment, error);
		if (status == -ENODATA && lines)
			return 0;
		if (status == 0)
			status = print_moment(&moment, choice, error);
	}
	return status;
}

/* What the command line does not say is as it was left the last time. */
static int read_config(struct text *text, struct error *error)
{
	char path[PATH_MAX];
	int status = top_config_path(path);

	if (status == 0)
		status = config_read(path, options, text, error);
	return status == -ENOENT ? 0 : status;
}

/* A recorder may have made the recording longer since it was opened. */
static int parse_time(void *context, const char *text, uint64_t *ret_unix_ns, struct error *error)
{
	struct moment_source *source = context;
	struct history *history = source->kind->jobs(source, error);
	struct history_span extent = { 0 };

	if (!history)
		return -ENODATA;
	(void)history_extent(history, &extent);
	return instant_parse(text, &extent, ret_unix_ns, error);
}

static int show_screen(struct moment_source *source, const struct view_choice *choice,
		       const struct host *host, const char *title, struct error *error)
{
	struct error ignored = { 0 };
	char store[PATH_MAX];
	bool is_recording = reads_recording() && store_args_path(&args.store, store, &ignored) == 0;
	const struct top_options screen = {
		.store = is_recording ? store : NULL,
		.source = source,
		.choice = *choice,
		.title = title,
		.host = host,
		.interval_ns = args.interval.value,
		.no_mouse = args.no_mouse,
		.read_only = args.read_only,
		.colour = terminal_of(stdout).colour,
		.save = top_config_save,
		.parse_time = source->kind->can_move ? parse_time : NULL,
		.parse_context = source,
	};

	return top_run(&screen, error);
}

/* A name for the first line: of the host, the recording or the file. */
static void choose_title(const char *file, char *ret, size_t size)
{
	char store[PATH_MAX];
	struct error ignored = { 0 };

	if (file || args.capture.root)
		snprintf(ret, size, "%s", file ? file : args.capture.root);
	else if (reads_recording() && store_args_path(&args.store, store, &ignored) == 0)
		snprintf(ret, size, "%s", store);
	else if (gethostname(ret, size) < 0)
		snprintf(ret, size, "this host");
	ret[size - 1] = '\0';
}

int verb_top(char **words, int count, struct error *error)
{
	CLEANUP(capture_input_close) struct capture_input input = { 0 };
	CLEANUP(moment_source_close_pointer) struct moment_source *source = NULL;
	CLEANUP(filter_clear) struct filter filter = { 0 };
	CLEANUP(text_free) struct text config = { 0 };
	CLEANUP(text_free) struct text keys = { 0 };
	struct view_choice choice = { .filter = &filter };
	bool is_live = !count && !reads_recording() && !args.capture.root;
	const char *file = count ? words[0] : NULL;
	char title[PATH_MAX];
	int status = check(count, error);

	if (status == 0 && !args.json)
		status = read_config(&config, error);
	if (status == 0)
		status = read_choice(&choice, error);
	if (status == 0)
		status = read_filter(is_live || args.capture.root, &filter, error);
	if (status < 0)
		return status;
	if (is_live)
		status = open_live(&input, &source, error);
	else if (reads_recording())
		status = open_recording(&source, error);
	else
		status = open_file(file, &source, error);
	if (status < 0)
		return status;
	if (args.job)
		status = moment_source_choose_job(source, args.job, error);
	if (status < 0)
		return status;
	if (args.json)
		return print_lines(source, &choice, error);
	if (args.keys)
		text_append_string(&keys, args.keys);
	status = keys.length ? keys_choose(keys.data, error) : 0;
	if (status < 0)
		return status;
	choose_title(file, title, sizeof(title));
	return show_screen(source, &choice, input.host, title, error);
}

const struct command command_top = {
	.name = "top",
	.arguments = "[FILE]",
	.summary = "what processes do, moment by moment, now or in a recording",
	.description =
		"A screen of what happens now, again and again: what was done in a second since\n"
		"the moment before, by process, or by thread, cgroup, user and others (-g, or\n"
		"keys). Where a recorder runs, its anomalies and events are there, too.\n"
		"\n"
		"The same of a recording with --history, --store and --at, where keys move in\n"
		"time, and of a file: a snapshot or a run, whose counters are totals.\n"
		"\n"
		"Columns, their order, sorting and the tree are kept in\n"
		"~/.config/taskscope/top.conf, which may have any option of top, such as\n"
		"`keys = quit=Q tree=x`.\n"
		"\n"
		"--json prints a line for each moment instead. Its figures are those that\n"
		"`taskscope show -d` and `show FILE` have of it.",
	.keys = ""
#define KEY(id, keys, label, help) keys "\t" help "\n"
#include "tui/screen/keys.def"
	,
	.examples =
		"taskscope top\twhat happens now\n"
		"taskscope top -g cgroup --filter 'user=www'\tcgroups of a user\n"
		"taskscope top --history 2h\tthe last two hours of the recording\n"
		"taskscope top --json --count 10\tten seconds of this host\n"
		"taskscope top --json -i 2s -g cgroup -s wait_time_ns\twho waits for a CPU, by cgroup\n"
		"taskscope top --json --tree 1234 --filter 'cpu>5'\tthe busy ones of a tree\n"
		"taskscope top --json --history 2h --store r.db\ttwo hours of a recording\n"
		"taskscope top --json --store r.db --at 10:05\tone moment of it\n"
		"taskscope top --json --job nightly\twhat a running job does\n"
		"taskscope top --json before.tscope\ta snapshot",
	.reads = ".tscope .jsonl .ctprof.zst .db",
	.options = options,
	.words_max = 1,
};
