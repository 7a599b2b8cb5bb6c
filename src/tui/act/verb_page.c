/* SPDX-License-Identifier: MIT */
#include "tui/act/verb_page.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/collection/array.h"
#include "host/host.h"
#include "metric/unit.h"
#include "tui/screen/top_state.h"

#define LINES_MOST 5000
#define LINE_BYTES_MOST 2000
#define WORDS_MOST 24
#define FIRST_FILE 3

static bool is_shown(const struct top *top)
{
	return top->mode == MODE_TEXT && top->text.is_verb;
}

static void end_child(struct verb_child *child)
{
	child->was_ended = true;
	(void)syscall(SYS_pidfd_send_signal, child->end.fd, SIGTERM, NULL, 0);
}

static void add_line(struct top *top)
{
	struct verb_child *child = &top->child;

	if (top->text.lines.count < LINES_MOST)
		top_text_line(&top->text, "  %s", text_string(&child->line));
	else if (!child->was_ended) {
		top_text_line(&top->text, "it was ended here: a page has at most %d lines",
			      LINES_MOST);
		end_child(child);
	}
	text_clear(&child->line);
}

static void take_bytes(struct top *top, const char *bytes, size_t size)
{
	struct text *line = &top->child.line;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n')
			add_line(top);
		else if (line->length < LINE_BYTES_MOST)
			text_append(line, &bytes[i], 1);
	}
}

static void close_watched(struct top *top, struct loop_fd *watched)
{
	if (!watched->is_added)
		return;
	loop_remove_fd(&top->loop, watched);
	close(watched->fd);
}

static void read_output(void *context)
{
	struct top *top = context;
	struct verb_child *child = &top->child;
	char bytes[16384];
	ssize_t size = read(child->output.fd, bytes, sizeof(bytes));

	if (size < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (size > 0 && is_shown(top))
		take_bytes(top, bytes, (size_t)size);
	if (size > 0)
		return;
	if (child->line.length && is_shown(top))
		add_line(top);
	close_watched(top, &child->output);
}

/* A file that was not written leaves no empty name behind. */
static void forget_made(struct top *top, bool is_done)
{
	struct verb_child *child = &top->child;
	struct stat file;

	if (!child->made)
		return;
	if (stat(child->made, &file) == 0 && file.st_size == 0)
		(void)unlink(child->made);
	else if (is_done)
		top_say(top, false, "%s was written", child->made);
	free(child->made);
	child->made = NULL;
}

static void reap(struct top *top)
{
	struct verb_child *child = &top->child;
	int status = 0;
	bool is_done;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	is_done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	child->pid = 0;
	close_watched(top, &child->end);
	forget_made(top, is_done && !child->was_ended);
}

static void take_end(void *context)
{
	struct top *top = context;

	/* What it printed last may still be in the pipe; what its own children hold open is not waited for. */
	if (top->child.output.is_added) {
		(void)fcntl(top->child.output.fd, F_SETFL, O_NONBLOCK);
		for (int i = 0; i < 64 && top->child.output.is_added; i++)
			read_output(top);
		close_watched(top, &top->child.output);
	}
	reap(top);
}

static int spawn(struct top *top, const struct verb_run *run, int output)
{
	const char *words[WORDS_MOST] = { "taskscope" };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none;
	int status, count = 1;

	while (count < WORDS_MOST - 1 && run->words[count - 1]) {
		words[count] = run->words[count - 1];
		count++;
	}
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	/* A group of its own: Ctrl-C is the screen's. */
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
	for (int i = 0; i < run->file_count; i++)
		posix_spawn_file_actions_adddup2(&files, run->files[i], FIRST_FILE + i);
	status = posix_spawn(&top->child.pid, host_own_program, &files, &attributes,
			     (char *const *)words, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return -status;
}

static int start(struct top *top, const struct verb_run *run)
{
	struct verb_child *child = &top->child;
	int ends[2], pidfd, status;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	status = spawn(top, run, ends[1]);
	close(ends[1]);
	if (status < 0) {
		child->pid = 0;
		close(ends[0]);
		return status;
	}
	child->output = (struct loop_fd){ .ready = read_output, .context = top };
	child->end = (struct loop_fd){ .ready = take_end, .context = top };
	pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	status = pidfd < 0 ? -errno : loop_add_fd(&top->loop, &child->end, pidfd, EPOLLIN);
	if (status == 0)
		status = loop_add_fd(&top->loop, &child->output, ends[0], EPOLLIN);
	return status;
}

void verb_page_open(struct top *top, const struct verb_run *run)
{
	struct verb_child *child = &top->child;
	int status;

	if (child->pid) {
		top_say(top, true, "the one before is still ending");
		return;
	}
	text_clear(&child->line);
	text_clear(&child->title);
	text_append_string(&child->title, run->title);
	child->was_ended = false;
	child->begin_ns = monotonic_ns();
	child->made = run->made ? strdup(run->made) : NULL;
	status = start(top, run);
	if (status < 0) {
		forget_made(top, false);
		top_say(top, true, "it cannot be asked: %s", strerror(-status));
		return;
	}
	top_text_clear(&top->text);
	top->text.first = 0;
	top->text.is_detail = false;
	top->text.is_verb = true;
	top->mode = MODE_TEXT;
}

void verb_page_leave(struct top *top)
{
	top->text.is_verb = false;
	if (top->child.pid)
		end_child(&top->child);
}

void verb_page_close(struct top *top)
{
	struct verb_child *child = &top->child;

	if (child->pid) {
		kill(child->pid, SIGKILL); /* not reaped yet, so the number is still its own */
		close_watched(top, &child->output);
		reap(top);
	}
	text_free(&child->line);
	text_free(&child->title);
}

void verb_page_title(const struct top *top, struct text *out)
{
	text_append_string(out, text_string(&top->child.title));
	if (!top->child.pid)
		return;
	text_append_string(out, top->child.was_ended ? "  ends" : "  runs for ");
	if (!top->child.was_ended)
		unit_format(out, UNIT_NS, monotonic_ns() - top->child.begin_ns);
	text_append_string(out, " (Escape ends it)");
}
