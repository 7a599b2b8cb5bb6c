/* SPDX-License-Identifier: MIT */
/*
 * libtaskscope: lets a program say what it is doing, cheaply enough to leave it on in production.
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
 * A scope is a piece of work with a label.  The scopes of a thread nest.  Once a minute, a
 * heartbeat thread prints what the process uses and does; it warns once when a scope makes no
 * progress.  `taskscope scopes`, `run`, `attach` and `capture` read the same from outside, without
 * stopping the program, even when it hangs.
 *
 * Opening or closing a scope and counting progress take no lock, allocate nothing and make no
 * system call, except for the first scope of a thread and of a label.  Every function may be
 * called at any time.  Before the start, after the stop and in destructors, scopes are simply not
 * recorded.  A forked child continues in memory of its own.  What does not fit (40 scopes deep,
 * 1,024 threads, 1,024 labels) is left out and counted.  Functions marked
 * "signal-safe" may be called from a signal handler; for the others that use scopes, see
 * taskscope_enter().
 *
 * In a deployed program the environment decides.  (A program with more privilege than its user,
 * such as a setuid one, ignores these variables.)
 *
 *	TASKSCOPE=on|off	starts it without a call of taskscope_start(), or keeps it off
 *	TASKSCOPE_HEARTBEAT	time between lines: 10s, 500ms, 1m, off
 *	TASKSCOPE_STALL		a scope without progress for this long is stalled: 2m, 30s, off
 *	TASKSCOPE_PHASES	maximum number of lines about threads with each heartbeat
 *	TASKSCOPE_FORMAT	text, or json: one object a line
 *	TASKSCOPE_STATISTICS	off, on, or exit: also printed at the end
 *	TASKSCOPE_SIGNAL	on: SIGUSR2 prints a heartbeat at once
 *	TASKSCOPE_OUTPUT	a file to append lines to, instead of standard error
 *
 * They override the options of taskscope_start().
 */
#ifndef TASKSCOPE_H
#define TASKSCOPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TASKSCOPE_VERSION_MAJOR 1
#define TASKSCOPE_VERSION_MINOR 1

/* For times in milliseconds: 0 means the default, this means never. */
#define TASKSCOPE_NEVER UINT32_MAX

enum taskscope_level { TASKSCOPE_INFO, TASKSCOPE_WARNING };

/* Flags of the options. */
enum {
	TASKSCOPE_STATISTICS = 1 << 0,	       /* count and time scopes by label */
	TASKSCOPE_STATISTICS_AT_EXIT = 1 << 1, /* and print them at the end */
	TASKSCOPE_JSON = 1 << 2,	       /* lines are JSON objects */
	TASKSCOPE_DUMP_ON_SIGUSR2 = 1 << 3     /* unless the program handles that signal itself */
};

struct taskscope_options {
	size_t size;	       /* sizeof(struct taskscope_options); members beyond get defaults */
	uint32_t heartbeat_ms; /* time between lines; default 60,000 */
	uint32_t stall_ms;     /* a scope without progress this long is stalled; default 120,000 */
	uint32_t phase_lines;  /* maximum of lines about threads with each heartbeat; default 8 */
	uint32_t flags;

	/*
	 * Receives each line, without a newline; NULL: lines go to standard error.  The heartbeat
	 * thread calls it, one line at a time.  It may take its time: no other thread waits for
	 * it.  Only when the heartbeat thread cannot be started, the thread that starts the
	 * library (or opens the first scope of a forked child) calls it with the warnings of the
	 * start, before its own call returns.
	 */
	void (*log)(void *context, enum taskscope_level level, const char *line);
	void *log_context;
};

/*
 * Makes the memory and starts the heartbeat thread.  NULL: all defaults.  Returns 0, also when it
 * was started before (the first options stay in force) and when the environment keeps it off.
 * Returns a negative errno when there is no memory: the program can continue, but scopes are not
 * recorded.  If the thread cannot be started, or others cannot see the memory, there is one
 * warning, and scopes are recorded all the same.
 */
int taskscope_start(const struct taskscope_options *options);

/*
 * Prints a last line, unless heartbeats are off, and ends the heartbeat thread, waiting for it
 * half a second at most.  Happens by itself when the program exits.  Scopes that are opened later
 * are not recorded until the library is started again; a SIGUSR2 that comes late does nothing.
 */
void taskscope_stop(void);

/* Names an open scope; 0 names none.  Closing a scope twice, or on another thread, does nothing. */
struct taskscope_scope {
	uint64_t handle;
};

/*
 * A call site.  The macros below make one static object for each place in the source, so that its
 * label is registered only once.  A wrapper that takes a call site instead of a text is as cheap
 * as these macros.
 */
struct taskscope_site {
	const char *label;
	uint32_t number;
};

/*
 * Opens a scope inside the thread's innermost one.  The label is copied (63 bytes at most).  The
 * first 64 different labels that are made at run time, not literals, have statistics of their own,
 * as labels of call sites have; the others are counted together.
 * Closing a scope also closes the scopes inside it that are still open; so does the end of the
 * thread.
 *
 * A signal handler may open and close scopes, too, if its thread opened one before in this
 * process.  (A forked child is another process: its first scope makes memory and a thread.)  If a
 * handler opens a scope while its thread is opening or closing one, or forks, that scope is not
 * recorded, but counted.
 */
struct taskscope_scope taskscope_enter(const char *label);
struct taskscope_scope taskscope_enter_site(struct taskscope_site *site);
void taskscope_leave(struct taskscope_scope scope);

/*
 * A scope with a counter.  It may be copied and used by any thread; only the thread that opened it
 * can end it.  Other threads must have stopped using it by then: a step that is taken while the
 * scope ends may be counted in the next scope that opens in its place.
 */
struct taskscope_progress {
	struct taskscope_scope scope;
	void *frame;
};

/* A total of 0 means that it is not known. */
struct taskscope_progress taskscope_begin(const char *label, uint64_t total);
struct taskscope_progress taskscope_begin_site(struct taskscope_site *site, uint64_t total);
void taskscope_advance(const struct taskscope_progress *progress, uint64_t steps); /* signal-safe */
void taskscope_set(const struct taskscope_progress *progress, uint64_t current,
		   uint64_t total); /* signal-safe */
void taskscope_end(const struct taskscope_progress *progress);

/*
 * Sets the limit of a scope of this thread: it is stalled when nothing happens for that long
 * (TASKSCOPE_NEVER: it never is).  "Nothing happens" means: its thread opened and closed no scope,
 * and no counter of its open scopes moved.  A scope with a counter and a limit of its own is
 * judged by that counter alone.
 */
void taskscope_limit(struct taskscope_scope scope, uint32_t milliseconds);

/*
 * Says that the innermost scope waits for work, which is not a stall.  It counts as waiting until
 * taskscope_busy(), or until this thread opens or closes a scope.
 */
void taskscope_idle(void); /* signal-safe */
void taskscope_busy(void); /* signal-safe */

/*
 * For loops that say how far they are from time to time: true for one call in each interval, however
 * many threads ask.
 *
 *	static taskscope_due_state state;	all zeros; shared by the threads of the loop
 *	...
 *	if (taskscope_due(&state, 10000))
 *		printf("%zu of %zu rows\n", done, rows);
 *
 * The first call begins the first interval and returns 0.  The next interval begins with the call
 * that returned 1.  The clock moves with the kernel's timer tick, every 1 to 10 ms: a shorter
 * interval lasts until the next tick.  With TASKSCOPE_NEVER it is never true.  Does not need
 * taskscope_start().
 */
typedef struct taskscope_due_state {
	uint64_t next_ns;
} taskscope_due_state;
int taskscope_due(taskscope_due_state *state, uint32_t interval_ms); /* signal-safe */

/* Names this thread in all output (31 bytes at most); NULL: the kernel's name is used. */
void taskscope_thread(const char *name);

/* Asks the heartbeat thread to print its lines now; does not wait for them. */
void taskscope_dump(void); /* signal-safe */

/* For TASKSCOPE(): closes the scope when its variable goes out of scope. */
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

/* Opens a scope that lasts until the end of the block.  The label must be a literal. */
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

#define TASKSCOPE_CALL_(text, with_site, with_text)                                                \
	__extension__({                                                                            \
		static struct taskscope_site taskscope_site_;                                      \
		const char *taskscope_text_ = (text);                                              \
		struct taskscope_site *taskscope_place_ = taskscope_site_of(                       \
			&taskscope_site_, __builtin_constant_p(text), taskscope_text_);            \
		taskscope_place_ ? with_site : with_text;                                          \
	})
#define taskscope_enter(text)                                                                      \
	TASKSCOPE_CALL_(text, taskscope_enter_site(taskscope_place_),                              \
			(taskscope_enter)(taskscope_text_))
#define taskscope_begin(text, total)                                                               \
	TASKSCOPE_CALL_(text, taskscope_begin_site(taskscope_place_, (total)),                     \
			(taskscope_begin)(taskscope_text_, (total)))

#endif

#ifdef __cplusplus
}
#endif

#endif
