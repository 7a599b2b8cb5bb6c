/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "host/host.h"
#include "trace/proc/proc_sample.h"
#include "trace/tracer.h"

#define MEBIBYTE ((size_t)1024 * 1024)

static struct host *open_host(void)
{
	struct error error = { 0 };
	struct host *host;

	assert_int_equal(host_open(&host, NULL, &error), 0);
	return host;
}

static void memory_that_is_used_and_given_back_stays_in_the_peak(void **state)
{
	struct host *host = open_host();
	struct tree_process_facts before, now, after;
	struct proc_sample sample;
	char *memory;

	(void)state;
	assert_int_equal(process_facts_read(host, getpid(), 0, &before), 0);
	memory = mmap(NULL, 32 * MEBIBYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	assert_true(memory != MAP_FAILED);
	memset(memory, 1, 32 * MEBIBYTE);
	assert_int_equal(process_facts_read(host, getpid(), 0, &now), 0);
	munmap(memory, 32 * MEBIBYTE);
	assert_int_equal(process_facts_read(host, getpid(), 0, &after), 0);
	assert_false(after.present & TREE_PROCESS_PEAK_RSS);
	assert_int_equal(proc_sample_thread(host, NULL, getpid(), getpid(), &sample), 0);

	assert_true(sample.has_peak);
	assert_true(now.rss_bytes >= before.rss_bytes + 31 * MEBIBYTE);
	assert_true(after.rss_bytes < now.rss_bytes - 31 * MEBIBYTE);
	assert_true(sample.peak_rss_bytes >= now.rss_bytes - MEBIBYTE);
	host_close(host);
}

static void descriptors_are_counted_up_to_their_limit(void **state)
{
	struct host *host = open_host();
	struct tree_process_facts before, after;
	struct rlimit limit;
	int fds[40];

	(void)state;
	assert_int_equal(process_facts_read(host, getpid(), 0, &before), 0);
	for (int i = 0; i < 40; i++)
		fds[i] = dup(STDERR_FILENO);
	assert_int_equal(process_facts_read(host, getpid(), 0, &after), 0);
	for (int i = 0; i < 40; i++)
		close(fds[i]);
	getrlimit(RLIMIT_NOFILE, &limit);

	assert_true(after.present & TREE_PROCESS_FDS);
	assert_int_equal(after.fds - before.fds, 40);
	assert_true(after.present & TREE_PROCESS_FD_LIMIT);
	assert_int_equal(after.fd_limit, limit.rlim_cur);
	host_close(host);
}

static void a_process_that_is_gone_is_no_process(void **state)
{
	struct host *host = open_host();
	struct tree_process_facts facts = { .rss_bytes = 7 };
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(process_facts_read(host, pid, 0, &facts), -ESRCH);
	assert_int_equal(facts.rss_bytes, 7);
	host_close(host);
}

static void one_that_began_at_another_time_is_another_process(void **state)
{
	struct host *host = open_host();
	struct tree_process_facts facts = { .rss_bytes = 7 };
	struct proc_sample sample = { 0 };

	(void)state;
	assert_int_equal(proc_sample_process(host, getpid(), &sample), 0);
	assert_int_equal(process_facts_read(host, getpid(), sample.start_ns + 1000000000, &facts),
			 -ESRCH);
	assert_int_equal(facts.rss_bytes, 7);
	assert_int_equal(process_facts_read(host, getpid(), sample.start_ns + 1, &facts), 0);
	assert_true(facts.rss_bytes > 7);
	host_close(host);
}

static void *sleep_on(void *unused)
{
	pause();
	return unused;
}

/* In a child: its first thread ends, the other one stays. */
static void live_without_leader(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_on, NULL);
	pthread_exit(NULL);
}

static void a_process_whose_first_thread_ended_has_memory_and_descriptors(void **state)
{
	struct host *host = open_host();
	struct tree_process_facts facts = { 0 };
	struct proc_sample sample = { 0 };
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		live_without_leader();
	while (!sample.is_dead)
		assert_int_equal(proc_sample_process(host, pid, &sample), 0);
	assert_int_equal(process_facts_read(host, pid, sample.start_ns, &facts), 0);
	assert_true(facts.present & TREE_PROCESS_RSS);
	assert_true(facts.rss_bytes > 0);
	assert_true(facts.fds >= 3);
	kill(pid, SIGKILL);
	/* Once it ended, it has none, and is no process any more. */
	assert_int_equal(waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_facts_read(host, pid, sample.start_ns, &facts), -ESRCH);
	waitpid(pid, NULL, 0);
	host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_that_is_used_and_given_back_stays_in_the_peak),
		cmocka_unit_test(descriptors_are_counted_up_to_their_limit),
		cmocka_unit_test(a_process_that_is_gone_is_no_process),
		cmocka_unit_test(one_that_began_at_another_time_is_another_process),
		cmocka_unit_test(a_process_whose_first_thread_ended_has_memory_and_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
