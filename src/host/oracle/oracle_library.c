/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/oracle/oracle.h"
#include "host/oracle/oracle_helper.h"
#include "host/oracle/oracle_run.h"

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

int oracle_ask_library(const struct oracle_file *file, const char *mallctl, unsigned timeout_ms,
		       struct tsd_layout *ret)
{
	const struct oracle_question question = { file, true, mallctl ? mallctl : "" };
	struct oracle_run run;
	int status = oracle_begin(&question, timeout_ms, &run);

	if (status < 0)
		return status;
	status = wait_for_end(&run);
	if (status == 0)
		status = take_answer(run.job.answer, ret);
	oracle_end(&run);
	return status;
}
