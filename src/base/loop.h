/* SPDX-License-Identifier: MIT */
/*
 * An event loop: waits for descriptors and deadlines, and calls a function when one is ready.
 *
 * Signals and the ends of processes are descriptors, too: a signalfd, a pidfd.  The caller owns
 * what it registers and must not move it until it is removed; so registering needs no memory.  A
 * loop is used from one thread.  Functions may add, remove and set anything, including what called
 * them.
 */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#define LOOP_NEVER UINT64_MAX
#define LOOP_BATCH 16

typedef void loop_function(void *context);

struct loop_fd {
	loop_function *ready; /* called again and again as long as it is ready */
	void *context;
	int fd; /* set by loop_add_fd() */
	bool is_added;
};

struct loop_timer {
	loop_function *due; /* called once for each deadline */
	void *context;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; LOOP_NEVER: none.  May be set at any time. */
	struct loop_timer *next;
};

struct loop {
	int epoll_fd, timer_fd;
	uint64_t set_ns; /* when the kernel's timer wakes us; LOOP_NEVER: never */
	struct loop_timer *timers;
	struct epoll_event ready[LOOP_BATCH]; /* of this round */
	int ready_count;
	bool is_stopped;
};

/* Returns 0 or a negative errno. */
int loop_open(struct loop *ret);
/* Forgets all that was added, but does not close those descriptors. */
void loop_close(struct loop *loop);

/*
 * Calls watched->ready when the descriptor has one of these events (EPOLLIN, EPOLLOUT), an error
 * or a hangup.  Returns 0, also when it was added before, or a negative errno: -EPERM for a
 * descriptor that is always ready, such as a plain file.
 */
int loop_add_fd(struct loop *loop, struct loop_fd *watched, int fd, uint32_t events);
/* Call it before closing the descriptor.  Does nothing when it was not added. */
void loop_remove_fd(struct loop *loop, struct loop_fd *watched);

/*
 * Call it once; then the deadline can be set.  Timers that are due are called in the order in
 * which they were added.
 */
void loop_add_timer(struct loop *loop, struct loop_timer *timer);
/* Does nothing when it was not added. */
void loop_remove_timer(struct loop *loop, struct loop_timer *timer);

/*
 * Waits, then calls what is ready, then what is due, then after_round(context) unless that is
 * NULL; and again, until loop_stop().  Returns 0, or a negative errno when waiting fails.
 */
int loop_run(struct loop *loop, loop_function *after_round, void *context);
/* No more functions are called after this. */
void loop_stop(struct loop *loop);

#endif
