/* SPDX-License-Identifier: MIT */
#include "cli/compare_input.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/capture_args.h"
#include "model/snapshot.h"
#include "render/terminal.h"
#include "store/snapshot_file.h"

#define SECOND_NS ((uint64_t)1000000000)

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

/* Takes the snapshot, also when it fails. */
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
		int status = snapshot_file_read(side->names.data[i], &snapshot, error);

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

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* Leaves an empty line behind at 0. */
static void show_progress(uint64_t left_ns)
{
	if (terminal_of(stderr).width == 0)
		return;
	if (left_ns)
		fprintf(stderr, "\rcaptures again in %" PRIu64 " s   ",
			(left_ns + SECOND_NS - 1) / SECOND_NS);
	else
		fprintf(stderr, "\r%*s\r", 32, "");
}

/* Waits, a second at a time; an interrupt meanwhile is taken as "enough". */
static void wait_until(uint64_t deadline_ns)
{
	sigset_t interrupt, old;
	uint64_t now = now_ns();
	bool is_enough = false;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &old);
	while (now < deadline_ns && !is_enough) {
		uint64_t left = deadline_ns - now;
		uint64_t step = left % SECOND_NS ? left % SECOND_NS : SECOND_NS;
		struct timespec timeout = { (time_t)(step / SECOND_NS), (long)(step % SECOND_NS) };

		show_progress(left);
		is_enough = sigtimedwait(&interrupt, NULL, &timeout) == SIGINT;
		now = now_ns();
	}
	show_progress(0);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* Those of a list of processes that still live; the list was read before. */
static void append_living(struct text *out, const char *pids)
{
	uint64_t pid;

	while (scan_u64(&pids, &pid)) {
		if (kill((pid_t)pid, 0) == 0 || errno != ESRCH)
			text_format(out, "%s%" PRIu64, out->length ? "," : "", pid);
		if (*pids == ',')
			pids++;
	}
}

static int capture_side(struct input_side *side, const struct capture_args *args,
			struct error *error)
{
	struct snapshot *snapshot;
	int status = capture_args_take(args, &snapshot, error);

	return status < 0 ? status : add_snapshot(side, snapshot, error);
}

static int capture_again(struct input_side *side, const struct capture_args *args,
			 struct error *error)
{
	CLEANUP(text_free) struct text living = { 0 };
	struct capture_args rest = *args;

	if (args->pids) {
		append_living(&living, args->pids);
		if (living.failed)
			return no_memory(error);
		if (!living.length)
			return error_set(error, -ESRCH,
					 "nothing is left to compare: %s ended in between",
					 args->pids);
		rest.pids = living.data;
	}
	return capture_side(side, &rest, error);
}

int compare_input_capture(struct compare_input *input, const struct capture_args *args,
			  uint64_t wait_ns, struct error *error)
{
	uint64_t start_ns = now_ns();
	uint64_t deadline_ns;
	int status = capture_side(&input->before, args, error);

	if (status < 0)
		return status;
	if (__builtin_add_overflow(start_ns, wait_ns, &deadline_ns))
		deadline_ns = UINT64_MAX;
	wait_until(deadline_ns);
	return capture_again(&input->after, args, error);
}
