/* SPDX-License-Identifier: MIT */
#include "base/loop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

int loop_open(struct loop *ret)
{
	CLEANUP(close_fd) int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	CLEANUP(close_fd) int timer_fd = -1;
	struct epoll_event event = { .events = EPOLLIN };

	if (epoll_fd < 0)
		return -errno;
	timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (timer_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer_fd, &event) < 0)
		return -errno;
	*ret = (struct loop){
		.epoll_fd = TAKE_FD(epoll_fd),
		.timer_fd = TAKE_FD(timer_fd),
		.set_ns = LOOP_NEVER,
	};
	return 0;
}

void loop_close(struct loop *loop)
{
	close_fd(&loop->epoll_fd);
	close_fd(&loop->timer_fd);
	*loop = (struct loop){ .epoll_fd = -1, .timer_fd = -1 };
}

int loop_add_fd(struct loop *loop, struct loop_fd *watched, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watched };

	if (watched->is_added)
		return 0;
	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return -errno;
	watched->fd = fd;
	watched->is_added = true;
	return 0;
}

/* The descriptor may be ready in this round, but must not be called any more. */
void loop_remove_fd(struct loop *loop, struct loop_fd *watched)
{
	if (!watched->is_added)
		return;
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watched->fd, NULL);
	watched->is_added = false;
	for (int i = 0; i < loop->ready_count; i++)
		if (loop->ready[i].data.ptr == watched)
			loop->ready[i].data.ptr = NULL;
}

void loop_add_timer(struct loop *loop, struct loop_timer *timer)
{
	struct loop_timer **last = &loop->timers;

	while (*last)
		last = &(*last)->next;
	timer->next = NULL;
	*last = timer;
}

/* Its own link stays, so that whoever goes along the list and stands there can go on. */
void loop_remove_timer(struct loop *loop, struct loop_timer *timer)
{
	struct loop_timer **link = &loop->timers;

	while (*link && *link != timer)
		link = &(*link)->next;
	if (*link)
		*link = timer->next;
}

/* A kernel timer that is set to 0 would be switched off, so 0 becomes 1. */
static int set_wake_up(struct loop *loop)
{
	uint64_t first_ns = LOOP_NEVER;
	struct itimerspec setting = { 0 };

	for (const struct loop_timer *timer = loop->timers; timer; timer = timer->next)
		if (timer->deadline_ns < first_ns)
			first_ns = timer->deadline_ns;
	if (first_ns == loop->set_ns)
		return 0;
	if (first_ns != LOOP_NEVER)
		setting.it_value = timespec_of_ns(first_ns ? first_ns : 1);
	if (timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &setting, NULL) < 0)
		return -errno;
	loop->set_ns = first_ns;
	return 0;
}

/* The event of the kernel's timer has no function; call_due() checks the deadlines by the clock. */
static void call_ready(struct loop *loop)
{
	for (int i = 0; i < loop->ready_count && !loop->is_stopped; i++) {
		struct loop_fd *watched = loop->ready[i].data.ptr;

		if (watched)
			watched->ready(watched->context);
	}
	loop->ready_count = 0;
}

static void call_due(struct loop *loop)
{
	uint64_t now_ns = monotonic_ns();

	if (loop->set_ns <= now_ns)
		loop->set_ns = LOOP_NEVER; /* it expired, and must be set again */
	for (struct loop_timer *timer = loop->timers; timer; timer = timer->next) {
		if (loop->is_stopped || timer->deadline_ns > now_ns)
			continue;
		timer->deadline_ns = LOOP_NEVER;
		timer->due(timer->context);
	}
}

static int go_round(struct loop *loop)
{
	uint64_t rings;
	int status = set_wake_up(loop);

	if (status < 0)
		return status;
	loop->ready_count = epoll_wait(loop->epoll_fd, loop->ready, LOOP_BATCH, -1);
	if (loop->ready_count < 0) {
		loop->ready_count = 0;
		return errno == EINTR ? 0 : -errno;
	}
	(void)!read(loop->timer_fd, &rings, sizeof(rings));
	call_ready(loop);
	call_due(loop);
	return 0;
}

int loop_run(struct loop *loop, loop_function *after_round, void *context)
{
	int status = 0;

	while (!loop->is_stopped && status == 0) {
		status = go_round(loop);
		if (after_round && !loop->is_stopped && status == 0)
			after_round(context);
	}
	return status;
}

void loop_stop(struct loop *loop)
{
	loop->is_stopped = true;
}
