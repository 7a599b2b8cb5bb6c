/* SPDX-License-Identifier: MIT */
#include "host/confine/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

#define NOBODY 65534 /* the kernel's overflow uid, for users that it cannot name */
#define OPEN_FILES 64
#define STACK_BYTES ((rlim_t)8 << 20)
#define OLD_KERNEL_FDS 65536 /* how many to close on kernels without close_range() */

static bool executes(const struct confine_limits *limits)
{
	return limits->rules == CONFINE_PROGRAM || limits->rules == CONFINE_DRIVER;
}

static int nearer(int from, int fd, int next)
{
	return fd >= from && fd < next ? fd : next;
}

/* The first fd from `from` on that stays open; INT_MAX when there is none. */
static int next_kept(const struct confine_limits *limits, int answer, int from)
{
	int next = nearer(from, answer, INT_MAX);

	for (size_t i = 0; i < limits->keep_count; i++)
		next = nearer(from, limits->keep[i], next);
	return executes(limits) ? nearer(from, limits->program_fd, next) : next;
}

static void close_range_of_fds(int first, int last)
{
	if (syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0) == 0)
		return;
	for (int fd = first; fd <= last && fd < OLD_KERNEL_FDS; fd++)
		close(fd);
}

static void close_others(const struct confine_limits *limits, int answer)
{
	int from = 0;

	while (from < INT_MAX) {
		int kept = next_kept(limits, answer, from);

		if (kept > from)
			close_range_of_fds(from, kept - 1);
		from = kept == INT_MAX ? INT_MAX : kept + 1;
	}
}

/* Signals that are ignored or blocked would stay so across execve. */
static void restore_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Makes the kernel choose this process first when memory runs out. */
static void volunteer_for_the_oom_killer(void)
{
	CLEANUP(close_fd) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) < 0)
		return; /* optional: failure does not matter */
}

/*
 * The user is changed last, since that takes away the right to change groups.  A user namespace
 * without user 65534 was made by a plain user for himself; there we keep the present user.
 */
static int become_nobody(void)
{
	if (geteuid() != 0 && getuid() != 0)
		return 0;
	if (setresgid(NOBODY, NOBODY, NOBODY) < 0)
		return errno == EINVAL ? 0 : -errno;
	if (setgroups(0, NULL) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return -errno;
	return 0;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	/* Older kernels have no ambient set, so failure does not matter. */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

/* Must follow the change of user, which resets the signal. */
static int die_with_parent(void)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ? -errno : 0;
}

static rlim_t memory_limit(uint64_t bytes)
{
	return bytes && !SANITIZED ? bytes : RLIM_INFINITY;
}

/*
 * RLIMIT_NPROC counts all processes of the user.  0 keeps this process from starting new ones and
 * does not affect the others.
 */
static int set_limits(const struct confine_limits *limits)
{
	rlim_t cpu = limits->cpu_seconds ? limits->cpu_seconds : RLIM_INFINITY;
	const struct {
		int resource;
		rlim_t value;
		bool spares_driver; /* which may need many files and threads */
	} wanted[] = {
		{ RLIMIT_CORE, 0, false },
		{ RLIMIT_FSIZE, 0, false },
		{ RLIMIT_NPROC, 0, true },
		{ RLIMIT_MEMLOCK, 0, true },
		{ RLIMIT_CPU, cpu, false },
		{ RLIMIT_AS, memory_limit(limits->memory_bytes), false },
		{ RLIMIT_DATA, memory_limit(limits->own_bytes), false },
		{ RLIMIT_STACK, STACK_BYTES, false },
		{ RLIMIT_NOFILE, OPEN_FILES, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct rlimit limit;

		if (wanted[i].spares_driver && limits->rules == CONFINE_DRIVER)
			continue;
		if (getrlimit(wanted[i].resource, &limit) < 0)
			return -errno;
		if (wanted[i].value < limit.rlim_max)
			limit.rlim_max = wanted[i].value;
		if (limit.rlim_max < limit.rlim_cur)
			limit.rlim_cur = limit.rlim_max;
		if (setrlimit(wanted[i].resource, &limit) < 0)
			return -errno;
	}
	return 0;
}

static int change_identity(const struct confine_limits *limits)
{
	bool is_driver = limits->rules == CONFINE_DRIVER;
	int status = is_driver ? 0 : become_nobody();

	if (is_driver && geteuid() == 0)
		return 0;
	if (status < 0 && limits->rules == CONFINE_PROGRAM)
		return status;
	return drop_capabilities();
}

int confine_self(const struct confine_limits *limits, int answer)
{
	int status;

	/* The child must not keep our working directory, which may be private. */
	if (chdir("/") < 0)
		return -errno;
	close_others(limits, answer);
	if (executes(limits))
		restore_signals();
	volunteer_for_the_oom_killer();
	status = change_identity(limits);
	if (status == 0)
		status = die_with_parent();
	if (status == 0)
		status = set_limits(limits);
	if (status < 0)
		return status;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	/* No other process may trace it or read its memory; execve resets this for a program. */
	prctl(PR_SET_DUMPABLE, 0);
	return limits->rules == CONFINE_DRIVER ? 0 : confine_filter_install(limits);
}
