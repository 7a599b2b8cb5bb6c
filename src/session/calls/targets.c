/* SPDX-License-Identifier: MIT */
#include "session/calls/targets.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

static int gone(int32_t pid, struct error *error)
{
	return error_set(error, -ESRCH, "there is no process %" PRId32 ": it is gone", pid);
}

static int open_one(struct target *target, struct error *error)
{
	target->pidfd = (int)syscall(SYS_pidfd_open, target->pid, 0);
	if (target->pidfd >= 0)
		return target_has_ended(target) ? gone(target->pid, error) : 0;
	if (errno == ESRCH)
		return gone(target->pid, error);
	if (errno == EINVAL || errno == ENOENT)
		return error_set(error, -EINVAL, "%" PRId32 " is a thread: give its process",
				 target->pid);
	return error_set(error, -errno, "cannot hold process %" PRId32 ": %s", target->pid,
			 strerror(errno));
}

int targets_open(struct targets *ret, const int32_t *pids, size_t count, struct error *error)
{
	int status = 0;

	*ret = (struct targets){ .list = calloc(count, sizeof(*ret->list)) };
	if (!ret->list)
		return error_set(error, -ENOMEM, "out of memory");
	for (; ret->count < count && status == 0; ret->count++) {
		ret->list[ret->count] =
			(struct target){ .pid = pids[ret->count], .pidfd = -1, .targets = ret };
		status = open_one(&ret->list[ret->count], error);
	}
	ret->alive = count;
	return status;
}

void targets_close(struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++) {
		if (targets->loop)
			loop_remove_fd(targets->loop, &targets->list[i].ended);
		close_fd(&targets->list[i].pidfd);
	}
	free(targets->list);
	targets->list = NULL;
	targets->count = 0;
}

static void note_end(void *context)
{
	struct target *target = context;
	struct targets *targets = target->targets;

	loop_remove_fd(targets->loop, &target->ended);
	if (--targets->alive == 0 && targets->all_ended)
		targets->all_ended(targets->context);
}

int targets_watch(struct targets *targets, struct loop *loop, loop_function *all_ended,
		  void *context)
{
	int status = 0;

	targets->loop = loop;
	targets->all_ended = all_ended;
	targets->context = context;
	for (size_t i = 0; i < targets->count && status == 0; i++) {
		struct target *target = &targets->list[i];

		target->targets = targets;
		target->ended = (struct loop_fd){ .ready = note_end, .context = target };
		status = loop_add_fd(loop, &target->ended, target->pidfd, EPOLLIN);
	}
	return status;
}

bool target_has_ended(const struct target *target)
{
	struct pollfd ready = { .fd = target->pidfd, .events = POLLIN };

	return poll(&ready, 1, 0) != 0;
}

int targets_check(const struct targets *targets, struct error *error)
{
	for (size_t i = 0; i < targets->count; i++)
		if (target_has_ended(&targets->list[i]))
			return gone(targets->list[i].pid, error);
	return 0;
}
