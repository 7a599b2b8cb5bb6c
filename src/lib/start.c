/* SPDX-License-Identifier: MIT */
#include "lib/start.h"

#include <sys/prctl.h>

#include <taskscope.h>

#include "lib/attributes.h"
#include "lib/control.h"
#include "lib/heartbeat/heartbeat.h"
#include "lib/lines/warnings.h"
#include "lib/scope/area.h"
#include "lib/scope/block.h"
#include "lib/scope/fork.h"
#include "lib/scope/locks.h"
#include "lib/scope/threads.h"
#include "lib/scope/ticks.h"

static bool goes_on; /* in a forked child: the parent recorded scopes */

/*
 * Prints warnings in this thread when there is no heartbeat thread, without waiting for a reader.
 * Call without the lock: the program's log function may start, stop, fork or exit.
 */
static APART void print_warnings(struct warnings *warnings, const struct control *options)
{
	struct output output;
	uint64_t lost = 0;

	if (!warnings->count)
		return;
	warnings_open_output(warnings, &output, options,
			     area.header ? &area.header->lost_lines : &lost);
	output.patience_ms = 0;
	warnings_print(warnings, &output);
	output_flush(&output);
	output_close(&output);
}

static void header_describe(void)
{
	struct scope_header *header = area.header;

	STORE(header->stall_limit_ms, control.stall_ms);
	STORE(header->heartbeat_ms, control.heartbeat_ms);
	STORE(header->flags, control.has_statistics ? SCOPE_HAS_STATISTICS : 0);
	STORE(header->state, SCOPE_STATE_ON);
}

/* Says where the area is to whoever traces this process: see SCOPE_ANNOUNCE. */
static void announce(void)
{
	char name[16];

	if (area.fd >= 0 && prctl(PR_GET_NAME, name) == 0)
		prctl(PR_SET_NAME, name, area.header, SCOPE_ANNOUNCE, area.header->self_offset);
}

/*
 * Recording begins before the heartbeat thread, which may find scopes already.  is_on is set before
 * goes_on is cleared, so that another thread always sees one of them (see start_may_record()).
 */
static void switch_on(struct warnings *warnings)
{
	int error;

	header_describe();
	announce();
	STORE(recording.is_on, true);
	STORE(goes_on, false);
	error = heartbeat_start(&control, warnings);
	if (error) {
		warnings_add(warnings, "there is no heartbeat: its thread did not start (%s)",
			     strerrordesc_np(-error));
		return;
	}
	STORE(area.header->flags, area.header->flags | SCOPE_HAS_HEARTBEAT);
}

static void switch_off(void)
{
	STORE(recording.is_on, false);
	heartbeat_stop();
	STORE(area.header->flags, area.header->flags & ~(uint32_t)SCOPE_HAS_HEARTBEAT);
	STORE(area.header->state, SCOPE_STATE_STOPPED);
}

static void warn_if_hidden(struct warnings *warnings)
{
	if (area.fd < 0)
		warnings_add(warnings, "scopes cannot be seen from outside: %s",
			     strerrordesc_np(-area.share_error));
}

/* Does what a process needs once, and a forked child again. */
static int prepare(struct warnings *warnings)
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
	area_share();
	warn_if_hidden(warnings);
	return 0;
}

static int start_locked(const struct taskscope_options *options, struct control *chosen,
			struct warnings *warnings)
{
	int error;

	if (recording.is_on)
		return 0;
	control_choose(options, chosen, warnings);
	error = prepare(warnings);
	if (error)
		return error;
	control = *chosen;
	STORE(recording.has_statistics, control.has_statistics);
	switch_on(warnings);
	return 0;
}

PUBLIC int taskscope_start(const struct taskscope_options *options)
{
	struct warnings warnings = { 0 };
	struct control chosen;
	int error;

	if (start_again())
		return 0;
	if (control_wish(NULL) == CONTROL_OFF)
		return 0;
	lock_take(LOCK_START);
	error = start_locked(options, &chosen, &warnings);
	lock_release(LOCK_START);
	print_warnings(&warnings, &chosen);
	return error;
}

PUBLIC void taskscope_stop(void)
{
	lock_take(LOCK_START);
	if (recording.is_on)
		switch_off();
	STORE(goes_on, false);
	lock_release(LOCK_START);
}

static APART void go_on(void)
{
	struct warnings warnings = { 0 };
	struct control options;

	lock_take(LOCK_START);
	options = control;
	if (goes_on && prepare(&warnings) == 0)
		switch_on(&warnings);
	lock_release(LOCK_START);
	print_warnings(&warnings, &options);
}

bool start_may_record(void)
{
	return LOAD(goes_on) || LOAD(recording.is_on);
}

bool start_again(void)
{
	if (LOAD(goes_on))
		go_on();
	return LOAD(recording.is_on);
}

void start_forget(bool may_go_on)
{
	STORE(goes_on, may_go_on && (recording.is_on || goes_on));
	STORE(recording.is_on, false);
}

/* Starts the library where only the environment asks for it. */
__attribute__((constructor)) static void start_by_environment(void)
{
	struct warnings warnings = { 0 };
	enum control_wish wish = control_wish(&warnings);
	struct control chosen;

	if (warnings.count) {
		control_choose(NULL, &chosen, NULL);
		print_warnings(&warnings, &chosen);
	}
	if (wish == CONTROL_ON)
		taskscope_start(NULL);
}
