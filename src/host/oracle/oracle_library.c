/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "host/confine/confine.h"
#include "host/oracle/oracle.h"
#include "host/oracle/oracle_helper.h"
#include "host/oracle_helper_bytes.h"
#include "host/oracle/oracle_run.h"
#include "host/oracle/oracle_start.h"

struct question {
	const struct oracle_file *file;
	int library;	     /* our fd, which the preloaded file replaces */
	int helper;	     /* our fd of the helper, which is executed */
	const char *mallctl; /* the function's name, or "" */
};

static int write_helper(int fd)
{
	ssize_t written = write(fd, oracle_helper_bytes, sizeof(oracle_helper_bytes));

	if (written < 0)
		return -errno;
	return written == (ssize_t)sizeof(oracle_helper_bytes) ? 0 : -EIO;
}

/*
 * Runs in the child, so that a file system that does not answer delays us only until the deadline.
 */
static int prepare(void *argument)
{
	const struct question *question = argument;
	int status = oracle_open_file(question->file, S_IROTH, question->library);

	return status < 0 ? status : write_helper(question->helper);
}

/* The fds of the library and the answer must stay open across execve. */
static int execute(void *argument, int answer)
{
	const struct question *question = argument;
	char preload[64], number[16];
	char *path = preload + strlen("LD_PRELOAD=");
	char *arguments[ORACLE_ARGUMENTS + 1] = { "taskscope-oracle", path,
						  (char *)question->mallctl, number, NULL };
	char *environment[] = { preload, ORACLE_ENVIRONMENT, NULL };

	snprintf(preload, sizeof(preload), "LD_PRELOAD=/proc/self/fd/%d", question->library);
	snprintf(number, sizeof(number), "%d", answer);
	if (fcntl(question->library, F_SETFD, 0) < 0 || fcntl(answer, F_SETFD, 0) < 0)
		return -errno;
	return oracle_execute(question->helper, arguments, environment);
}

/* Waits until the child ends; passes on every signal that it stops for. */
static int wait_for_end(struct oracle_run *run)
{
	int state = 0;
	int status;

	do
		status = oracle_go_on(run, state ? WSTOPSIG(state) : 0, &state);
	while (status == 0 && WIFSTOPPED(state));
	if (status < 0)
		return status;
	return WIFEXITED(state) ? -WEXITSTATUS(state) : -EPROTO;
}

static int take_answer(int fd, struct tsd_layout *ret)
{
	struct oracle_answer answer;
	struct tsd_layout layout;

	if (read(fd, &answer, sizeof(answer)) != sizeof(answer))
		return -ENODATA;
	layout = (struct tsd_layout){ answer.allocated, answer.deallocated };
	if (!tsd_layout_is_plausible(&layout))
		return -ERANGE;
	*ret = layout;
	return 0;
}

static int ask(struct question *question, unsigned timeout_ms, struct tsd_layout *ret)
{
	const struct oracle_question start = {
		.program = question->helper,
		.keep = question->library,
		.prepare = prepare,
		.execute = execute,
		.argument = question,
	};
	struct confined_job job;
	struct oracle_run run;
	int status = oracle_begin(&start, timeout_ms, &run, &job);

	if (status < 0)
		return status;
	status = wait_for_end(&run);
	if (status == 0)
		status = take_answer(job.answer, ret);
	oracle_end(&run, &job);
	return status;
}

int oracle_ask_library(const struct oracle_file *file, const char *mallctl, unsigned timeout_ms,
		       struct tsd_layout *ret, struct error *error)
{
	CLEANUP(close_fd) int library = oracle_make_file();
	CLEANUP(close_fd) int helper = oracle_make_file();
	struct question question = { file, library, helper, mallctl ? mallctl : "" };
	int status = library < 0 ? library : helper < 0 ? helper : ask(&question, timeout_ms, ret);

	return status < 0 ? oracle_explain(status, "library", error) : 0;
}
