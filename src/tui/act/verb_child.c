/* SPDX-License-Identifier: MIT */
#include "tui/act/verb_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/host.h"
#include "tui/screen/top_state.h"

#define LINES_MOST 5000
#define LINE_BYTES_MOST 2000
#define WORDS_MOST 24
#define FIRST_FILE 3

void verb_child_end(struct verb_child *child)
{
	if (!child->pid)
		return;
	child->was_ended = true;
	(void)syscall(SYS_pidfd_send_signal, child->end.fd, SIGTERM, NULL, 0);
}

static void add_line(struct verb_child *child)
{
	if (child->page && child->page->lines.count < LINES_MOST) {
		top_text_line(child->page, "  %s", text_string(&child->line));
	} else if (child->page && !child->was_ended) {
		top_text_line(child->page, "it was ended here: a page has at most %d lines",
			      LINES_MOST);
		verb_child_end(child);
	}
	text_clear(&child->line);
}

static void take_bytes(struct verb_child *child, const char *bytes, size_t size)
{
	struct text *line = &child->line;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '\n')
			add_line(child);
		else if (line->length < LINE_BYTES_MOST)
			text_append(line, &bytes[i], 1);
	}
}

static void close_watched(struct verb_child *child, struct loop_fd *watched)
{
	if (!watched->is_added)
		return;
	loop_remove_fd(&child->top->loop, watched);
	close(watched->fd);
}

static void read_output(void *context)
{
	struct verb_child *child = context;
	char bytes[16384];
	ssize_t size = read(child->output.fd, bytes, sizeof(bytes));

	if (size < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (size > 0) {
		take_bytes(child, bytes, (size_t)size);
		return;
	}
	if (child->line.length)
		add_line(child);
	close_watched(child, &child->output);
}

static void reap(struct verb_child *child)
{
	int status = 0;
	bool is_done;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	is_done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	child->pid = 0;
	close_watched(child, &child->end);
	if (child->ended)
		child->ended(child, is_done && !child->was_ended);
}

static void take_end(void *context)
{
	struct verb_child *child = context;

	/* What it printed last may still be in the pipe; what its own children hold open is not waited for. */
	if (child->output.is_added) {
		(void)fcntl(child->output.fd, F_SETFL, O_NONBLOCK);
		for (int i = 0; i < 64 && child->output.is_added; i++)
			read_output(child);
		close_watched(child, &child->output);
	}
	reap(child);
}

/* Its tables fit into the screen, behind the margin of a page. */
static void set_width(char *old, size_t size)
{
	const char *columns = getenv("COLUMNS");
	char width[16];

	snprintf(old, size, "%s", columns ? columns : "");
	snprintf(width, sizeof(width), "%d", display_columns() > 22 ? display_columns() - 2 : 20);
	(void)setenv("COLUMNS", width, 1);
}

static int spawn(struct verb_child *child, const struct verb_run *run, int output)
{
	const char *words[WORDS_MOST] = { "taskscope" };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	char columns[32];
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
	set_width(columns, sizeof(columns));
	status = posix_spawn(&child->pid, host_own_program, &files, &attributes,
			     (char *const *)words, environ);
	(void)(columns[0] ? setenv("COLUMNS", columns, 1) : unsetenv("COLUMNS"));
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return -status;
}

int verb_child_start(struct verb_child *child, struct top *top, const struct verb_run *run)
{
	int ends[2], pidfd, status;

	text_clear(&child->line);
	child->top = top;
	child->was_ended = false;
	child->begin_ns = monotonic_ns();
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	status = spawn(child, run, ends[1]);
	close(ends[1]);
	if (status < 0) {
		child->pid = 0;
		close(ends[0]);
		return status;
	}
	child->output = (struct loop_fd){ .ready = read_output, .context = child };
	child->end = (struct loop_fd){ .ready = take_end, .context = child };
	pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	status = pidfd < 0 ? -errno : loop_add_fd(&top->loop, &child->end, pidfd, EPOLLIN);
	if (status == 0)
		status = loop_add_fd(&top->loop, &child->output, ends[0], EPOLLIN);
	if (status < 0) {
		close(ends[0]);
		if (pidfd >= 0 && !child->end.is_added)
			close(pidfd);
		child->ended = NULL; /* for whoever starts it, it never ran */
		kill(child->pid, SIGKILL);
		reap(child);
	}
	return status;
}

void verb_child_close(struct verb_child *child)
{
	if (child->pid) {
		kill(child->pid, SIGKILL); /* not reaped yet, so the number is still its own */
		close_watched(child, &child->output);
		reap(child);
	}
	text_free(&child->line);
}
