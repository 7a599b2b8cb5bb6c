/* SPDX-License-Identifier: MIT */
#include "cli/parts/compare/two_captures.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "analyze/compare/interval_snapshot.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/args/capture_args.h"
#include "collect/capture.h"
#include "model/snapshot/snapshot.h"
#include "render/terminal.h"

/* At 0 it clears the line. */
static void show_progress(uint64_t left_ns)
{
	if (terminal_of(stderr).width == 0)
		return;
	if (left_ns)
		fprintf(stderr, "\rcaptures again in %" PRIu64 " s   ",
			(left_ns + NS_PER_SECOND - 1) / NS_PER_SECOND);
	else
		fprintf(stderr, "\r%*s\r", 32, "");
}

/* Waits, a second at a time; an interrupt ends the waiting early. */
bool two_captures_wait(uint64_t deadline_ns, bool shows_progress)
{
	sigset_t interrupt, old;
	uint64_t now = clock_ns(CLOCK_BOOTTIME);
	bool is_enough = false;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &old);
	while (now < deadline_ns && !is_enough) {
		uint64_t left = deadline_ns - now;
		uint64_t step = left % NS_PER_SECOND ? left % NS_PER_SECOND : NS_PER_SECOND;
		struct timespec timeout = timespec_of_ns(step);

		if (shows_progress)
			show_progress(left);
		is_enough = sigtimedwait(&interrupt, NULL, &timeout) == SIGINT;
		now = clock_ns(CLOCK_BOOTTIME);
	}
	if (shows_progress)
		show_progress(0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return is_enough;
}

int two_captures_take(const struct capture_args *args, uint64_t wait_ns, struct snapshot **first,
		      struct snapshot **second, struct error *error)
{
	CLEANUP(capture_input_close) struct capture_input source = { 0 };
	int status = capture_input_open(&source, args, error);
	uint64_t start_ns = clock_ns(CLOCK_BOOTTIME);
	uint64_t deadline_ns;

	if (status == 0)
		status = sampling_take(source.sampling, first, error);
	if (status < 0)
		return status;
	if (__builtin_add_overflow(start_ns, wait_ns, &deadline_ns))
		deadline_ns = UINT64_MAX;
	two_captures_wait(deadline_ns, true);
	return sampling_take(source.sampling, second, error);
}

int two_captures_interval(const struct capture_args *args, uint64_t wait_ns, struct snapshot **ret,
			  struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *first = NULL, *second = NULL;
	int status = two_captures_take(args, wait_ns, &first, &second, error);

	if (status == 0)
		status = interval_snapshot_make(first, second, "now", error);
	if (status == 0)
		*ret = TAKE_PTR(second);
	return status;
}
