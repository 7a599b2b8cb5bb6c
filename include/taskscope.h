/* SPDX-License-Identifier: MIT */
/*
 * libtaskscope: a program tells what it is doing, cheaply enough to leave it on.
 *
 *	#include <taskscope.h>
 *
 *	taskscope_start(NULL);
 *	{
 *		TASKSCOPE("load matrix");		closes itself at the end of the block
 *		...
 *	}
 *	struct taskscope_progress rows = taskscope_begin("solve", n);
 *	for (...)
 *		taskscope_advance(&rows, 1);		from any thread
 *	taskscope_end(&rows);
 *
 * A scope is a piece of work with a label; scopes of a thread nest.  A heartbeat thread prints a line
 * a minute with what the process uses and does, and warns once when a scope makes no progress.
 * `taskscope scopes`, `run`, `attach` and `capture` read the same from outside, without stopping the
 * program, also when it hangs.
 *
 * Opening and closing a scope, and progress, take no lock, allocate nothing and call no system call,
 * but for the first scope of a thread and of a call site.  Every function may be called at any time:
 * before the start, after the stop and in destructors scopes are simply not recorded; a forked child
 * goes on with memory of its own.  What does not fit (40 scopes deep, 1,024 threads, 1,024 labels of
 * call sites) is left out and counted.  Functions marked "signal-safe" may be called from a signal
 * handler; of the others that use scopes, see taskscope_enter().
 *
 * In a deployed program the environment decides (a program with more privilege than its user does
 * not look there):
 *
 *	TASKSCOPE=on|off	starts it without a call of taskscope_start(), or keeps it off
 *	TASKSCOPE_HEARTBEAT	between lines: 10s, 500ms, 1m, off
 *	TASKSCOPE_STALL		no progress for so long is a stall: 2m, 30s, off
 *	TASKSCOPE_PHASES	most lines about threads with each heartbeat: a number
 *	TASKSCOPE_FORMAT	text, or json: one object a line
 *	TASKSCOPE_STATISTICS	off, on, or exit: also printed at the end
 *	TASKSCOPE_SIGNAL	on: SIGUSR2 prints a heartbeat at once
 *	TASKSCOPE_OUTPUT	a file that lines are appended to, instead of standard error
 *
 * They win over the options of taskscope_start().
 */
#ifndef TASKSCOPE_H
#define TASKSCOPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TASKSCOPE_VERSION_MAJOR 1
#define TASKSCOPE_VERSION_MINOR 0

/* For times in milliseconds: 0 is the default, this is not at all. */
#define TASKSCOPE_NEVER UINT32_MAX

enum taskscope_level { TASKSCOPE_INFO, TASKSCOPE_WARNING };

/* Flags of the options. */
enum {
	TASKSCOPE_STATISTICS = 1 << 0,	       /* count and time scopes by label */
	TASKSCOPE_STATISTICS_AT_EXIT = 1 << 1, /* and print that at the end */
	TASKSCOPE_JSON = 1 << 2,	       /* lines are JSON objects */
	TASKSCOPE_DUMP_ON_SIGUSR2 = 1 << 3     /* unless the program handles that signal itself */
};

struct taskscope_options {
	size_t size; /* sizeof(struct taskscope_options): what is beyond has its default */
	uint32_t heartbeat_ms; /* between lines; default 60,000 */
	uint32_t stall_ms;     /* no progress for so long is a stall; default 120,000 */
	uint32_t phase_lines;  /* most lines about threads with each heartbeat; default 8 */
	uint32_t flags;

	/*
	 * Where lines go; standard error when NULL.  Called by the heartbeat thread, one line at a
	 * time, without a newline; it may take its time, nobody else waits for it.  Only when that
	 * thread cannot be had, the warnings of the start come from the thread that starts (or that
	 * opens the first scope of a forked child), before its call returns.
	 */
	void (*log)(void *context, enum taskscope_level level, const char *line);
	void *log_context;
};

/*
 * Makes the memory and starts the heartbeat thread.  NULL: all defaults.  Returns 0, also when it
 * was started before (the first options hold) and when the environment keeps it off; or a negative
 * errno when there is no memory: the program can go on, scopes are not recorded.  Without the thread,
 * or memory that others can see, there is one warning, and scopes are recorded all the same.
 */
int taskscope_start(const struct taskscope_options *options);

/*
 * Prints a last line, unless heartbeats are off, and ends the heartbeat thread, waiting for it half a
 * second at most.  Happens by itself when the program exits.  Scopes that are opened later are not
 * recorded, until a new start; a SIGUSR2 that comes late does nothing.
 */
void taskscope_stop(void);

/* Names an open scope: of 0 there is none.  Closing one twice, or on another thread, does nothing. */
struct taskscope_scope {
	uint64_t handle;
};

/*
 * One for each call site, static, made by the macros below: the label is registered once.  A wrapper
 * that takes one, and no text, is as cheap as they are.
 */
struct taskscope_site {
	const char *label;
	uint32_t number;
};

/*
 * Opens a scope in the thread's innermost one.  The label is copied (63 bytes at most).  Closing a
 * scope closes those inside of it that are still open, as does the end of the thread.
 *
 * A signal handler may open and close scopes, too, if its thread opened one before in this process
 * (a forked child is another one: its first scope makes memory and a thread).  One that is opened
 * while the thread itself is opening or closing one, or forks, is not recorded, and counted.
 */
struct taskscope_scope taskscope_enter(const char *label);
struct taskscope_scope taskscope_enter_site(struct taskscope_site *site);
void taskscope_leave(struct taskscope_scope scope);

/*
 * A scope with a counter.  It may be copied and used by any thread; only the opener can end it.  Others
 * must be done with it by then: a step that is taken in that very moment may be counted in
 * the next scope that opens in its place.
 */
struct taskscope_progress {
	struct taskscope_scope scope;
	void *frame;
};

/* A total of 0 is not known. */
struct taskscope_progress taskscope_begin(const char *label, uint64_t total);
struct taskscope_progress taskscope_begin_site(struct taskscope_site *site, uint64_t total);
void taskscope_advance(const struct taskscope_progress *progress, uint64_t steps); /* signal-safe */
void taskscope_set(const struct taskscope_progress *progress, uint64_t current,
		   uint64_t total); /* signal-safe */
void taskscope_end(const struct taskscope_progress *progress);

/*
 * A scope of this thread is stalled when nothing happens for so long (TASKSCOPE_NEVER: it never is).
 * "Nothing" is: its thread opened and closed no scope, and no counter of its open scopes moved.  A
 * scope with a counter and a limit of its own is judged by that counter alone.
 */
void taskscope_limit(struct taskscope_scope scope, uint32_t milliseconds);

/*
 * The innermost scope waits for work, which is no stall; until taskscope_busy(), or the next scope
 * that this thread opens or closes.
 */
void taskscope_idle(void); /* signal-safe */
void taskscope_busy(void); /* signal-safe */

/* Names this thread in all output (31 bytes at most); NULL: by the kernel's name of it. */
void taskscope_thread(const char *name);

/* Asks the heartbeat thread for its lines now; does not wait for them. */
void taskscope_dump(void); /* signal-safe */

/* Closes a scope that goes out of use: for TASKSCOPE(). */
static inline void taskscope_leave_pointer(const struct taskscope_scope *scope)
{
	taskscope_leave(*scope);
}

#ifdef __GNUC__

#define TASKSCOPE_JOIN_(a, b) a##b
#define TASKSCOPE_JOIN(a, b) TASKSCOPE_JOIN_(a, b)

#define TASKSCOPE_NUMBERED(text, number)                                                           \
	static struct taskscope_site TASKSCOPE_JOIN(taskscope_site_, number) = { "" text "", 0 };  \
	__attribute__((cleanup(taskscope_leave_pointer), unused)) struct taskscope_scope           \
	TASKSCOPE_JOIN(taskscope_scope_, number) =                                                 \
		taskscope_enter_site(&TASKSCOPE_JOIN(taskscope_site_, number))

/* A scope until the end of the block.  The label is a literal. */
#define TASKSCOPE(text) TASKSCOPE_NUMBERED(text, __COUNTER__)

/* A literal is registered once with its call site; any other text is copied each time. */
static inline struct taskscope_site *taskscope_site_of(struct taskscope_site *site, int is_literal,
						       const char *label)
{
	if (!is_literal)
		return NULL;
	if (!__atomic_load_n(&site->label, __ATOMIC_ACQUIRE))
		__atomic_store_n(&site->label, label, __ATOMIC_RELEASE);
	return site;
}

#define taskscope_enter(text)                                                                      \
	__extension__({                                                                            \
		static struct taskscope_site taskscope_site_;                                      \
		const char *taskscope_text_ = (text);                                              \
		struct taskscope_site *taskscope_place_ = taskscope_site_of(                       \
			&taskscope_site_, __builtin_constant_p(text), taskscope_text_);            \
		taskscope_place_ ? taskscope_enter_site(taskscope_place_) :                        \
				   (taskscope_enter)(taskscope_text_);                             \
	})
#define taskscope_begin(text, total)                                                               \
	__extension__({                                                                            \
		static struct taskscope_site taskscope_site_;                                      \
		const char *taskscope_text_ = (text);                                              \
		struct taskscope_site *taskscope_place_ = taskscope_site_of(                       \
			&taskscope_site_, __builtin_constant_p(text), taskscope_text_);            \
		taskscope_place_ ? taskscope_begin_site(taskscope_place_, (total)) :               \
				   (taskscope_begin)(taskscope_text_, (total));                    \
	})

#endif

#ifdef __cplusplus
}
#endif

#endif
