/* SPDX-License-Identifier: MIT */
/*
 * What the scenes of beating.c share, and the scenes themselves.  A scene goes on until the standard
 * input ends; a byte of it is a command, if the scene knows any.
 */
#ifndef LIB_SCENE_H
#define LIB_SCENE_H

#include <stdbool.h>
#include <stdint.h>

/* One line "NAME VALUE". */
void say(const char *name, unsigned long long value);
/* The number of this thread, by that name. */
void say_thread(const char *name);

/* A byte of the standard input, or -1 at its end. */
int next_command(void);
/* Whether there was a command, or the end, until then. */
bool was_told(unsigned int patience_ms);
void wait_for_end(void);
/* Threads do so until the end, or until they are told to stop before it. */
bool goes_on(void);
void stop_threads(void);

void start_thread(void *(*work)(void *context), void *context);
void sleep_ms(unsigned int milliseconds);
uint64_t monotonic_ms(void);
uint64_t own_cpu_ns(void);
/* Burns so much CPU time of this thread, however long that takes. */
void burn_cpu_ms(unsigned int milliseconds);

/* Work for a thread: burns until the end. */
void *burn(void *context);
/* Work for a thread: two scopes, "outer" and "inner NUMBER"; holding_scopes counts it then. */
void *hold_scopes(void *number);
extern int holding_scopes;

void scene_idle(void);
void scene_dump(void);
void scene_phases(void);
void scene_progress(void);
void scene_endless(void);
void scene_burner(void);
void scene_steady(void);
void scene_labels(void);
void scene_statistics(void);
void scene_fork(void);
void scene_rounds(void);
void scene_stopped(void);

void scene_deadlock(void);
void scene_pool(void);
void scene_spin(void);
void scene_starve(void);
void scene_quota(void);
void scene_commanded(void);
void scene_limits(void);
void scene_crowd(void);
void scene_doomed(void);

#endif
