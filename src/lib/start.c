#include "lib/start.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <taskscope.h>

#include "lib/area.h"
#include "lib/block.h"
#include "lib/control.h"
#include "lib/fork.h"
#include "lib/heartbeat.h"
#include "lib/public.h"
#include "lib/threads.h"
#include "lib/ticks.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool goes_on; /* a forked child of a process that was on */

void start_lock(void)
{
	pthread_mutex_lock(&lock);
}

void start_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* To standard error, if that takes it at once: nobody waits for a warning. */
static void print_warning(const char *line)
{
	struct pollfd standard_error = { .fd = STDERR_FILENO, .events = POLLOUT };
	char text[512];
	int length = snprintf(text, sizeof(text), "[taskscope][WARNING] %s\n", line);

	if (length >= (int)sizeof(text))
		length = sizeof(text) - 1;
	if (poll(&standard_error, 1, 0) == 1 && (standard_error.revents & POLLOUT) &&
	    write(STDERR_FILENO, text, (size_t)length) < 0)
		return;
}

static void warn(const struct control *chosen, const char *line)
{
	if (chosen->log)
		chosen->log(chosen->log_context, TASKSCOPE_WARNING, line);
	else
		print_warning(line);
}

static void complain(const char *variable, const char *value)
{
	char line[256];

	snprintf(line, sizeof(line), "%s=%.64s is not understood and ignored", variable, value);
	print_warning(line);
}

static void complain_not(const char *variable, const char *value)
{
	(void)variable;
	(void)value;
}

/* Scopes look at two of these without a lock. */
static void control_set(const struct control *chosen)
{
	control.heartbeat_ms = chosen->heartbeat_ms;
	control.stall_ms = chosen->stall_ms;
	control.phase_lines = chosen->phase_lines;
	control.prints_statistics = chosen->prints_statistics;
	control.is_json = chosen->is_json;
	control.dumps_on_signal = chosen->dumps_on_signal;
	control.output = chosen->output;
	control.log = chosen->log;
	control.log_context = chosen->log_context;
	STORE(control.has_statistics, chosen->has_statistics);
}

static void header_describe(void)
{
	struct scope_header *header = area.header;

	STORE(header->stall_limit_ms, control.stall_ms);
	STORE(header->heartbeat_ms, control.heartbeat_ms);
	STORE(header->flags, control.has_statistics ? SCOPE_HAS_STATISTICS : 0);
	STORE(header->state, SCOPE_STATE_ON);
}

/* Scopes are recorded first: the thread may find some. */
static void switch_on(void)
{
	int error;

	header_describe();
	STORE(control.is_on, true);
	error = heartbeat_start();
	if (error) {
		char line[128];

		snprintf(line, sizeof(line), "there is no heartbeat: its thread did not start (%s)",
			 strerrordesc_np(-error));
		warn(&control, line);
		return;
	}
	STORE(area.header->flags, area.header->flags | SCOPE_HAS_HEARTBEAT);
}

static void switch_off(void)
{
	STORE(control.is_on, false);
	heartbeat_stop();
	STORE(area.header->flags, area.header->flags & ~(uint32_t)SCOPE_HAS_HEARTBEAT);
	STORE(area.header->state, SCOPE_STATE_STOPPED);
}

/* What is done once in the life of a process, and again by a child that has its own life. */
static int prepare(void)
{
	static bool stops_at_exit;
	int error = threads_prepare();

	if (!error)
		error = fork_prepare();
	if (error)
		return error;
	if (!area.header)
		ticks_choose();
	error = area_open();
	if (error)
		return error;
	if (!stops_at_exit)
		stops_at_exit = atexit(taskscope_stop) == 0;
	if (fork_is_pending())
		area_share();
	fork_settle();
	goes_on = false;
	return 0;
}

static int start_locked(const struct taskscope_options *options)
{
	struct control chosen;
	int error;

	if (control.is_on)
		return 0;
	control_choose(options, &chosen, complain);
	error = prepare();
	if (error)
		return error;
	control_set(&chosen);
	switch_on();
	return 0;
}

PUBLIC int taskscope_start(const struct taskscope_options *options)
{
	int error;

	if (start_again())
		return 0;
	if (control_wish(complain_not) == CONTROL_OFF)
		return 0;
	start_lock();
	error = start_locked(options);
	start_unlock();
	return error;
}

/* A forked child that never went on still has the signal of its parent. */
PUBLIC void taskscope_stop(void)
{
	start_lock();
	if (control.is_on)
		switch_off();
	else
		heartbeat_stop();
	STORE(goes_on, false);
	start_unlock();
}

bool start_again(void)
{
	bool is_on;

	if (!LOAD(goes_on))
		return false;
	start_lock();
	if (goes_on && prepare() == 0)
		switch_on();
	is_on = control.is_on;
	start_unlock();
	return is_on;
}

void start_forget(bool may_go_on)
{
	STORE(goes_on, may_go_on && (control.is_on || goes_on));
	STORE(control.is_on, false);
}

/* In a program that is on only because its environment says so. */
__attribute__((constructor)) static void start_by_environment(void)
{
	if (control_wish(complain) == CONTROL_ON)
		taskscope_start(NULL);
}
