/* SPDX-License-Identifier: MIT */
#include "cli/session_args.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "analyze/diagnosis.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "model/run.h"
#include "render/run_text.h"
#include "render/terminal.h"
#include "session/session.h"

#define INTERVAL_LEAST_NS 1000000ull
#define INTERVAL_MOST_NS (3600 * 1000000000ull)
#define REPORT_ROWS 10
/* A reader of the report that takes nothing for so long is not there any more. */
#define REPORT_PATIENCE_S 10
/* What a pipe that has room takes without waiting. */
#define REPORT_PIECE 4096

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length > strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* A pipe without a reader is refused, and one with a slow reader is not waited for. */
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

static int choose_output(const char *path, bool may_print, FILE **ret, struct error *error)
{
	if (!path)
		return 0;
	if (strcmp(path, "-") == 0) {
		if (!may_print)
			return error_set(error, -EINVAL,
					 "-o needs a file name: standard output is the command's");
		*ret = stdout;
		return 0;
	}
	if (!ends_with(path, ".jsonl"))
		return error_set(error, -EINVAL,
				 "cannot write to '%s': the name of the output ends in .jsonl "
				 "(JSON lines)",
				 path);
	return open_output(path, ret, error);
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

int session_args_open(const struct session_args *args, bool may_print, struct session_options *ret,
		      struct error *error)
{
	struct session_options options = {
		.source = args->source,
		.no_syscalls = args->no_syscalls,
		.no_wakers = args->no_wakers || (args->no_syscalls && !args->wakers),
		.quiet = args->quiet,
		.interval_ns = args->interval.value,
		.duration_ns = args->duration.value,
		.live_fd = isatty(STDERR_FILENO) ? STDERR_FILENO : -1,
	};
	int status = check_times(args, error);

	if (status == 0)
		status = choose_output(args->output, may_print, &options.lines, error);
	if (status == 0)
		*ret = options;
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

/* Writes that wait for a terminal or pipe are interrupted now and then. */
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

int session_args_report(const struct session_args *args, const struct run *run, struct error *error)
{
	struct terminal terminal = terminal_of(stderr);
	struct run_text_options options = {
		.color = terminal.colour,
		.width = terminal.width,
		.rows = REPORT_ROWS,
	};
	CLEANUP(free_pointer) char *bytes = NULL;
	struct diagnosis diagnosis = { 0 };
	size_t length = 0;
	FILE *out;

	if (args->quiet)
		return 0;
	out = open_memstream(&bytes, &length);
	if (out) {
		diagnose(run, &diagnosis);
		run_text_report(out, run, &diagnosis, &options);
	}
	if (!out || fclose(out) != 0)
		return error_set(error, -ENOMEM, "out of memory: there is no report");
	write_patiently(STDERR_FILENO, bytes, length);
	return 0;
}
