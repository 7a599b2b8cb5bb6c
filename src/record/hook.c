/* SPDX-License-Identifier: MIT */
#include "record/hook.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"

#define DEFAULT_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static int split_words(struct hooks *hooks)
{
	size_t count = 0, room = strlen(hooks->text) / 2 + 2;
	char *rest = hooks->text, *word;

	hooks->words = calloc(room, sizeof(*hooks->words));
	if (!hooks->words)
		return -ENOMEM;
	while ((word = strsep(&rest, " \t")))
		if (*word)
			hooks->words[count++] = word;
	return count ? 0 : -EINVAL;
}

int hooks_open(struct hooks *hooks, struct loop *loop, const char *command, struct error *error)
{
	int status;

	*hooks = (struct hooks){ .loop = loop };
	for (size_t i = 0; i < HOOKS; i++)
		hooks->children[i] = (struct hook_child){ .hooks = hooks, .pidfd = -1 };
	if (!command)
		return 0;
	hooks->text = strdup(command);
	status = hooks->text ? split_words(hooks) : -ENOMEM;
	if (status < 0)
		return error_set(error, status, "%s",
				 status == -ENOMEM ? "out of memory" :
						     "--on-anomaly needs a command");
	return 0;
}

static void free_place(struct hook_child *child)
{
	loop_remove_fd(child->hooks->loop, &child->ended);
	close_fd(&child->pidfd);
}

void hooks_close(struct hooks *hooks)
{
	for (size_t i = 0; hooks->loop && i < HOOKS; i++)
		if (hooks->children[i].pidfd >= 0)
			free_place(&hooks->children[i]);
	free(hooks->words);
	free(hooks->text);
}

static void reap(void *context)
{
	struct hook_child *child = context;
	int status;

	if (waitpid(child->pid, &status, WNOHANG) == child->pid &&
	    !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
		child->hooks->failed++;
	free_place(child);
}

/* A file in memory never makes anybody wait, unlike a pipe that the command does not read. */
static int make_input(const char *bytes, size_t length)
{
	CLEANUP(close_fd) int fd = memfd_create("anomaly", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, bytes, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) < 0)
		return -EIO;
	return TAKE_FD(fd);
}

static bool is_passed_on(const char *variable)
{
	static const char *const starts[] = { "PATH=", "HOME=", "LANG=", "TZ=", "XDG_" };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (strncmp(variable, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/* What the recorder was started with may be secret, or change what the command does. */
static char **make_environment(void)
{
	static char path[] = DEFAULT_PATH;
	size_t count = 0, kept = 0;
	char **variables;

	while (environ[count])
		count++;
	variables = calloc(count + 2, sizeof(*variables));
	for (size_t i = 0; variables && i < count; i++)
		if (is_passed_on(environ[i]))
			variables[kept++] = environ[i];
	if (variables && !getenv("PATH"))
		variables[kept++] = path;
	return variables;
}

/* The command gets default signals and an empty mask; all our other descriptors close at exec. */
static int spawn(char **words, int input, pid_t *ret)
{
	CLEANUP(free_pointer) char **environment = make_environment();
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int status;

	if (!environment)
		return -ENOMEM;
	/* Ours do anyway, but not those that we inherited. */
	(void)syscall(SYS_close_range, STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETSID);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	status = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	if (status == 0)
		status = posix_spawnp(ret, words[0], &files, &attributes, words, environment);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return -status;
}

static int start(struct hook_child *child, const char *bytes, size_t length)
{
	CLEANUP(close_fd) int input = make_input(bytes, length);
	int status = input < 0 ? input : spawn(child->hooks->words, input, &child->pid);

	if (status < 0)
		return status;
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	if (child->pidfd < 0)
		return -errno;
	child->ended = (struct loop_fd){ .ready = reap, .context = child };
	return loop_add_fd(child->hooks->loop, &child->ended, child->pidfd, EPOLLIN);
}

void hooks_start(struct hooks *hooks, const char *input, size_t length)
{
	if (!hooks->words)
		return;
	for (size_t i = 0; i < HOOKS; i++) {
		if (hooks->children[i].pidfd >= 0)
			continue;
		if (start(&hooks->children[i], input, length) < 0)
			hooks->failed++;
		else
			hooks->started++;
		return;
	}
	hooks->skipped++;
}
