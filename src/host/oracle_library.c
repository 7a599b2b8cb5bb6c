/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "host/confine.h"
#include "host/oracle.h"
#include "host/oracle_helper.h"
#include "host/oracle_helper_bytes.h"
#include "host/oracle_start.h"

struct question {
	int library;	     /* of the stranger */
	int copy;	     /* ours: what is preloaded */
	int helper;	     /* ours: what is executed */
	const char *mallctl; /* a name, or "" */
};

static int write_helper(int fd)
{
	ssize_t written = write(fd, oracle_helper_bytes, sizeof(oracle_helper_bytes));

	if (written < 0)
		return -errno;
	return written == (ssize_t)sizeof(oracle_helper_bytes) ? 0 : -EIO;
}

/* In the child, so that a file system that does not answer costs no more than a deadline. */
static int prepare(void *argument)
{
	const struct question *question = argument;
	int status = oracle_check_file(question->library);

	if (status == 0)
		status = oracle_copy_file(question->library, question->copy);
	if (status == 0)
		status = write_helper(question->helper);
	return status;
}

/* The copy and the answer must outlive execve. */
static int execute(void *argument, int answer)
{
	const struct question *question = argument;
	char preload[64], number[16];
	char *path = preload + strlen("LD_PRELOAD=");
	char *arguments[ORACLE_ARGUMENTS + 1] = { "taskscope-oracle", path,
						  (char *)question->mallctl, number, NULL };
	char *environment[] = { preload, ORACLE_ENVIRONMENT, NULL };

	snprintf(preload, sizeof(preload), "LD_PRELOAD=/proc/self/fd/%d", question->copy);
	snprintf(number, sizeof(number), "%d", answer);
	if (fcntl(question->copy, F_SETFD, 0) < 0 || fcntl(answer, F_SETFD, 0) < 0)
		return -errno;
	return oracle_execute(question->helper, arguments, environment);
}

static int ask(struct question *question, struct tsd_layout *ret)
{
	struct confine_limits limits = oracle_limits(question->helper);
	struct oracle_answer answer;
	struct tsd_layout layout;
	struct confined_job job;
	size_t size;
	int status;

	limits.keep = &question->copy;
	limits.keep_count = 1;
	limits.prepare = prepare;
	status = confined_start(&job, &limits, ORACLE_TIMEOUT_MS, execute, question);
	if (status < 0)
		return status;
	status = confined_finish(&job, &answer, sizeof(answer), &size);
	if (status < 0)
		return status;
	if (size != sizeof(answer))
		return -ENODATA;
	layout = (struct tsd_layout){ answer.allocated, answer.deallocated };
	if (!tsd_layout_is_plausible(&layout))
		return -ERANGE;
	*ret = layout;
	return 0;
}

int oracle_ask_library(int fd, const char *mallctl, struct tsd_layout *ret, struct error *error)
{
	CLEANUP(close_fd) int copy = oracle_make_file();
	CLEANUP(close_fd) int helper = oracle_make_file();
	struct question question = { fd, copy, helper, mallctl ? mallctl : "" };
	int status = copy < 0 ? copy : helper < 0 ? helper : ask(&question, ret);

	return status < 0 ? oracle_explain(status, "library", error) : 0;
}
