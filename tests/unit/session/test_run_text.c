/* SPDX-License-Identifier: MIT */
/* The report of a run and the live line, for people. */
#include "watched_run.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "render/run/run_text.h"

struct report {
	char *text;
	size_t size;
};

static void free_report(struct report *report)
{
	free(report->text);
}

static struct report report_of(const struct run *run, const struct run_text_options *options)
{
	struct report report = { 0 };
	struct diagnosis diagnosis = { 0 };
	FILE *out = open_memstream(&report.text, &report.size);

	diagnose(run, &diagnosis);
	run_text_report(out, run, &diagnosis, options);
	fclose(out);
	return report;
}

static void assert_first_line(const struct run *run, const char *expected)
{
	struct run_text_options options = { .rows = 1 };
	CLEANUP(free_report) struct report report = report_of(run, &options);

	report.text[strcspn(report.text, "\n")] = '\0';
	assert_string_equal(report.text, expected);
}

static void the_first_line_says_how_it_ended(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);

	(void)state;
	assert_first_line(run, "make exited 2 after 2.00 s: 4 processes, 0.85 of 16 cores busy, "
			       "peak 700 MiB");
	run->status = SIGKILL;
	run->killer_pid = 123;
	memcpy(run->killer_comm, "oo\nmd", 6);
	assert_first_line(run, "make was killed by SIGKILL (9) from pid 123 (oo\\x0amd) after "
			       "2.00 s: 4 processes, 0.85 of 16 cores busy, peak 700 MiB");
	run->oom_killed = true;
	assert_first_line(run, "make was killed by the kernel for lack of memory (OOM) after "
			       "2.00 s: 4 processes, 0.85 of 16 cores busy, peak 700 MiB");
	run->end = RUN_TIMED_OUT;
	assert_first_line(run, "make ran out of its time (-d) after 2.00 s: 4 processes, "
			       "0.85 of 16 cores busy, peak 700 MiB");
	run->mode = RUN_ATTACH;
	run->command = NULL;
	run->has_status = false;
	assert_first_line(run, "make (pid 100) was watched for 2.00 s: 4 processes, 0.85 of 16 "
			       "cores busy, peak 700 MiB");
	run->end = RUN_UNFINISHED;
	assert_first_line(run, "make (pid 100): cut off after 2.00 s: no summary; 3 processes "
			       "ended by then, 4 in all, 0.85 of 16 cores busy, peak 700 MiB");
}

static void the_first_line_names_all_that_were_attached_to(void **state)
{
	static const int32_t pids[] = { 130, 110, 7, 8, 9 };
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);

	(void)state;
	run->mode = RUN_ATTACH;
	run->command = NULL;
	assert_int_equal(run_set_pids(run, pids, 2), 0);
	assert_first_line(run, "daemon (pid 130) and cc (pid 110) were watched for 2.00 s: 4 "
			       "processes, 0.85 of 16 cores busy, peak 700 MiB");
	assert_int_equal(run_set_pids(run, pids, 5), 0);
	assert_first_line(run, "daemon (pid 130), cc (pid 110), process (pid 7) and 2 more were "
			       "watched for 2.00 s: 4 processes, 0.85 of 16 cores busy, peak 700 "
			       "MiB");
}

static void what_was_lost_makes_lower_bounds(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);

	(void)state;
	run->losses.lines = run->losses.wakers = run->losses.unnamed_syscalls = 5;
	assert_first_line(run, "make exited 2 after 2.00 s: 4 processes, 0.85 of 16 cores busy, "
			       "peak 700 MiB");
	run->losses.threads = 1;
	assert_first_line(run, "make exited 2 after 2.00 s: 4 processes, at least 0.85 of 16 cores "
			       "busy, peak 700 MiB");
	run->losses.unmatched_events = 1;
	assert_first_line(run, "make exited 2 after 2.00 s: at least 4 processes, at least 0.85 of "
			       "16 cores busy, peak 700 MiB");
	run->losses.events = 1;
	assert_first_line(run, "make exited 2 after 2.00 s: at least 4 processes, at least 0.85 of "
			       "16 cores busy, peak at least 700 MiB");
	run->end = RUN_UNFINISHED;
	assert_first_line(run, "make exited 2; cut off after 2.00 s: no summary; 3 processes ended "
			       "by then, at least 4 in all, at least 0.85 of 16 cores busy, "
			       "peak at least 700 MiB");
}

static void each_loss_that_matters_makes_one(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	const struct {
		uint64_t *lost;
		unsigned bounds;
	} rows[] = {
		{ &run->losses.events, RUN_BOUND_PROCESSES | RUN_BOUND_CPU | RUN_BOUND_MEMORY },
		{ &run->losses.untracked_tasks,
		  RUN_BOUND_PROCESSES | RUN_BOUND_CPU | RUN_BOUND_MEMORY },
		{ &run->losses.unmatched_events, RUN_BOUND_PROCESSES | RUN_BOUND_CPU },
		{ &run->losses.threads, RUN_BOUND_CPU },
		{ &run->losses.tracer_failures.value, RUN_BOUND_CPU | RUN_BOUND_MEMORY },
		{ &run->losses.lines, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		*rows[i].lost = 1;
		assert_int_equal(run_lower_bounds(run), rows[i].bounds);
		*rows[i].lost = 0;
	}
	run->tracer_misses = "much";
	assert_int_equal(run_lower_bounds(run),
			 RUN_BOUND_PROCESSES | RUN_BOUND_CPU | RUN_BOUND_MEMORY);
}

static void the_end_of_the_command_is_told_apart_from_that_of_the_last(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);

	(void)state;
	run->command_ns = (struct run_number){ true, 1500 * MILLISECOND };
	assert_first_line(run, "make exited 2 after 1.50 s; the rest of its processes were watched "
			       "for 2.00 s: 4 processes, 0.85 of 16 cores busy, peak 700 MiB");
	run->tree->live_processes = 0;
	assert_first_line(run, "make exited 2 after 1.50 s; the last of its processes ended after "
			       "2.00 s: 4 processes, 0.85 of 16 cores busy, peak 700 MiB");
}

/* What the kernel charged is less where it leaves out interrupts and stolen time, or a guess. */
static void all_figures_of_cpu_time_are_one(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .is_verbose = true };
	CLEANUP(free_report) struct report report = { 0 };

	(void)state;
	charge(&run->tree->amounts, 1200 * MILLISECOND);
	run->tree->oom_kills = 0;
	for (size_t i = 0; i < run->tree->count; i++)
		charge(&run->tree->all[i]->amounts,
		       amounts_cpu_ns(&run->tree->all[i]->amounts) / 2);
	report = report_of(run, &options);
	assert_non_null(strstr(report.text, ": 4 processes, 0.85 of 16 cores busy,"));
	assert_non_null(strstr(report.text, "on cpu             1.70 s"));
	assert_non_null(strstr(report.text, "880 ms   800 ms  90.0 MiB  2         cc -c"));
	assert_null(strstr(report.text, "0.60"));
	assert_null(strstr(report.text, "not seen"));
	/* A charge that is off by as little as two clocks differ is not time of a thread. */
	charge(&run->tree->amounts, 1700 * MILLISECOND + 30 * MILLISECOND);
	free_report(&report);
	report = report_of(run, &options);
	assert_null(strstr(report.text, "not seen"));
	/* Nor is any other charge, where nothing was missed: threads that sleep often have it. */
	charge(&run->tree->amounts, 2 * SECOND);
	free_report(&report);
	report = report_of(run, &options);
	assert_non_null(strstr(report.text, ": 4 processes, 0.85 of 16 cores busy,"));
	assert_null(strstr(report.text, "not seen"));
	/* Threads without a last account are in the charge of their process alone. */
	run->losses.threads = 1;
	free_report(&report);
	report = report_of(run, &options);
	assert_non_null(strstr(report.text, ": 4 processes, at least 1.00 of 16 cores busy,"));
	assert_non_null(strstr(report.text, "on cpu             1.70 s"));
	assert_non_null(strstr(report.text, "not seen           299 ms\n"));
}

static void the_verdict_has_at_most_ten_lines(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct diagnosis diagnosis = { .verdict = { .class = CLASS_LOCK_BOUND,
						    .cause = CAUSE_LOCK,
						    .hint = "hint",
						    .evidence_count = DIAGNOSIS_EVIDENCE_MAX } };
	struct run_text_options options = { 0 };
	CLEANUP(free_report) struct report report = { 0 };
	FILE *out = open_memstream(&report.text, &report.size);
	size_t lines = 0;

	(void)state;
	run_text_verdict(out, run, &diagnosis, &options);
	fclose(out);
	for (const char *at = report.text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 10);
}

static void escapes_are_written_only_when_asked_for(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .width = 80, .rows = 10 };
	CLEANUP(free_report) struct report plain = report_of(run, &options);
	CLEANUP(free_report) struct report coloured = { 0 };

	(void)state;
	options.color = true;
	coloured = report_of(run, &options);
	assert_null(memchr(plain.text, '\033', plain.size));
	assert_non_null(memchr(coloured.text, '\033', coloured.size));
	assert_null(strstr(coloured.text, "worker\033"));
	assert_non_null(strstr(plain.text, "worker\\x1b[31m"));
}

static void costly_waits_and_waits_for_work_are_summed_apart(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .is_verbose = true };
	CLEANUP(free_report) struct report report = report_of(run, &options);

	(void)state;
	assert_non_null(strstr(report.text, "costly waits       2.67 s  38.0"));
	assert_non_null(strstr(report.text, "waiting for work   2.66 s  37.8"));
	assert_non_null(strstr(report.text, "holder (101) 100 %"));
}

static void rows_beyond_the_limit_are_counted(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .rows = 1, .is_verbose = true };
	CLEANUP(free_report) struct report report = report_of(run, &options);

	(void)state;
	assert_non_null(strstr(report.text, "and 3 more\n"));
	assert_null(strstr(report.text, "daemon"));
}

/* The line that begins with the word, up to its end. */
static void assert_line(const struct report *report, const char *line)
{
	const char *at = strstr(report->text, line);

	assert_non_null(at);
	assert_true(at == report->text || at[-1] == '\n');
	assert_int_equal(at[strlen(line)], '\n');
}

static void a_short_report_is_by_program(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .width = 80, .rows = 8 };
	CLEANUP(free_report) struct report report = report_of(run, &options);

	(void)state;
	assert_line(&report, "program  count      cpu  costly waits  for work  peak rss  failed");
	assert_line(&report,
		    "make         1   600 ms        2.62 s    700 ms  60.0 MiB  1 (exit 2)");
	assert_line(&report,
		    "ld           1   300 ms          0 ns      0 ns   700 MiB  1 (OOM kill)");
	assert_true(strstr(report.text, "make         1") < strstr(report.text, "cc           1"));
	assert_null(strstr(report.text, "longest waits\n"));
	assert_null(strstr(report.text, "processes by CPU time"));
	assert_null(strstr(report.text, "system calls by"));
	assert_null(strstr(report.text, "used:"));
	assert_null(strstr(report.text, "itself:"));
	/* Few threads, and two of one process. */
	assert_non_null(strstr(report.text, "threads by"));
}

static void few_processes_have_a_table_where_some_are_of_one_program(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .rows = 8 };
	CLEANUP(free_report) struct report few = { 0 }, more = { 0 }, unsure = { 0 };

	(void)state;
	memcpy(run_find_process(run, WATCHED_VICTIM)->comm, "cc", 3);
	few = report_of(run, &options);
	run->losses.events = 1;
	unsure = report_of(run, &options);
	run->losses.events = 0;
	run->tree->processes = 6;
	more = report_of(run, &options);
	assert_non_null(strstr(few.text, "\nprocesses by CPU time\n"));
	assert_null(strstr(unsure.text, "\nprocesses by CPU time\n"));
	assert_null(strstr(more.text, "\nprocesses by CPU time\n"));
}

static void programs_include_processes_that_were_not_kept(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .rows = 8 };
	struct tree_process folded = *run_find_process(run, WATCHED_CHILD);
	CLEANUP(free_report) struct report report = { 0 };

	(void)state;
	tree_fold_process(run->tree, &folded);
	memcpy(folded.comm, "as", 3);
	folded.facts.status = 0;
	tree_fold_process(run->tree, &folded);
	report = report_of(run, &options);
	assert_line(&report,
		    "cc           2   1.60 s        100 ms      0 ns  90.0 MiB  2 (exit 2)");
	assert_non_null(strstr(report.text, "\nas           1   800 ms  "));
	assert_line(&report, "and 1 more failed");
}

static void failed_processes_are_shown_the_first_first(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .width = 50, .rows = 8 };
	struct tree_process *victim = run_find_process(run, WATCHED_VICTIM);
	CLEANUP(free_report) struct report report = report_of(run, &options);
	CLEANUP(free_report) struct report other = { 0 };

	(void)state;
	assert_line(&report, "failed: cc exited 2 (pid 110: cc -c a \"b\".c )");
	assert_line(&report, "failed: ld was killed for lack of memory (pid 120: make -j2)");
	assert_true(strstr(report.text, "failed: cc ") < strstr(report.text, "failed: ld "));
	/* The first line says how the command ended. */
	assert_null(strstr(report.text, "failed: make"));
	victim->oom_killed = false;
	victim->facts.status = SIGKILL;
	memcpy(victim->comm, "cc", 3);
	other = report_of(run, &options);
	assert_line(&other, "failed: cc was killed by SIGKILL (pid 120: make -j2)");
	assert_non_null(strstr(other.text, "2 (exit 2, ...)\n"));
}

static void only_five_that_failed_are_shown(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .rows = 8 };
	CLEANUP(free_report) struct report report = { 0 };
	size_t lines = 0;

	(void)state;
	for (int32_t pid = 200; pid < 210; pid++) {
		struct tree_process *process = tree_add_process(run->tree);

		assert_non_null(process);
		process->key.pid = pid;
		memcpy(process->comm, "test", 5);
		process->exited = true;
		process->facts.present = TREE_PROCESS_STATUS;
		process->facts.status = 1 << 8;
	}
	report = report_of(run, &options);
	for (const char *at = report.text; (at = strstr(at, "\nfailed: ")); at++)
		lines++;
	assert_int_equal(lines, 5);
	assert_line(&report, "and 7 more failed");
	options.is_verbose = true;
	free_report(&report);
	report = report_of(run, &options);
	assert_line(&report, "and 4 more failed");
	assert_non_null(strstr(report.text, "10 (exit 1)\n"));
}

static void how_they_ended_may_not_be_known(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .rows = 8 };
	CLEANUP(free_report) struct report report = { 0 };

	(void)state;
	run_find_process(run, WATCHED_CHILD)->facts.present &= ~(unsigned)TREE_PROCESS_STATUS;
	report = report_of(run, &options);
	assert_line(&report, "cc           1   800 ms       50.0 ms      0 ns  90.0 MiB  -");
	assert_null(strstr(report.text, "failed: cc"));
}

static void a_peak_of_several_processes_says_what_it_adds_up(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);

	(void)state;
	run->tree->peak_rss_bytes = UINT64_C(800) << 20;
	assert_first_line(run, "make exited 2 after 2.00 s: 4 processes, 0.85 of 16 cores busy, "
			       "peak 800 MiB RSS, shared pages counted in each process");
	run->tree->most_processes = 1;
	assert_first_line(run, "make exited 2 after 2.00 s: 4 processes, 0.85 of 16 cores busy, "
			       "peak 800 MiB");
}

static void small_waits_are_only_in_their_sum(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .rows = 8 };
	const struct waited little = { MILLISECOND, 1, MILLISECOND };
	CLEANUP(free_report) struct report brief = { 0 }, whole = { 0 };

	(void)state;
	amounts_set_waited(&run->tree->amounts, WAIT_PIPE, little);
	brief = report_of(run, &options);
	options.is_verbose = true;
	whole = report_of(run, &options);
	assert_null(strstr(brief.text, "\n  pipe "));
	assert_non_null(strstr(whole.text, "\n  pipe "));
	assert_non_null(strstr(brief.text, "\n  disk "));
}

static void losses_are_told_only_where_there_are_any(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { 0 };
	CLEANUP(free_report) struct report good = report_of(run, &options);
	CLEANUP(free_report) struct report bad = { 0 };

	(void)state;
	run->losses.threads = 1;
	run->losses.events = 2;
	run->tracer_misses = "short-lived processes";
	bad = report_of(run, &options);
	assert_null(strstr(good.text, "lost:"));
	assert_non_null(strstr(bad.text, "lost: 2 events (no room in the ring), "
					 "1 thread without a last account\n"));
	assert_non_null(strstr(bad.text, "not measured: pressure is unavailable: "
					 "the kernel was built without it\n"));
	assert_non_null(strstr(bad.text, "followed by bpf, which can miss short-lived processes"));
}

static void the_rows_of_the_ledger_add_up(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { 0 };
	CLEANUP(free_report) struct report report = { 0 };

	(void)state;
	amounts_set(&run->tree->amounts, AMOUNT_utime_ns, SECOND);
	amounts_set(&run->tree->amounts, AMOUNT_stime_ns, SECOND);
	amounts_set(&run->tree->amounts, AMOUNT_run_time_ns, 2 * SECOND);
	run->tree->unseen_cpu_ns = 400 * MILLISECOND;
	report = report_of(run, &options);
	assert_non_null(strstr(report.text, "on cpu             2.00 s"));
	assert_non_null(strstr(report.text, "  user            ~1.00 s"));
	assert_non_null(strstr(report.text, "  kernel          ~1.00 s"));
	assert_non_null(strstr(report.text, "not seen           400 ms\n"));
}

static void one_of_a_kind_is_no_plural(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .is_verbose = true };
	CLEANUP(free_report) struct report report = { 0 };

	(void)state;
	run->sampling.samples = 1;
	amounts_set(&run->tree->amounts, AMOUNT_voluntary_csw, 1);
	amounts_set(&run->tree->amounts, AMOUNT_minflt, 1);
	report = report_of(run, &options);
	assert_non_null(strstr(report.text, "1 page fault, 1 voluntary switch\n"));
	assert_non_null(strstr(report.text, ", 1 sample\n"));
}

static void our_own_share_of_a_short_run_says_nothing(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .is_verbose = true };
	CLEANUP(free_report) struct report whole = report_of(run, &options);
	CLEANUP(free_report) struct report brief = { 0 };

	(void)state;
	run->end_ns = run->begin_ns + MILLISECOND;
	brief = report_of(run, &options);
	assert_non_null(strstr(whole.text, "itself: 20.0 ms CPU (0.96 % of a core)"));
	assert_non_null(strstr(brief.text, "itself: 20.0 ms CPU, peak"));
}

static void what_was_used_is_of_processes_that_were_seen(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = watched_run(NULL);
	struct run_text_options options = { .is_verbose = true };
	CLEANUP(free_report) struct report report = { 0 };

	(void)state;
	run->tracer_misses = "short-lived processes";
	report = report_of(run, &options);
	assert_non_null(
		strstr(report.text, "voluntary switches; without processes that were not seen\n"));
}

static void a_report_of_nothing_is_short(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = NULL;
	struct run_text_options options = { .is_verbose = true };
	CLEANUP(free_report) struct report report = { 0 };

	(void)state;
	assert_int_equal(run_new(&run), 0);
	report = report_of(run, &options);
	assert_null(strstr(report.text, "threads by"));
	assert_null(strstr(report.text, "system calls"));
	assert_null(strstr(report.text, "used:"));
}

static void fill_live(struct run *run, struct run_sample *before)
{
	run->begin_ns = WATCHED_BEGIN;
	before->time_ns = WATCHED_BEGIN + 12 * SECOND;
	run->last = (struct run_sample){
		.time_ns = WATCHED_BEGIN + 12 * SECOND + 500 * MILLISECOND,
		.processes = 5,
		.threads = 17,
		.has_rss = true,
		.rss_bytes = 412 << 20,
	};
	set_times(&run->last.amounts, SECOND, 0);
	amounts_set(&run->last.amounts, AMOUNT_wait_lock_ns, 410 * MILLISECOND);
	amounts_set(&run->last.amounts, AMOUNT_wait_poll_ns, 500 * MILLISECOND);
	run->sampling.peak_rss_bytes = (struct run_number){ true, 600 << 20 };
	charge(&run->last.amounts, 950 * MILLISECOND);
	amounts_set(&run->last.amounts, AMOUNT_read_bytes, 1625293);
	amounts_set(&run->last.amounts, AMOUNT_write_bytes, 0);
}

static const char live_line[] = "12.5 s  5 procs 17 thr  1.9 cores  "
				"rss 412 MiB (peak 600 MiB)  rd 3.10 MiB/s wr 0 B  lock 41%";

static void the_live_line_is_cut_by_whole_fields(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = NULL;
	struct run_sample before = { 0 };

	(void)state;
	assert_int_equal(run_new(&run), 0);
	fill_live(run, &before);
	for (size_t width = 0; width <= sizeof(live_line); width++) {
		CLEANUP(text_free) struct text line = { 0 };
		const char *rest;

		run_text_live(&line, run, &before, width);
		assert_true(line.length <= width);
		assert_memory_equal(text_string(&line), live_line, line.length);
		rest = live_line + line.length;
		assert_true(!line.length || !*rest || (rest[0] == ' ' && rest[1] == ' '));
	}
}

static void the_live_line_leaves_out_what_is_not_measured(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = NULL;
	CLEANUP(text_free) struct text line = { 0 };

	(void)state;
	assert_int_equal(run_new(&run), 0);
	run->begin_ns = WATCHED_BEGIN;
	run->last.time_ns = WATCHED_BEGIN + SECOND;
	run->last.processes = run->last.threads = 1;
	run_text_live(&line, run, NULL, 80);
	assert_string_equal(text_string(&line), "1.00 s  1 proc 1 thr");
}

/* A costly wait comes first, and what is below one percent is none. */
static void the_live_line_has_the_longest_wait(void **state)
{
	static const struct {
		uint64_t queue, lock, disk, poll, idle; /* ms of a second */
		const char *wait;			/* the end of the line */
	} cases[] = {
		{ 0, 0, 0, 0, 0, "1 thr" },
		{ 0, 9, 0, 9, 0, "1 thr" },
		{ 0, 10, 0, 900, 0, "  lock 1%" },
		{ 300, 200, 100, 900, 0, "  queue 30%" },
		{ 200, 300, 100, 900, 0, "  lock 30%" },
		{ 100, 200, 300, 900, 0, "  disk 30%" },
		{ 0, 300, 300, 0, 0, "  disk 30%" },
		{ 0, 0, 0, 700, 200, "  poll 70%" },
		{ 0, 0, 0, 200, 700, "  timer 70%" },
		{ 0, 3000, 0, 0, 0, "  lock 100%" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(run_free_pointer) struct run *run = NULL;
		CLEANUP(text_free) struct text line = { 0 };
		struct run_sample before = { .time_ns = WATCHED_BEGIN };
		const char *end;

		assert_int_equal(run_new(&run), 0);
		run->begin_ns = WATCHED_BEGIN;
		run->last.time_ns = WATCHED_BEGIN + SECOND;
		run->last.processes = run->last.threads = 1;
		set_times(&run->last.amounts, SECOND, 0);
		amounts_set(&run->last.amounts, AMOUNT_wait_time_ns, cases[i].queue * MILLISECOND);
		amounts_set(&run->last.amounts, AMOUNT_wait_lock_ns, cases[i].lock * MILLISECOND);
		amounts_set(&run->last.amounts, AMOUNT_wait_disk_ns, cases[i].disk * MILLISECOND);
		amounts_set(&run->last.amounts, AMOUNT_wait_poll_ns, cases[i].poll * MILLISECOND);
		amounts_set(&run->last.amounts, AMOUNT_wait_timer_ns, cases[i].idle * MILLISECOND);
		run_text_live(&line, run, &before, 200);
		end = text_string(&line) + line.length - strlen(cases[i].wait);
		if (line.length < strlen(cases[i].wait) || strcmp(end, cases[i].wait) != 0)
			fail_msg("'%s' does not end with '%s'", text_string(&line), cases[i].wait);
	}
}

static void set_now(struct run *run)
{
	struct phase_now *now = &run->now;

	*now = (struct phase_now){ .present = true };
	now->innermost = (struct scope){ .label = "solve",
					 .age_ns = 41 * SECOND,
					 .has_progress = true,
					 .count = 410,
					 .total = 1000 };
}

static void the_live_line_ends_with_the_scope(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = NULL;
	struct run_sample before;

	(void)state;
	assert_int_equal(run_new(&run), 0);
	fill_live(run, &before);
	set_now(run);
	for (size_t width = 0; width <= 200; width++) {
		CLEANUP(text_free) struct text line = { 0 };
		const char *words;

		run_text_live(&line, run, &before, width);
		words = text_string(&line);
		assert_true(text_width(words) <= width);
		if (width >= 50)
			assert_string_equal(strstr(words, "  solve"), "  solve 41% eta 59.0 s");
	}
}

static void a_scope_without_progress_has_its_age_and_one_inside_of_progress_both(void **state)
{
	CLEANUP(text_free) struct text line = { 0 };
	CLEANUP(run_free_pointer) struct run *run = NULL;
	struct run_sample before;

	(void)state;
	assert_int_equal(run_new(&run), 0);
	fill_live(run, &before);
	set_now(run);
	run->now.has_outer = true;
	run->now.outer = run->now.innermost;
	run->now.innermost = (struct scope){ .label = "row\033[2J", .age_ns = SECOND };
	run_text_live(&line, run, &before, 120);
	assert_non_null(strstr(text_string(&line), "  solve 41% eta 59.0 s: row\\x1b[2J"));
	run->now.has_outer = false;
	text_clear(&line);
	run_text_live(&line, run, &before, 120);
	assert_non_null(strstr(text_string(&line), "  row\\x1b[2J 1.00 s"));
	memset(run->now.innermost.label, 'x', SCOPE_LABEL_SIZE - 1);
	text_clear(&line);
	run_text_live(&line, run, &before, 80);
	assert_non_null(strstr(text_string(&line), "xx.. 1.00 s"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_says_how_it_ended),
		cmocka_unit_test(the_first_line_names_all_that_were_attached_to),
		cmocka_unit_test(what_was_lost_makes_lower_bounds),
		cmocka_unit_test(each_loss_that_matters_makes_one),
		cmocka_unit_test(the_end_of_the_command_is_told_apart_from_that_of_the_last),
		cmocka_unit_test(all_figures_of_cpu_time_are_one),
		cmocka_unit_test(the_verdict_has_at_most_ten_lines),
		cmocka_unit_test(escapes_are_written_only_when_asked_for),
		cmocka_unit_test(costly_waits_and_waits_for_work_are_summed_apart),
		cmocka_unit_test(rows_beyond_the_limit_are_counted),
		cmocka_unit_test(a_short_report_is_by_program),
		cmocka_unit_test(few_processes_have_a_table_where_some_are_of_one_program),
		cmocka_unit_test(programs_include_processes_that_were_not_kept),
		cmocka_unit_test(failed_processes_are_shown_the_first_first),
		cmocka_unit_test(only_five_that_failed_are_shown),
		cmocka_unit_test(how_they_ended_may_not_be_known),
		cmocka_unit_test(a_peak_of_several_processes_says_what_it_adds_up),
		cmocka_unit_test(small_waits_are_only_in_their_sum),
		cmocka_unit_test(losses_are_told_only_where_there_are_any),
		cmocka_unit_test(the_rows_of_the_ledger_add_up),
		cmocka_unit_test(one_of_a_kind_is_no_plural),
		cmocka_unit_test(our_own_share_of_a_short_run_says_nothing),
		cmocka_unit_test(what_was_used_is_of_processes_that_were_seen),
		cmocka_unit_test(a_report_of_nothing_is_short),
		cmocka_unit_test(the_live_line_is_cut_by_whole_fields),
		cmocka_unit_test(the_live_line_leaves_out_what_is_not_measured),
		cmocka_unit_test(the_live_line_has_the_longest_wait),
		cmocka_unit_test(the_live_line_ends_with_the_scope),
		cmocka_unit_test(
			a_scope_without_progress_has_its_age_and_one_inside_of_progress_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
