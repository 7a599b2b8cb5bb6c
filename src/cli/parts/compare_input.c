/* SPDX-License-Identifier: MIT */
#include "cli/parts/compare_input.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/args/capture_args.h"
#include "collect/capture.h"
#include "model/snapshot/snapshot.h"
#include "render/terminal.h"
#include "store/recording.h"

static void side_clear(struct input_side *side)
{
	for (size_t i = 0; i < side->snapshots.count; i++)
		snapshot_free(side->snapshots.data[i]);
	array_free(&side->snapshots);
	array_free(&side->names);
}

void compare_input_clear(struct compare_input *input)
{
	side_clear(&input->before);
	side_clear(&input->after);
	arena_clear(&input->arena);
}

static int no_memory(struct error *error)
{
	return error_set(error, -ENOMEM, "out of memory");
}

static int add_name(struct compare_input *input, struct input_side *side, const char *start,
		    size_t length, struct error *error)
{
	char *name;

	if (length == 0)
		return error_set(error, -EINVAL, "a list of files has an empty name");
	name = arena_copy(&input->arena, start, length);
	if (!name || array_append(&side->names, name) < 0)
		return no_memory(error);
	return 0;
}

static int split_names(struct compare_input *input, struct input_side *side, const char *word,
		       struct error *error)
{
	const char *rest = word;

	if (access(word, F_OK) == 0)
		return add_name(input, side, word, strlen(word), error);
	while (rest) {
		size_t length = strcspn(rest, ",");
		int status = add_name(input, side, rest, length, error);

		if (status < 0)
			return error_mark(error, status, word, (size_t)(rest - word));
		rest = rest[length] ? rest + length + 1 : NULL;
	}
	return 0;
}

/* Takes ownership of the snapshot, even when it fails. */
static int add_snapshot(struct input_side *side, struct snapshot *snapshot, struct error *error)
{
	if (array_append(&side->snapshots, snapshot) == 0)
		return 0;
	snapshot_free(snapshot);
	return no_memory(error);
}

static int read_side(struct input_side *side, struct error *error)
{
	for (size_t i = 0; i < side->names.count; i++) {
		struct snapshot *snapshot;
		int status = recording_read(side->names.data[i], &snapshot, error);

		if (status == 0)
			status = add_snapshot(side, snapshot, error);
		if (status < 0)
			return status;
	}
	return 0;
}

int compare_input_read(struct compare_input *input, char **words, struct error *error)
{
	int status = split_names(input, &input->before, words[0], error);

	if (status == 0)
		status = split_names(input, &input->after, words[1], error);
	if (status == 0)
		status = read_side(&input->before, error);
	return status < 0 ? status : read_side(&input->after, error);
}

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
static void wait_until(uint64_t deadline_ns)
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

		show_progress(left);
		is_enough = sigtimedwait(&interrupt, NULL, &timeout) == SIGINT;
		now = clock_ns(CLOCK_BOOTTIME);
	}
	show_progress(0);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static int capture_side(struct input_side *side, struct sampling *sampling, struct error *error)
{
	struct snapshot *snapshot;
	int status = sampling_take(sampling, &snapshot, error);

	return status < 0 ? status : add_snapshot(side, snapshot, error);
}

int compare_input_capture(struct compare_input *input, const struct capture_args *args,
			  uint64_t wait_ns, struct error *error)
{
	CLEANUP(capture_input_close) struct capture_input source = { 0 };
	int status = capture_input_open(&source, args, error);
	uint64_t start_ns = clock_ns(CLOCK_BOOTTIME);
	uint64_t deadline_ns;

	if (status == 0)
		status = capture_side(&input->before, source.sampling, error);
	if (status < 0)
		return status;
	if (__builtin_add_overflow(start_ns, wait_ns, &deadline_ns))
		deadline_ns = UINT64_MAX;
	wait_until(deadline_ns);
	return capture_side(&input->after, source.sampling, error);
}
