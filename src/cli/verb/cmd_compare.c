/* SPDX-License-Identifier: MIT */
/*
 * compare: shows what changed between two snapshots, and whether it matters.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compare/rank/compare_order.h"
#include "analyze/compare/compare_sections.h"
#include "analyze/cgroup/cgroup_unmatched.h"
#include "analyze/compare/comparison.h"
#include "analyze/digest/digest.h"
#include "analyze/threshold/fail_on.h"
#include "analyze/group/sort_spec.h"
#include "analyze/verdict/losses.h"
#include "base/cleanup.h"
#include "cli/args/capture_args.h"
#include "cli/command.h"
#include "cli/parts/compare/compare_input.h"
#include "cli/parts/compare/compare_judge.h"
#include "cli/parts/compare/compare_page.h"
#include "cli/args/grouping_args.h"
#include "render/compare/compare_view.h"
#include "render/page.h"

#define ROWS_IN_TEXT 50
#define OUTPUT_BUFFER ((size_t)256 * 1024)

static struct {
	struct capture_args capture;
	struct grouping_args grouping;
	struct view_args view;
	struct option_number wait;
	const char *mode;
	const char *display;
	const char *output;
	struct option_list fail_on;
	bool fail_on_absent;
	bool all;
	bool all_metrics;
} args;

static const char section_help[] = "of "
#define COMPARE_SECTION(id, name, ...) name ", "
#include "analyze/compare/compare_sections.def"
				   "all";

static const struct option options[] = {
	{ 'd', "duration", OPTION_DURATION, &args.wait, "TIME",
	  "capture now and again after TIME, e.g. 10s, instead of reading files", NULL },
	AXIS_OPTION(args.view),
	{ 0, "mode", OPTION_TEXT, &args.mode, "MODE",
	  "by what was done in between, or side by side (default: auto)",
	  "auto|interval|population" },
	METRICS_OPTION(args.view, "metrics to compare, e.g. run_time_ns,*_delay_total_ns"),
	SORT_OPTION(args.view, "LIST",
		    "order groups by the change of these metrics, each with :asc or :desc"),
	SECTIONS_OPTION(args.view, section_help, section_help + 3),
	LIMIT_OPTION(args.view,
		     "show N rows of each section, 0 for all (default: 50 as text, else all)"),
	VERBOSE_OPTION(args.view, "also say why metrics without a shown row are absent"),
	{ 'a', "all", OPTION_FLAG, &args.all, NULL,
	  "also rows that did not change or are within noise", NULL },
	{ 0, "all-metrics", OPTION_FLAG, &args.all_metrics, NULL,
	  "also what is part of another row or repeats it, such as utime_ns", NULL },
	{ 0, "display", OPTION_TEXT, &args.display, "COLUMNS",
	  "how much text shows of each row (default: full)",
	  COMPARE_DISPLAYS },
	COLUMNS_OPTION(args.view, COMPARE_COLUMNS),
	FORMAT_OPTION(args.view, "text|json|csv"),
	{ 'o', "output", OPTION_TEXT, &args.output, "FILE",
	  "print nothing, but write a page for a browser (.html), with the flame graph of the difference; for runs",
	  NULL },
	{ 0, "fail-on", OPTION_LIST, &args.fail_on, "CONDITION",
	  "exit 1 when it is true, e.g. 'pcomm=nginx wait_time_ns > +20%'; may be repeated", NULL },
	{ 0, "fail-on-absent", OPTION_FLAG, &args.fail_on_absent, NULL,
	  "also exit 1 when a condition cannot be evaluated", NULL },
	GROUPING_OPTIONS(args.grouping),
	CAPTURE_OPTIONS(args.capture),
	{ 0 },
};

/* Everything that the options say, parsed before a file is opened or a host is read. */
struct request {
	enum view_format format;
	struct compare_options options;
	struct sort_spec sort;
	struct column_list columns, display;
	struct fail_on fail_on;
	struct filter filter;
};

static void request_clear(struct request *request)
{
	fail_on_clear(&request->fail_on);
	filter_clear(&request->filter);
}

static enum compare_mode mode_of(const char *name)
{
	if (name && strcmp(name, "interval") == 0)
		return COMPARE_INTERVAL;
	return name && strcmp(name, "population") == 0 ? COMPARE_POPULATION : COMPARE_AUTO;
}

static int check_words(char **words, int count, struct error *error)
{
	if (args.wait.given && (count > 1 || (count && !compare_input_is_interval(words[0]))))
		return error_set(error, -EINVAL,
				 "-d captures this host twice; with it goes one interval, A..B, or "
				 "nothing, not the file '%s'",
				 words[0]);
	if (args.wait.given && args.wait.value == 0)
		return error_set(error, -EINVAL, "-d needs a time above 0, such as 10s");
	if (args.wait.given && args.capture.root)
		return error_set(error, -EINVAL,
				 "-d needs a living host: a recorded tree does not change");
	if (args.wait.given && args.output)
		return error_set(error, -EINVAL, "-o is for two runs, and -d captures this host");
	if (args.wait.given)
		return 0;
	if (count != 2)
		return error_set(error, -EINVAL,
				 "compare needs two files or intervals, BEFORE and AFTER, or -d "
				 "TIME; see "
				 "`taskscope help compare`");
	if (capture_args_given(&args.capture))
		return error_set(error, -EINVAL,
				 "options that say what to capture go with -d, not with files");
	return 0;
}

/* Without a list of sections: only the metrics of -m if it is given, else all, or as text the usual. */
static int parse_metrics(struct request *request, struct error *error)
{
	struct selection *wanted = &request->options.metrics;
	uint32_t *sections = &request->options.sections;
	int status = 0;

	if (args.view.metrics)
		status = selection_parse(args.view.metrics, wanted, error);
	else
		selection_all(wanted);
	*sections = request->format == FORMAT_TEXT ? USUAL_COMPARE_SECTIONS : ALL_COMPARE_SECTIONS;
	request->options.metrics_only = args.view.metrics && !args.view.sections;
	if (status == 0 && args.view.sections)
		status = compare_sections_parse(args.view.sections, sections, error);
	if (!(*sections & METRIC_COMPARE_SECTIONS))
		wanted->count = 0;
	return status;
}

static int parse_columns(struct request *request, struct error *error)
{
	int status = view_has_columns(&args.view, "", error);

	if (args.display && (args.view.columns || request->format != FORMAT_TEXT))
		return error_set(error, -EINVAL,
				 "--display says which columns text has; %s",
				 args.view.columns ? "--columns names them itself" :
						     "csv takes --columns, json has all");
	if (args.display)
		compare_display_find(args.display, &request->display);
	return status > 0 ? compare_columns_parse(args.view.columns, &request->columns, error) :
			    status;
}

static int parse_conditions(struct request *request, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < args.fail_on.count && status == 0; i++)
		status = fail_on_add(&request->fail_on, args.fail_on.values[i], error);
	return status;
}

static int parse_request(struct request *request, struct error *error)
{
	int status;

	/* A page has what JSON has. */
	request->format = args.output ? FORMAT_JSON : view_format(&args.view);
	request->options.mode = mode_of(args.mode);
	request->options.axis = view_axis(&args.view);
	request->options.limit = view_limit(&args.view, ROWS_IN_TEXT);
	request->options.unchanged = args.all;
	/* A condition may be about a part. */
	request->options.fold_parts = request->format == FORMAT_TEXT && !args.all_metrics &&
				      !args.view.metrics && !args.fail_on.count;
	status = grouping_args_read(&args.grouping, &request->options.grouping, error);
	if (status == 0)
		status = parse_columns(request, error);
	if (status == 0)
		status = parse_metrics(request, error);
	if (status == 0 && args.view.sort)
		status = sort_spec_parse(args.view.sort, &request->sort, error);
	return status < 0 ? status : parse_conditions(request, error);
}

static struct compare_side side_of(const struct input_side *side)
{
	return (struct compare_side){ (const struct snapshot *const *)side->snapshots.data,
				      side->snapshots.count };
}

static struct compared_files files_of(const struct input_side *side)
{
	return (struct compared_files){
		.names = side->names.count ? side->names.data : NULL,
		.snapshots = (const struct snapshot *const *)side->snapshots.data,
		.count = side->snapshots.count,
	};
}

static int print_view(const struct compare_view *view, enum view_format format)
{
	struct page page;
	int status;

	switch (format) {
	case FORMAT_TEXT:
		page_open(&page, stdout);
		status = compare_text_print(view, &page.terminal, page.out);
		return page_close(&page) < 0 ? -ENOMEM : status;
	case FORMAT_JSON:
		compare_json_print(view, stdout);
		return 0;
	case FORMAT_CSV:
		return compare_csv_print(view, stdout);
	}
	return -EINVAL;
}

/* The comparison and what else the output needs. */
struct answer {
	struct comparison *base; /* the groups that the others share */
	struct digest digest;
	struct compare_order order; /* empty without -s */
	struct comparison *comparison;
	struct unmatched_cgroups unmatched;
	struct judgement judgement;
};

static void answer_clear(struct answer *answer)
{
	compare_order_clear(&answer->order);
	comparison_free(answer->comparison);
	cgroup_unmatched_clear(&answer->unmatched);
	judgement_clear(&answer->judgement);
	digest_clear(&answer->digest);
	comparison_free(answer->base);
}

static int show(const struct request *request, const struct compare_input *input,
		const struct answer *answer, struct error *error)
{
	struct compare_view view = {
		.comparison = answer->comparison,
		.digest = &answer->digest,
		.axis = request->options.axis,
		.before = files_of(&input->before),
		.after = files_of(&input->after),
		.metrics = request->options.metrics,
		.sort = request->sort,
		.ordered = answer->order.comparison,
		.columns = request->columns,
		.display = request->display,
		.limit = request->options.limit,
		.is_verbose = args.view.verbose,
		.unmatched = &answer->unmatched,
		.findings = answer->judgement.findings.data,
		.finding_count = answer->judgement.findings.count,
	};

	int status;

	if (args.output)
		return compare_page_write(input, &view, args.output, error);
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	status = print_view(&view, request->format);
	if (status < 0)
		return error_set(error, status, "cannot show it: %s", strerror(-status));
	fflush(stdout);
	return 0;
}

static void print_count(uint64_t count, const char *what, bool *first)
{
	if (!count)
		return;
	fprintf(stderr, "%s%" PRIu64 " row%s %s", *first ? "left out: " : ", ", count,
		count == 1 ? "" : "s", what);
	*first = false;
}

/* A table for programs has no place to say what was left out. */
static void print_left_out(const struct comparison *comparison)
{
	struct row_tally sum = { 0 };
	bool first = true;

	for (int section = 0; section < COMPARE_SECTION_COUNT; section++) {
		sum.unchanged += comparison->tallies[section].unchanged;
		sum.noise += comparison->tallies[section].noise;
		sum.beyond_limit += comparison->tallies[section].beyond_limit;
	}
	print_count(sum.unchanged, "that did not change or were not measured", &first);
	print_count(sum.noise, "within noise", &first);
	print_count(sum.beyond_limit, "beyond -n", &first);
	if (!first)
		fputs("; --all and -n 0 give all\n", stderr);
}

/* Groups the tasks once, and makes the digest, whatever the tables show. */
static int make_digest(const struct compare_side *before, const struct compare_side *after,
		       struct compare_options *shared, struct answer *answer, struct error *error)
{
	struct compare_options bare = *shared;
	int status;

	bare.metrics.count = 0;
	bare.metrics_only = true;
	status = comparison_new(before, after, &bare, &answer->base, error);
	if (status < 0)
		return status;
	shared->like = answer->base;
	return digest_make(&answer->digest, before, after, shared, answer->base, error);
}

static int compare(const struct request *request, const struct compare_input *input,
		   struct answer *answer, struct error *error)
{
	struct compare_side before = side_of(&input->before), after = side_of(&input->after);
	struct compare_options ordered = request->options;
	int status = make_digest(&before, &after, &ordered, answer, error);

	if (status == 0 && request->sort.count)
		status = compare_order_init(&answer->order, &request->sort, &before, &after,
					    &ordered, error);
	if (status == 0)
		status = comparison_new(&before, &after, &ordered, &answer->comparison, error);
	if (status == 0 && request->format != FORMAT_CSV &&
	    cgroup_unmatched_find(&answer->unmatched, &before, &after, &request->options) < 0)
		status = error_set(error, -ENOMEM, "cannot compare cgroups: out of memory");
	if (status < 0)
		return status;
	return judge(&request->fail_on, &before, &after, &request->options, &answer->judgement,
		     error);
}

/* Captures are limited by -p and -c themselves. */
static int parse_filter(struct request *request, int files, struct error *error)
{
	return (files ? filter_args_read : filter_args_live)(&args.capture.tasks, &request->filter,
							     error);
}

static int get_input(struct compare_input *input, char **words, int count, struct error *error)
{
	if (args.wait.given && count)
		return compare_input_read_and_capture(input, words[0], &args.capture,
						      args.wait.value, error);
	if (args.wait.given)
		return compare_input_capture(input, &args.capture, args.wait.value, error);
	return compare_input_read(input, words, error);
}

/* What the first snapshot of each side lacks because nothing was followed, the others lack too. */
static void drop_untraced(struct request *request, const struct compare_input *input)
{
	const struct snapshot *firsts[] = { input->before.snapshots.data[0],
					    input->after.snapshots.data[0] };

	selection_drop_untraced(&request->options.metrics, firsts, ARRAY_SIZE(firsts));
}

int verb_compare(char **words, int count, struct error *error)
{
	CLEANUP(request_clear) struct request request = { .format = FORMAT_TEXT };
	CLEANUP(compare_input_clear) struct compare_input input = { 0 };
	CLEANUP(answer_clear) struct answer answer = { 0 };
	int status = check_words(words, count, error);

	if (status == 0 && args.output)
		status = compare_page_check(args.output, error);
	if (status == 0)
		status = parse_request(&request, error);
	if (status == 0)
		status = parse_filter(&request, count, error);
	if (status == 0)
		status = get_input(&input, words, count, error);
	if (status == 0)
		status = compare_input_filter(&input, &request.filter, error);
	if (status == 0 && args.output)
		status = compare_page_check_input(&input, error);
	if (status < 0)
		return status;
	drop_untraced(&request, &input);
	status = compare(&request, &input, &answer, error);
	if (status < 0)
		return status;
	status = show(&request, &input, &answer, error);
	if (status < 0)
		return status;
	if (request.format == FORMAT_CSV)
		print_left_out(answer.comparison);
	judgement_print(&answer.judgement);
	if (answer.judgement.failed || (args.fail_on_absent && answer.judgement.unknown))
		return EXIT_REGRESSION;
	return answer.judgement.moot ? EXIT_ERROR : EXIT_DONE;
}

const struct command command_compare = {
	.name = "compare",
	.arguments = "[BEFORE [AFTER]]",
	.summary = "show what changed between two snapshots, what matters first",
	.description =
		"Compares two .tscope or .ctprof.zst files, two runs (.tscope or .jsonl of\n"
		"`taskscope run -o`), or with -d two captures of this host, group by group and\n"
		"metric by metric. First comes a digest: settings and limits that changed, limits\n"
		"that were reached, and for each resource who moved most. Then all that changed:\n"
		"the rows with the largest share of the host's change first, what is not shown\n"
		"counted. What is part of another row, such as user time, takes --all-metrics.\n"
		"\n"
		"Two snapshots of one boot are an interval: threads are joined by identity, a\n"
		"counter's change is the work done in between, also by threads that were born or\n"
		"ended, and ratios are those of the interval. There is no percent: work is not\n"
		"divided by a life's total. A group that was restarted is compared by the rates\n"
		"of its two lives. Everything else is compared as populations: each side by\n"
		"itself, with rates by the lives of its tasks. auto picks and says which. Runs\n"
		"are always populations: each has all that its tasks did.\n"
		"\n"
		"A..B C..D compares two intervals by what is done in a second, with percent; with\n"
		"-d the second one is now. B is in the folder of A unless it has one, and may be\n"
		"a time: r.db@10:00..10:05. A name that is a file is that file.\n"
		"\n"
		"BEFORE and AFTER may be lists with commas, of runs or intervals. Then the middle\n"
		"one is shown with the smallest and largest; with three or more a side, rows\n"
		"that differ no more than by chance (exact Mann-Whitney test, p above 0.10) are\n"
		"folded away.\n"
		"\n"
		"One of the files may be -, standard input.\n"
		"\n"
		"A value that was not measured is \"absent\", a group that one side does not have\n"
		"\"new\" or \"gone\", a counter that began again \"reset\"; \"*\" marks what covers only\n"
		"part of the group. With -g all, text is a tree of cgroups, processes and threads,\n"
		"with sums. --display arrow has before → after in one column, delta the change\n"
		"alone, no-pct no percent, pct nothing else.\n"
		"\n"
		"-p, -c, -u and --filter leave only some tasks, on both sides. Of two snapshots\n"
		"of one boot a thread counts if it matches in either; an interval A..B is judged\n"
		"by what was done in it. Shares are then of what is left.\n"
		"\n"
		"A CONDITION is [AXIS=GLOB] METRIC, one of > < >= <=, and the change: +20% of\n"
		"before, or in the metric's unit (+5s, 10MiB, 100), with /s in a second. One\n"
		"that no group is meant by, or of percent in one interval, is an error. With -d,\n"
		"an interrupt ends the waiting and the comparison is of the time until then.",
	.examples =
		"taskscope compare before.tscope after.tscope\twhat moved, most important first\n"
		"taskscope compare -d 10s -p 1234 -g thread\twhat the threads of a process do in ten seconds\n"
		"taskscope compare a.tscope b.tscope -u www --filter 'pcomm=php*'\tsome programs of a user\n"
		"taskscope compare a.tscope b.tscope -g cgroup --sections cgroup,limits\tcgroups: use and limits\n"
		"taskscope compare a.tscope b.tscope -m '*_delay_total_ns' -s wait_time_ns\tby change of one metric\n"
		"taskscope compare a.tscope..b.tscope c.tscope..d.tscope --fail-on 'pcomm=nginx wait_time_ns > +20%'\ta check for CI\n"
		"taskscope compare a.tscope..b.tscope -d 10s\tthe same host then and now\n"
		"ssh host taskscope capture -o - | taskscope compare a.tscope -\tthen, and now on that host\n"
		"taskscope compare a.tscope b.tscope -o diff.html\twhere in the code the time of two runs differs\n"
		"taskscope compare a1.tscope,a2.tscope,a3.tscope b1.tscope,b2.tscope,b3.tscope\tthree runs a side",
	.exits = "1\ta condition of --fail-on is true",
	.reads = ".tscope .jsonl .ctprof.zst .db",
	.options = options,
	.words_max = 2,
};
