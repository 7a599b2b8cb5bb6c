/* SPDX-License-Identifier: MIT */
/*
 * Follows a command with one way of tracing and prints every event as a line of key=value pairs.
 *
 *	tree_driver SOURCE [-i MILLISECONDS] [-k HERTZ] [-o NANOSECONDS] [-acdef] -- COMMAND...
 *
 * With -k its stacks are sampled, with -o those of blocks are taken that are as long, with -c no system
 * calls are counted.  With -a the command runs before it is followed, as for attach; with -d nothing is read until it
 * stops itself, with -e not before its end; with -f the kernel side has no room for processes.  The last lines tell what the tree
 * summed up, what was lost, and what the kernel says that the command used with all that it waited for.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "host/host.h"
#include "model/tree/run.h"
#include "model/tree/tree.h"
#include "stack_print.h"
#include "trace/tracer.h"

#define COMPANY_US 300000 /* for a command that is attached to, once it has children or threads */
#define COMPANY_TRIES 200
#define DESCRIPTORS_MOST 256

struct driver {
	const char *source;
	int interval_ms;
	bool attaches, is_deaf, is_late, fills;
	char **command;
	struct host *host;
	struct tracer *tracer;
	struct run *run;
	pid_t pid;
	int pidfd, hold;
};

static void print_fork(const struct tree_event *event)
{
	printf("fork parent=%d inner=%d serial=%u creator=%u found=%d comm=%s",
	       event->fork.parent_pid, event->fork.inner_pid, event->fork.serial,
	       event->fork.creator, event->fork.found, event->fork.comm);
}

static void print_exec(const struct tree_event *event)
{
	size_t length = event->exec.length;

	printf("exec comm=%s arguments=", event->exec.comm);
	while (length && !event->exec.arguments[length - 1])
		length--;
	for (size_t i = 0; i < length; i++)
		putchar(event->exec.arguments[i] > ' ' ? event->exec.arguments[i] : ',');
}

static void print_key(const struct tree_event *event, const char *name)
{
	printf("\npid=%d tid=%d start=%" PRIu64 " event=%s", event->task.pid, event->task.tid,
	       event->task.start_ns, name);
}

static void print_call(const struct tree_event *event, const struct tree_syscall *call)
{
	const struct syscall_stats *stats = &call->stats;
	uint64_t in_buckets = 0;

	for (size_t i = 0; i < SYSCALL_BUCKETS; i++)
		in_buckets += stats->buckets[i];
	print_key(event, "call");
	printf(" number=%u abi=%d count=%" PRIu64 " errors=%" PRIu64 " sockets=%" PRIu64
	       " ns=%" PRIu64 " max=%" PRIu64 " buckets=%" PRIu64,
	       call->number, call->abi, stats->count, stats->errors, call->socket_count,
	       stats->total_ns, stats->max_ns, in_buckets);
	for (size_t i = 0; i <= SYSCALL_ERRORS; i++)
		if (stats->by_error[i].count)
			printf(" errno%u=%" PRIu64, stats->by_error[i].number,
			       stats->by_error[i].count);
}

/* What only a last account has, or one for the end of the run. */
static void print_tail(const struct tree_event *event)
{
	const struct tree_account *account = &event->account;

	for (size_t i = 0; i < account->syscall_count; i++)
		print_call(event, &account->syscalls[i]);
}

static void print_thread(const struct tree_event *event)
{
	const struct tree_account *account = &event->account;

	printf("thread ended=%d comm=%s", account->ended, account->comm);
	for (int i = 0; i < AMOUNT_COUNT; i++)
		if (amounts_has(&account->amounts, i))
			printf(" %s=%" PRIu64, metrics[amount_metrics[i]].name,
			       amounts_get(&account->amounts, i));
	if (amounts_has_cpu(&account->amounts))
		printf(" cpu_time_ns=%" PRIu64, amounts_cpu_ns(&account->amounts));
	printf(" unnamed=%" PRIu64 " now=%s", account->unnamed_syscalls,
	       account->now.blocked ? waits[account->now.reason].name : "");
	print_tail(event);
}

static void print_process(const struct tree_event *event)
{
	const struct tree_process_facts *facts = &event->process;

	printf("process ended=%d", facts->ended);
	if (facts->present & TREE_PROCESS_STATUS)
		printf(" status=%d", facts->status);
	if (facts->present & TREE_PROCESS_PEAK_RSS)
		printf(" peak_rss=%" PRIu64, facts->peak_rss_bytes);
	if (facts->present & TREE_PROCESS_RSS)
		printf(" rss=%" PRIu64, facts->rss_bytes);
	if (facts->present & TREE_PROCESS_FDS)
		printf(" fds=%" PRIu64, facts->fds);
	if (facts->present & TREE_PROCESS_UNSEEN)
		printf(" unseen=%" PRIu64, facts->unseen_cpu_ns);
	if (facts->present & TREE_PROCESS_SENDER)
		printf(" sender=%d sender_comm=%s", facts->sender_pid, facts->sender_comm);
}

static void print_signal(const struct tree_event *event)
{
	printf("signal number=%d sender=%d sender_comm=%s", event->signal.number,
	       event->signal.sender_pid, event->signal.sender_comm);
}

static void print_wait(const struct tree_event *event)
{
	static const char *const classes[] = { "unknown", "interrupt", "kernel", "member",
					       "outside" };
	const struct tree_wait_event *wait = &event->wait;

	printf("wait serial=%u sequence=%u reason=%s block=%" PRIu64 " wake=%" PRIu64
	       " run=%" PRIu64 " open=%d class=%s by=%u waker=%d object=%" PRIu64
	       " queued_tree=%" PRIu64 " queued_outside=%" PRIu64 " queued_pid=%d shorts=%u"
	       " short_blocked=%" PRIu64 " short_queued=%" PRIu64 " forks=%u threshold=%" PRIu64,
	       wait->serial, wait->sequence,
	       wait->wake_ns > wait->block_ns ? waits[wait->reason].name : "", wait->block_ns,
	       wait->wake_ns, wait->run_ns, wait->open, classes[wait->waker_class], wait->waker,
	       wait->waker_tid, wait->object, wait->queued_tree_ns, wait->queued_outside_ns,
	       wait->queued_pid, wait->short_count, wait->short_blocked_ns, wait->short_queued_ns,
	       wait->forks, wait->threshold_ns);
}

static void print_oom(const struct tree_event *event)
{
	(void)event;
	printf("oom");
}

static int take_event(void *context, const struct tree_event *event)
{
	static void (*const printers[TREE_EVENT_TYPE_COUNT])(const struct tree_event *) = {
		[TREE_FORK] = print_fork,     [TREE_EXEC] = print_exec,
		[TREE_THREAD] = print_thread, [TREE_PROCESS] = print_process,
		[TREE_SIGNAL] = print_signal, [TREE_OOM] = print_oom,
		[TREE_WAIT] = print_wait,
	};
	struct driver *driver = context;

	printf("pid=%d tid=%d start=%" PRIu64 " time=%" PRIu64 " event=", event->task.pid,
	       event->task.tid, event->task.start_ns, event->time_ns);
	printers[event->type](event);
	putchar('\n');
	return tree_apply(driver->run->tree, event);
}

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "tree_driver: %s: %s\n", what, why);
	exit(2);
}

static void check(int status, const char *what)
{
	if (status < 0)
		fail(what, strerror(-status));
}

static void start_held(struct driver *driver)
{
	int ends[2];
	char go;

	if (pipe2(ends, 0) < 0)
		fail("pipe", strerror(errno));
	driver->pid = fork();
	if (driver->pid == 0) {
		close(ends[1]);
		if (read(ends[0], &go, 1) != 1)
			_exit(125);
		close(ends[0]);
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
	close(driver->hold);
}

static bool has_company(int32_t pid)
{
	char path[64], first;
	struct stat tasks;
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	if (stat(path, &tasks) == 0 && tasks.st_nlink > 3)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = read(fd, &first, 1);
	close(fd);
	return size == 1;
}

static void wait_for_company(int32_t pid)
{
	usleep(COMPANY_US);
	for (int i = 0; i < COMPANY_TRIES && !has_company(pid); i++)
		usleep(COMPANY_US);
}

static void follow(struct driver *driver)
{
	const struct tracer *tracer = driver->tracer;
	struct error error = { 0 };

	start_held(driver);
	if (driver->attaches) {
		release(driver);
		wait_for_company(driver->pid);
	}
	if (tracer->kind->follow(tracer->state, &driver->pid, 1, !driver->attaches, &error) < 0)
		fail("follow", error.message);
	if (!driver->attaches)
		release(driver);
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
	const struct tracer *tracer = driver->tracer;
	uint64_t due = now_ms();

	for (;;) {
		struct pollfd ready[] = {
			{ .fd = driver->pidfd, .events = POLLIN },
			{ .fd = tracer->kind->fd(tracer->state), .events = POLLIN },
		};
		uint64_t now = now_ms();

		poll(ready, 2, due > now ? (int)(due - now) : 0);
		check(tracer->kind->drain(tracer->state, take_event, driver), "drain");
		check(stacks_print(tracer), "stacks");
		if (ready[0].revents)
			return;
		if (now_ms() < due)
			continue;
		check(tracer->kind->sample(tracer->state, TRACER_SAMPLE, take_event, driver),
		      "sample");
		due = now_ms() + (uint64_t)driver->interval_ms;
	}
}

/* The map of that name among the descriptors of this process. */
static int own_map(const char *name)
{
	for (int fd = 0; fd < DESCRIPTORS_MOST; fd++) {
		struct bpf_map_info info = { 0 };
		__u32 size = sizeof(info);

		if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && strcmp(info.name, name) == 0)
			return fd;
	}
	fail("map", name);
	return -1;
}

/* Leaves no room in the kernel's table of processes. */
static void fill_table(void)
{
	__u64 value[16] = { 0 };
	int table = own_map("processes");

	/* Numbers that no process can have. */
	for (__u32 key = 1u << 30; bpf_map_update_elem(table, &key, value, BPF_ANY) == 0; key++)
		continue;
	if (errno != E2BIG)
		fail("fill", strerror(errno));
}

/* Reads nothing before the command has ended. */
static void wait_for_end(struct driver *driver)
{
	struct pollfd end = { .fd = driver->pidfd, .events = POLLIN };

	while (poll(&end, 1, -1) != 1)
		continue;
}

/* Reads nothing before the command has stopped itself, and lets it go on after a look at what is left. */
static void wait_for_stop(struct driver *driver)
{
	const struct tracer *tracer = driver->tracer;
	int status;

	if (waitpid(driver->pid, &status, WUNTRACED) != driver->pid || !WIFSTOPPED(status))
		fail("wait", "the command did not stop");
	check(tracer->kind->drain(tracer->state, take_event, driver), "drain");
	check(tracer->kind->sample(tracer->state, TRACER_SAMPLE, take_event, driver), "sample");
	kill(driver->pid, SIGCONT);
}

static int print_wakers(void *context, const struct tree_process *process,
			const struct tree_thread *thread)
{
	(void)context;
	(void)process;
	for (size_t i = 0; i < thread->waker_count; i++) {
		const struct tree_waker *waker = &thread->wakers[i];

		printf("pid=%d tid=%d event=waker reason=%s waker=%d waker_tid=%d comm=%s"
		       " count=%" PRIu64 " ns=%" PRIu64 " longest=%" PRIu64 "\n",
		       thread->key.pid, thread->key.tid, waits[waker->reason].name,
		       waker->waker_pid, waker->waker_tid, waker->waker_comm, waker->count,
		       waker->total_ns, waker->longest_ns);
	}
	return 0;
}

static void finish(struct driver *driver)
{
	const struct tracer *tracer = driver->tracer;
	struct run_losses losses = { 0 };
	struct rusage usage;
	const struct tree *tree = driver->run->tree;
	int status;

	wait4(driver->pid, &status, 0, &usage);
	check(tracer->kind->drain(tracer->state, take_event, driver), "drain");
	check(tracer->kind->sample(tracer->state, TRACER_FINAL, take_event, driver), "sample");
	check(stacks_print(tracer), "stacks");
	stack_losses_print(tracer);
	tracer->kind->losses(tracer->state, &losses);
	tree_sum_up(driver->run->tree);
	(void)tree_visit_threads(tree, print_wakers, NULL);
	losses.wakers = tree->dropped_wakers;
	printf("end=tree cpu_ns=%" PRIu64 " processes=%" PRIu64 " threads=%" PRIu64
	       " exited=%" PRIu64 " strays=%" PRIu64 "\n",
	       amounts_cpu_ns(&tree->amounts) + tree->unseen_cpu_ns, tree->processes, tree->threads,
	       tree->exited, tree_unmatched_events(tree));
	printf("end=losses events=%" PRIu64 " threads=%" PRIu64 " unnamed_syscalls=%" PRIu64
	       " waits=%" PRIu64 " wakers=%" PRIu64 " untracked_tasks=%" PRIu64 "\n",
	       losses.events, losses.threads, losses.unnamed_syscalls, losses.waits, losses.wakers,
	       losses.untracked_tasks);
	printf("end=wait pid=%d status=%d cpu_ns=%" PRIu64 "\n", driver->pid, status,
	       ((uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)) *
		       1000);
}

static void print_sources(const struct run *run)
{
	for (size_t i = 0; i < run->source_count; i++)
		printf("source=%s state=%s reason=%s\n", run->sources[i].name,
		       source_state_name(run->sources[i].state),
		       run->sources[i].reason ? run->sources[i].reason : "");
}

static void parse(struct driver *driver, struct tracer_options *options, int count,
		  char **arguments)
{
	int option;

	if (count < 2)
		fail("usage", "tree_driver SOURCE [-i MILLISECONDS] [-k HERTZ] [-o NANOSECONDS] [-acdef] -- COMMAND...");
	driver->source = arguments[1];
	optind = 2;
	while ((option = getopt(count, arguments, "+i:k:o:acdef")) != -1) {
		if (option == 'i')
			driver->interval_ms = (int)strtol(optarg, NULL, 10);
		if (option == 'k')
			options->stacks.frequency_hz = (uint32_t)strtoul(optarg, NULL, 10);
		if (option == 'o')
			options->stacks.off_cpu_min_ns = strtoull(optarg, NULL, 10);
		options->syscalls = options->syscalls && option != 'c';
		driver->attaches = driver->attaches || option == 'a';
		driver->is_deaf = driver->is_deaf || option == 'd';
		driver->is_late = driver->is_late || option == 'e';
		driver->fills = driver->fills || option == 'f';
	}
	driver->command = arguments + optind;
	if (!*driver->command)
		fail("usage", "no command");
}

int main(int count, char **arguments)
{
	struct tracer_options options = { .syscalls = true, .waits = true };
	struct driver driver = { .interval_ms = 50 };
	struct error error = { 0 };

	parse(&driver, &options, count, arguments);
	if (host_open(&driver.host, NULL, &error) < 0)
		fail("host", error.message);
	if (tracer_open(driver.host, driver.source, &options, &driver.tracer, &error) < 0) {
		fprintf(stderr, "tree_driver: %s\n", error.message);
		host_close(driver.host);
		return 77;
	}
	check(run_new(&driver.run), "run");
	check(tracer_report(driver.tracer, driver.run), "report");
	print_sources(driver.run);
	if (driver.fills)
		fill_table();
	follow(&driver);
	if (driver.is_deaf)
		wait_for_stop(&driver);
	if (driver.is_late)
		wait_for_end(&driver);
	else
		watch(&driver);
	finish(&driver);
	tracer_close(driver.tracer);
	run_free(driver.run);
	host_close(driver.host);
	return 0;
}
