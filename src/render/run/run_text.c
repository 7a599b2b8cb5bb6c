/* SPDX-License-Identifier: MIT */
#include "render/run/run_text.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "analyze/verdict/diagnosis.h"
#include "analyze/verdict/verdict_evidence.h"
#include "base/cleanup.h"
#include "base/kernel_names.h"
#include "base/text.h"
#include "metric/unit.h"
#include "render/page.h"
#include "render/run/run_text_tables.h"
#include "render/style.h"

/* Processes attached to that the headline names. */
#define SUBJECTS_SHOWN 3
/* Columns where there is no terminal. */
#define PLAIN_WIDTH 80

static void append_name(struct text *line, const char *name)
{
	text_append_escaped(line, name, strlen(name));
}

/* "make (pid 1), cc (pid 2), ld (pid 3) and 2 more" */
static void append_attached(struct text *line, const struct run *run)
{
	size_t count = run->pid_count ? run->pid_count : 1, shown = count;

	if (count > SUBJECTS_SHOWN)
		shown = SUBJECTS_SHOWN;
	for (size_t i = 0; i < shown; i++) {
		int32_t pid = run->pid_count ? run->pids[i] : run->pid;
		const struct tree_process *process = run_find_process(run, pid);

		text_append_string(line, i == 0 ? "" : i + 1 == count ? " and " : ", ");
		append_name(line, process && process->comm[0] ? process->comm : "process");
		text_format(line, " (pid %" PRId32 ")", pid);
	}
	if (shown < count)
		text_format(line, " and %zu more", count - shown);
}

/* The command without its folder, or the processes that we attached to. */
static void append_subject(struct text *line, const struct run *run)
{
	const char *word = run->command && run->command[0] ? run->command[0] : NULL;
	const char *slash = word ? strrchr(word, '/') : NULL;

	if (word)
		append_name(line, slash && slash[1] ? slash + 1 : word);
	else
		append_attached(line, run);
}

static void append_sender(struct text *line, const struct run *run)
{
	if (!run->killer_pid)
		return;
	text_format(line, " from pid %" PRId32, run->killer_pid);
	if (!run->killer_comm[0])
		return;
	text_append_string(line, " (");
	append_name(line, run->killer_comm);
	text_append_string(line, ")");
}

static void append_signal(struct text *line, const struct run *run)
{
	int number = WTERMSIG(run->status);
	char name[KERNEL_NAME_SIZE];

	if (run->oom_killed) {
		text_append_string(line, " was killed by the kernel for lack of memory (OOM)");
		return;
	}
	text_format(line, " was killed by %s (%d)", signal_name(number, name), number);
	append_sender(line, run);
	if (WCOREDUMP(run->status))
		text_append_string(line, " and dumped core");
}

/* How the first of several processes ended says nothing about the others. */
static bool is_only_watched(const struct run *run)
{
	return run->pid_count > 1 || (run->mode == RUN_ATTACH && !run->has_status);
}

static void append_status(struct text *line, const struct run *run)
{
	if (run->pid_count > 1)
		text_append_string(line, " were watched");
	else if (run->end == RUN_TIMED_OUT && run->mode == RUN_COMMAND)
		text_append_string(line, " ran out of its time (-d)");
	else if (run->has_status && WIFSIGNALED(run->status))
		append_signal(line, run);
	else if (run->has_status && WIFEXITED(run->status))
		text_format(line, " exited %d", WEXITSTATUS(run->status));
	else if (run->mode == RUN_ATTACH)
		text_append_string(line, " was watched");
	else
		text_append_string(line, " ended");
}

/* Processes without a reported end were alive when the file was cut off. */
static void append_cut_off(struct text *line, const struct run *run)
{
	if (run->has_status)
		append_status(line, run);
	text_append_string(line, run->has_status ? "; cut off after " : ": cut off after ");
	unit_format(line, UNIT_NS, run_wall_ns(run));
	text_format(line, ": no summary; %" PRIu64 " process%s ended by then", run->tree->exited,
		    run->tree->exited == 1 ? "" : "es");
}

/* Several processes at once: the peak is then a sum over them. */
static bool has_shared_pages(const struct tree *tree)
{
	uint64_t most = tree->unknown & TREE_UNKNOWN_MOST_PROCESSES ? tree->processes :
								      tree->most_processes;

	return most > 1 && tree->peak_rss_bytes > tree->largest_rss_bytes;
}

static void append_totals(struct text *line, const struct run *run)
{
	const struct tree *tree = run->tree;
	unsigned bounds = run_lower_bounds(run);
	const char *processes = bounds & RUN_BOUND_PROCESSES ? "at least " : "";
	uint64_t peak = tree->peak_rss_bytes ? tree->peak_rss_bytes : tree->largest_rss_bytes;

	if (run->end == RUN_UNFINISHED)
		text_format(line, ", %s%" PRIu64 " in all", processes, tree->processes);
	else
		text_format(line, ": %s%" PRIu64 " process%s", processes, tree->processes,
			    tree->processes == 1 ? "" : "es");
	evidence_cores(run, ", ", line);
	if (tree->has_peak_rss && peak) {
		text_append_string(line,
				   bounds & RUN_BOUND_MEMORY ? ", peak at least " : ", peak ");
		unit_format(line, UNIT_BYTES, peak);
		if (has_shared_pages(tree))
			text_append_string(line, " RSS, shared pages counted in each process");
	}
}

/* When the command itself ended, and how long the rest of its processes were watched. */
static void append_time(struct text *line, const struct run *run)
{
	if (run->command_ns.present) {
		unit_format(line, UNIT_NS, run->command_ns.value);
		text_append_string(line, run->tree->live_processes ?
						 "; the rest of its processes were watched for " :
						 "; the last of its processes ended after ");
	}
	unit_format(line, UNIT_NS, run_wall_ns(run));
}

static void append_outcome(struct text *line, const struct run *run)
{
	append_subject(line, run);
	if (run->end == RUN_UNFINISHED) {
		append_cut_off(line, run);
	} else {
		append_status(line, run);
		text_append_string(line, is_only_watched(run) ? " for " : " after ");
		append_time(line, run);
	}
	append_totals(line, run);
}

static void print_outcome(FILE *out, const struct run *run, const struct run_text_options *options)
{
	CLEANUP(text_free) struct text line = { 0 };

	append_outcome(&line, run);
	style_line(out, options->color, run->has_status && run->status ? STYLE_BAD : STYLE_HEADING,
		   "%s", text_string(&line));
}

/* Prints other processes whose end a person should know, unless the evidence says it. */
static void print_others(FILE *out, const struct run *run, const struct verdict *verdict)
{
	uint64_t killed = run->tree->oom_kills;

	if (killed > run->oom_killed && verdict->cause != CAUSE_OOM_KILL)
		fprintf(out,
			"the kernel killed %" PRIu64 " process%s of it for lack of memory (OOM)\n",
			killed, killed == 1 ? "" : "es");
}

static const char *limit_words(const struct verdict *verdict)
{
	if (verdict->class == CLASS_IDLE)
		return "mostly idle";
	return verdict->class == CLASS_UNKNOWN ? "no verdict" : "limited by";
}

void run_text_append_limit(struct text *out, const struct verdict *verdict)
{
	text_append_string(out, limit_words(verdict));
	if (verdict->cause != CAUSE_NONE)
		text_format(out, "%s %s", verdict->class == CLASS_IDLE ? ":" : "",
			    causes[verdict->cause].name);
	/* "sleep, sleep" would say nothing more. */
	if (verdict->who[0] && strcmp(verdict->who, causes[verdict->cause].name) != 0)
		text_format(out, ", %s", verdict->who);
	text_format(out, " (%s", class_names[verdict->class]);
	if (verdict->confidence > 0 && verdict->class != CLASS_UNKNOWN)
		text_format(out, ", %.0f %% sure", verdict->confidence * 100);
	text_append_string(out, ")");
}

static void print_limit(FILE *out, const struct verdict *verdict,
			const struct run_text_options *options)
{
	CLEANUP(text_free) struct text line = { 0 };

	run_text_append_limit(&line, verdict);
	style_line(out, options->color, STYLE_HEADING, "%s", text_string(&line));
}

static void print_sentence(FILE *out, const char *start, const char *sentence)
{
	CLEANUP(text_free) struct text line = { 0 };

	append_name(&line, sentence);
	fprintf(out, "%s%s\n", start, text_string(&line));
}

void run_text_verdict(FILE *out, const struct run *run, const struct diagnosis *diagnosis,
		      const struct run_text_options *options)
{
	const struct verdict *verdict = &diagnosis->verdict;

	print_outcome(out, run, options);
	print_others(out, run, verdict);
	print_limit(out, verdict, options);
	for (size_t i = 0; i < verdict->evidence_count; i++)
		print_sentence(out, "  ", verdict->evidence[i]);
	if (verdict->hint && verdict->cause != CAUSE_NONE)
		print_sentence(out, "try: ", verdict->hint);
}

void run_text_report(FILE *out, const struct run *run, const struct diagnosis *diagnosis,
		     const struct run_text_options *options)
{
	run_text_verdict(out, run, diagnosis, options);
	run_text_deadlock(out, run, options);
	run_text_path(out, run, options);
	run_text_programs(out, run, options);
	run_text_ledger(out, run, options);
	run_text_stacks(out, run, options);
	if (options->is_verbose)
		run_text_segments(out, run, options);
	run_text_phases(out, run, options);
	run_text_threads(out, run, options);
	if (options->is_verbose)
		run_text_waits(out, run, options);
	run_text_processes(out, run, options);
	run_text_gpu_users(out, run, options);
	if (options->is_verbose)
		run_text_syscalls(out, run, options);
	run_text_notes(out, run, options);
}

int run_text_page(FILE *to, const struct terminal *terminal, const struct run *run,
		  const struct diagnosis *diagnosis, size_t rows, bool is_verbose)
{
	struct terminal shape = *terminal;
	struct run_text_options options = {
		.color = terminal->colour,
		.rows = rows,
		.is_verbose = is_verbose,
	};
	struct page page;

	if (!shape.width && !is_verbose)
		shape.width = PLAIN_WIDTH;
	options.width = shape.width;
	page_open_for(&page, shape, to);
	run_text_report(page.out, run, diagnosis, &options);
	return page_close(&page);
}
