/* SPDX-License-Identifier: MIT */
/*
 * Follows the lives of the processes of this host while a command runs, and prints every event as
 * a line of key=value pairs.
 *
 *	life_driver SOURCE [-i MILLISECONDS] [-r RING_BYTES] [-b PER_SECOND] [-m PROCESSES] [-t]
 *		[-c CGROUP] [-dn] -- COMMAND...
 *
 * SOURCE may be "any".  With -i a snapshot is taken so often, and the command gets SIGWINCH after each.  With -t only the command and its descendants are followed, with -c only what is in the
 * cgroup and below.  With -d nothing is read before the command has ended; with -n events are counted, not printed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "collect/capture.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "trace/life/lifecycle.h"

#define END_MS 3000

struct driver {
	struct lifecycle_options options;
	int interval_ms;
	bool is_deaf, is_silent, follows_tree;
	char **command;
	struct host *host;
	struct lifecycle *lifecycle;
	struct sampling *sampling;
	pid_t pid;
	int pidfd, hold;
	bool has_ended; /* the command, by an event */
	int64_t others; /* spawned, and not yet ended */
	uint64_t last_unix_ns, counts[LIFE_KIND_COUNT], backwards;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "life_driver: %s: %s\n", what, why);
	exit(2);
}

static void check(int status, const char *what)
{
	if (status < 0)
		fail(what, strerror(-status));
}

static void print_text(const char *key, const char *value)
{
	struct text escaped = { 0 };

	if (!value)
		return;
	text_append_escaped(&escaped, value, strlen(value));
	printf(" %s=", key);
	for (const char *c = text_string(&escaped); *c; c++)
		putchar(*c == ' ' ? ',' : *c);
	text_free(&escaped);
}

static void print_exit(const struct life_event *event)
{
	if (event->present & LIFE_HAS_STATUS)
		printf(" status=%d", event->status);
	if (event->present & LIFE_HAS_PEAK)
		printf(" peak_rss=%" PRIu64, event->peak_rss_bytes);
	for (int i = 0; i < AMOUNT_COUNT; i++)
		if (amounts_has(&event->amounts, i))
			printf(" %s=%" PRIu64, metrics[amount_metrics[i]].name,
			       amounts_get(&event->amounts, i));
}

static int take_event(void *context, const struct life_event *event)
{
	struct driver *driver = context;

	driver->counts[event->kind]++;
	if (event->task.pid != driver->pid)
		driver->others += (event->kind == LIFE_SPAWN) - (event->kind == LIFE_EXIT);
	else if (event->kind == LIFE_EXIT)
		driver->has_ended = true;
	driver->backwards += event->kind != LIFE_LOST && event->unix_ns < driver->last_unix_ns;
	if (event->kind != LIFE_LOST)
		driver->last_unix_ns = event->unix_ns;
	if (driver->is_silent)
		return 0;
	printf("kind=%s time=%" PRIu64 " pid=%d start=%" PRIu64 " ppid=%d",
	       life_kind_names[event->kind], event->unix_ns, event->task.pid, event->task.start_ns,
	       event->parent_pid);
	if (event->present & LIFE_HAS_UID)
		printf(" uid=%u", event->uid);
	print_text("comm", event->comm);
	print_text("cmd", event->cmd);
	print_text("details", event->details);
	if (event->signal)
		printf(" signal=%d", event->signal);
	if (event->present & LIFE_HAS_SENDER)
		printf(" sender=%d", event->sender_pid);
	if (event->kind == LIFE_EXIT)
		print_exit(event);
	if (event->kind == LIFE_LOST)
		printf(" lost=%" PRIu64, event->lost);
	putchar('\n');
	return 0;
}

static void start_held(struct driver *driver)
{
	int ends[2];
	char go;

	if (pipe2(ends, O_CLOEXEC) < 0)
		fail("pipe", strerror(errno));
	driver->pid = fork();
	if (driver->pid == 0) {
		close(ends[1]);
		if (read(ends[0], &go, 1) != 1)
			_exit(125);
		execvp(driver->command[0], driver->command);
		_exit(127);
	}
	close(ends[0]);
	driver->hold = ends[1];
	driver->pidfd = (int)syscall(SYS_pidfd_open, driver->pid, 0);
}

static void release(struct driver *driver)
{
	if (write(driver->hold, "x", 1) != 1)
		fail("release", strerror(errno));
}

static void take_snapshot(struct driver *driver)
{
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };

	if (sampling_take(driver->sampling, &snapshot, &error) < 0)
		fail("snapshot", error.message);
	check(lifecycle_poll(driver->lifecycle, snapshot, take_event, driver), "poll");
	snapshot_free(snapshot);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Until the command ends. */
static void watch(struct driver *driver)
{
	uint64_t due = now_ms();

	for (;;) {
		struct pollfd ready[] = {
			{ .fd = driver->pidfd, .events = POLLIN },
			{ .fd = driver->is_deaf ? -1 : lifecycle_fd(driver->lifecycle),
			  .events = POLLIN },
		};
		uint64_t now = now_ms();
		int wait = driver->interval_ms ? (due > now ? (int)(due - now) : 0) : -1;

		poll(ready, 2, wait);
		if (ready[0].revents)
			return;
		if (ready[1].revents)
			check(lifecycle_drain(driver->lifecycle, take_event, driver), "drain");
		if (!driver->interval_ms || now_ms() < due)
			continue;
		take_snapshot(driver);
		kill(driver->pid, SIGWINCH);
		due = now_ms() + (uint64_t)driver->interval_ms;
	}
}

static void print_end(struct driver *driver, int status, const struct rusage *usage)
{
	struct lifecycle_losses losses;

	lifecycle_losses(driver->lifecycle, &losses);
	for (int i = 0; i < LIFE_KIND_COUNT; i++)
		printf("%s%s=%" PRIu64, i ? " " : "end=counts ", life_kind_names[i],
		       driver->counts[i]);
	printf("\nend=losses ring=%" PRIu64 " ring_spawn=%" PRIu64 " ring_exec=%" PRIu64
	       " ring_exit=%" PRIu64 " ring_signal=%" PRIu64 " counted=%" PRIu64
	       " processes=%" PRIu64 " commands=%" PRIu64 " members=%" PRIu64
	       " bad_records=%" PRIu64 " backwards=%" PRIu64 "\n",
	       losses.ring[LIFE_LOST], losses.ring[LIFE_SPAWN], losses.ring[LIFE_EXEC],
	       losses.ring[LIFE_EXIT], losses.ring[LIFE_SIGNAL], losses.counted, losses.processes,
	       losses.commands, losses.members, losses.bad_records, driver->backwards);
	printf("end=wait pid=%d status=%d cpu_ns=%" PRIu64 " drain_ns=%" PRIu64
	       " is_member=%d source=%s\n",
	       driver->pid, status,
	       ((uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000 +
		(uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec)) *
		       1000,
	       lifecycle_cpu_ns(driver->lifecycle),
	       lifecycle_is_member(driver->lifecycle, getpid(), 0),
	       lifecycle_source(driver->lifecycle));
}

/*
 * A process can be waited for before it leaves its CPU for the last time, which is when its end is
 * reported.  The event may be lost, or counted.
 */
static void await_end(struct driver *driver)
{
	bool follows_some = driver->options.tree_pid || driver->options.cgroup;
	uint64_t most = now_ms() + END_MS;

	if (lifecycle_fd(driver->lifecycle) < 0)
		return;
	do
		check(lifecycle_drain(driver->lifecycle, take_event, driver), "drain");
	while ((!driver->has_ended || (follows_some && driver->others > 0)) &&
	       now_ms() < most && usleep(1000) == 0);
}

static void finish(struct driver *driver)
{
	struct rusage usage;
	int status;

	wait4(driver->pid, &status, 0, &usage);
	if (driver->interval_ms)
		take_snapshot(driver);
	await_end(driver);
	check(lifecycle_flush(driver->lifecycle, take_event, driver), "flush");
	print_end(driver, status, &usage);
}

static void parse(struct driver *driver, int count, char **arguments)
{
	struct lifecycle_options *options = &driver->options;
	int option;

	if (count < 2)
		fail("usage", "life_driver SOURCE [OPTIONS] -- COMMAND...");
	options->source = strcmp(arguments[1], "any") == 0 ? NULL : arguments[1];
	optind = 2;
	while ((option = getopt(count, arguments, "+i:r:b:m:c:tdn")) != -1) {
		if (option == 'i')
			driver->interval_ms = (int)strtol(optarg, NULL, 10);
		if (option == 'r')
			options->ring_bytes = (uint32_t)strtoul(optarg, NULL, 10);
		if (option == 'b')
			options->per_second = (uint32_t)strtoul(optarg, NULL, 10);
		if (option == 'm')
			options->processes_max = (uint32_t)strtoul(optarg, NULL, 10);
		if (option == 'c')
			options->cgroup = optarg;
		driver->follows_tree = driver->follows_tree || option == 't';
		driver->is_deaf = driver->is_deaf || option == 'd';
		driver->is_silent = driver->is_silent || option == 'n';
	}
	driver->command = arguments + optind;
	if (!*driver->command)
		fail("usage", "no command");
}

int main(int count, char **arguments)
{
	const struct capture_options capture = { .lister = LIST_AUTO };
	struct driver driver = { 0 };
	struct error error = { 0 };

	parse(&driver, count, arguments);
	if (host_open(&driver.host, NULL, &error) < 0)
		fail("host", error.message);
	start_held(&driver);
	if (driver.follows_tree)
		driver.options.tree_pid = driver.pid;
	if (lifecycle_open(driver.host, &driver.options, &driver.lifecycle, &error) < 0)
		fail("open", error.message);
	if (sampling_open(driver.host, &capture, &driver.sampling, &error) < 0)
		fail("sampling", error.message);
	if (driver.interval_ms)
		take_snapshot(&driver);
	release(&driver);
	watch(&driver);
	finish(&driver);
	sampling_close(driver.sampling);
	lifecycle_close(driver.lifecycle);
	host_close(driver.host);
	return 0;
}
