/* SPDX-License-Identifier: MIT */
#include "cli/args/session_args.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "analyze/verdict/diagnosis.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/output/memory_stream.h"
#include "base/text.h"
#include "cli/args/output_args.h"
#include "export/exporter.h"
#include "model/snapshot/snapshot.h"
#include "model/tree/run.h"
#include "model/run/run_snapshot.h"
#include "render/run/run_text.h"
#include "render/terminal.h"
#include "session/session.h"
#include "store/snapshot_file.h"

#define INTERVAL_LEAST_NS 1000000ull
#define INTERVAL_MOST_NS (3600 * 1000000000ull)
/* If nobody reads the report for so long, its reader is gone. */
#define REPORT_PATIENCE_S 10
/* Bytes that a pipe with room takes without waiting. */
#define REPORT_PIECE 4096
#define FREQUENCY_HZ 99
#define FREQUENCY_MOST_HZ 10000
#define OFF_CPU_MIN_NS 1000000ull

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length > strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* Refuses a pipe without a reader, and never waits for a slow reader. */
static int open_output(const char *path, FILE **ret, struct error *error)
{
	CLEANUP(close_fd) int fd = file_open_output(path);
	FILE *out;

	if (fd < 0)
		return error_set(error, fd, "cannot write to '%s': %s: %s", path, strerror(-fd),
				 file_write_advice(fd));
	out = fdopen(fd, "w");
	if (!out)
		return error_set(error, -ENOMEM, "out of memory");
	TAKE_FD(fd);
	*ret = out;
	return 0;
}

/* Reports what would prevent replacing the file at the end, before anything starts. */
static int check_replaceable(const char *path, struct error *error)
{
	struct file_replacement file = { .fd = -1 };
	int status = file_replace(&file, path);

	file_abandon(&file);
	if (status < 0)
		return error_set(error, status, "cannot write to '%s': %s: %s", path,
				 strerror(-status), file_write_advice(status));
	return 0;
}

static int choose_lines(const char *path, FILE **ret, struct error *error)
{
	if (!file_is_standard_output(path))
		return open_output(path, ret, error);
	*ret = stdout;
	return 0;
}

static int refuse_name(const char *path, struct error *error)
{
	CLEANUP(text_free) struct text endings = { 0 };

	snapshot_file_append_endings(&endings, true);
	text_append_string(&endings, ", ");
	exporter_append_endings(&endings);
	return error_set(error, -EINVAL,
			 "cannot write to '%s': the name of the output ends in %s, or in .jsonl "
			 "(JSON lines)",
			 path, text_string(&endings));
}

/* The kinds of files: one of the snapshot's, JSON lines, and each exporter's. */
static const void *kind_of(const char *path)
{
	static const char lines[] = ".jsonl", snapshot[] = ".tscope";

	if (snapshot_file_keeps_runs(path))
		return snapshot;
	if (strcmp(path, "-") == 0 || ends_with(path, lines)) /* "-" is lines, "-.html" a page */
		return lines;
	return exporter_find(path);
}

static int choose_exporter(const struct session_args *args, const char *path,
			   struct session_options *ret, struct error *error)
{
	const struct exporter *exporter = exporter_find(path);
	int status = exporter->check ? exporter->check(error) : 0;

	if (status < 0)
		return status;
	if (exporter->is_binary)
		status = output_check_binary(path, error);
	if (status < 0)
		return status;
	if (exporter->needs_stacks && args->no_stacks)
		return error_set(error, -EINVAL,
				 "'%s' is for stacks: leave out --no-stacks, or this -o", path);
	if (exporter->needs_stacks)
		ret->stacks_file = path;
	return check_replaceable(path, error);
}

static int choose_output(const struct session_args *args, const char *path,
			 struct session_options *ret, struct error *error)
{
	int status;

	if (snapshot_file_keeps_runs(path)) {
		ret->keeps_host = true;
		status = output_check_binary(path, error);
		return status < 0 ? status : check_replaceable(path, error);
	}
	if (!exporter_find(path))
		return choose_lines(path, &ret->lines, error);
	ret->keeps_host = true;
	return choose_exporter(args, path, ret, error);
}

/* What is the same in two of the outputs, or NULL. */
static const char *find_conflict(const char *path, const char *other)
{
	if (kind_of(path) == kind_of(other))
		return "two files of one kind";
	if (file_is_standard_output(path) && file_is_standard_output(other))
		return "standard output twice";
	return NULL;
}

static int choose_outputs(const struct session_args *args, struct session_options *ret,
			  struct error *error)
{
	const char *const *paths = args->outputs.values;
	int status = 0;

	for (size_t i = 0; i < args->outputs.count && status == 0; i++) {
		if (!kind_of(paths[i]))
			return refuse_name(paths[i], error);
		for (size_t other = 0; other < i; other++) {
			const char *conflict = find_conflict(paths[i], paths[other]);

			if (conflict)
				return error_set(error, -EINVAL, "-o names %s: '%s' is the second",
						 conflict, paths[i]);
		}
		status = choose_output(args, paths[i], ret, error);
	}
	return status;
}

static int check_times(const struct session_args *args, struct error *error)
{
	if (args->interval.given &&
	    (args->interval.value < INTERVAL_LEAST_NS || args->interval.value > INTERVAL_MOST_NS))
		return error_set(error, -EINVAL, "--interval is from 1ms to 1h");
	if (args->duration.given && args->duration.value == 0)
		return error_set(error, -EINVAL, "--duration is more than 0");
	return 0;
}

static int check_stacks(const struct session_args *args, struct error *error)
{
	if (args->no_stacks && (args->frequency.given || args->off_cpu_min.given))
		return error_set(
			error, -EINVAL,
			"--no-stacks leaves nothing for --frequency or --off-cpu-min to say");
	if (args->frequency.given &&
	    (args->frequency.value == 0 || args->frequency.value > FREQUENCY_MOST_HZ))
		return error_set(error, -EINVAL, "--frequency is from 1 to %d", FREQUENCY_MOST_HZ);
	if (args->off_cpu_min.given &&
	    (args->off_cpu_min.value == 0 || args->off_cpu_min.value > INTERVAL_MOST_NS))
		return error_set(error, -EINVAL, "--off-cpu-min is more than 0 and at most 1h");
	return 0;
}

bool session_args_print(const struct session_args *args)
{
	for (size_t i = 0; i < args->outputs.count; i++)
		if (file_is_standard_output(args->outputs.values[i]))
			return true;
	return false;
}

int session_args_open(const struct session_args *args, struct session_options *ret,
		      struct error *error)
{
	struct session_options options = {
		.source = args->source,
		.no_syscalls = args->no_syscalls,
		.no_critical_path = args->no_critical_path,
		.exclude_children = args->exclude_children,
		.hardware_counters = args->hardware_counters,
		.gpu = args->gpu,
		.no_stacks = args->no_stacks,
		.stack_frequency_hz = args->frequency.given ? args->frequency.value : FREQUENCY_HZ,
		.off_cpu_min_ns =
			args->off_cpu_min.given ? args->off_cpu_min.value : OFF_CPU_MIN_NS,
		.quiet = args->quiet,
		.interval_ns = args->interval.value,
		.duration_ns = args->duration.value,
		.live_fd = isatty(STDERR_FILENO) ? STDERR_FILENO : -1,
	};
	int status = check_times(args, error);

	if (status == 0)
		status = check_stacks(args, error);
	if (status == 0)
		status = choose_outputs(args, &options, error);
	*ret = options; /* the caller closes what was opened */
	return status;
}

void session_args_close(struct session_options *options)
{
	if (options->lines && options->lines != stdout)
		fclose(options->lines);
}

static void do_nothing(int signal)
{
	(void)signal;
}

/* Regularly interrupts writes that wait for a terminal or pipe. */
static void interrupt_writes(time_t seconds)
{
	struct sigaction action = { .sa_handler = do_nothing };
	struct itimerval timer = { .it_interval = { .tv_sec = seconds },
				   .it_value = { .tv_sec = seconds } };
	sigset_t set;

	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void write_patiently(int fd, const char *bytes, size_t length)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };
	int waited = 0;

	interrupt_writes(1);
	while (length && waited < REPORT_PATIENCE_S) {
		ssize_t written = -1;

		errno = EAGAIN;
		if (poll(&room, 1, 1000) > 0)
			written = write(fd, bytes, length < REPORT_PIECE ? length : REPORT_PIECE);
		if (written < 0 && errno != EINTR && errno != EAGAIN)
			break;
		waited = written > 0 ? 0 : waited + 1;
		bytes += written > 0 ? written : 0;
		length -= written > 0 ? (size_t)written : 0;
	}
	interrupt_writes(0);
}

static int save_snapshot(const struct run *run, const char *path, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;

	if (run_to_snapshot(run, &snapshot) < 0)
		return error_set(error, -ENOMEM, "out of memory: %s was not written", path);
	return snapshot_file_write(snapshot, path, error);
}

int session_args_save(const struct session_args *args, const struct run *run, struct error *error)
{
	int first = 0;

	for (size_t i = 0; i < args->outputs.count; i++) {
		const char *path = args->outputs.values[i];
		const struct exporter *exporter = exporter_find(path);
		int status = 0;

		if (snapshot_file_keeps_runs(path))
			status = save_snapshot(run, path, error);
		else if (exporter)
			status = exporter_save(exporter, run, path, error);
		first = first < 0 ? first : status;
	}
	return first;
}

int session_args_report(const struct session_args *args, const struct run *run, struct error *error)
{
	struct terminal terminal = terminal_of(stderr);
	CLEANUP(free_pointer) char *bytes = NULL;
	struct diagnosis diagnosis = { 0 };
	size_t length = 0;
	bool failed;
	FILE *out;

	if (args->quiet)
		return 0;
	out = memory_stream_open(&bytes, &length);
	if (!out)
		return error_set(error, -ENOMEM, "out of memory: there is no report");
	diagnose(run, &diagnosis);
	failed = run_text_page(out, &terminal, run, &diagnosis,
			       args->verbose ? RUN_TEXT_ROWS_LONG : RUN_TEXT_ROWS,
			       args->verbose) < 0;
	if (fclose(out) != 0 || failed)
		return error_set(error, -ENOMEM, "out of memory: there is no report");
	write_patiently(STDERR_FILENO, bytes, length);
	return 0;
}
