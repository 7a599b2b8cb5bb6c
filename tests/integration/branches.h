/* SPDX-License-Identifier: MIT */
/*
 * Roles of branches_workload, which reach branches of the kernel side that ordinary commands do not.  Each
 * writes to standard error what must be seen of it, as lines of key=value pairs:
 *
 *	said=call pid= number= count= errors= sockets=
 *	said=error pid= number= errno= count=		errno 0: those that had no room
 *	said=wait pid= reason=				a thread, by its number, that waits longest for that
 *	said=waker pid= reason= waker= count=		waker 0: an interrupt or the kernel
 *	said=fork pid= parent=
 *	said=end pid= status= sender=
 *	said=signal pid= number= sender=
 *	said=quiet pid= number=				a signal that nobody is told of
 *
 * Whoever is to wait for something is known to wait, by its state in /proc, before that comes.
 */
#ifndef TESTS_BRANCHES_H
#define TESTS_BRANCHES_H

#include <sys/types.h>

#define LONG_US 150000 /* a wait that outweighs all others of its thread */
#define SHORT_US 3000  /* one that is worth a waker */

#define NEED(condition) need((condition) ? 1 : 0, #condition)

/* Ends the process with a sentence unless it holds. */
void need(int holds, const char *what);
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
/* Until a task waits, and some more, so that this wait is the longest of its life. */
void let_wait(pid_t tid, unsigned microseconds);
/* A child that ends when its body does. */
pid_t start(void (*body)(void *), void *argument);
void reap(pid_t pid);

extern const char *folder; /* for files */

/* Of system calls. */
void act_descriptors(void);
void act_errors(void);
void act_far(void);
void act_interrupted(void);
void act_kinds(void);
void act_shared_descriptors(void);
void act_stays(void);

/* Of waits. */
void act_long_waits(void);
void act_moved(void);
void act_waits(void);

#endif
