#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
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
	char *memory;

	(void)state;
	assert_int_equal(process_facts_read(host, getpid(), &before), 0);
	memory = mmap(NULL, 32 * MEBIBYTE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	assert_true(memory != MAP_FAILED);
	memset(memory, 1, 32 * MEBIBYTE);
	assert_int_equal(process_facts_read(host, getpid(), &now), 0);
	munmap(memory, 32 * MEBIBYTE);
	assert_int_equal(process_facts_read(host, getpid(), &after), 0);
	assert_false(after.present & TREE_PROCESS_PEAK_RSS);
	assert_int_equal(process_peak_read(host, getpid(), &after), 0);

	assert_true(after.present & TREE_PROCESS_PEAK_RSS);
	assert_true(now.rss_bytes >= before.rss_bytes + 31 * MEBIBYTE);
	assert_true(after.rss_bytes < now.rss_bytes - 31 * MEBIBYTE);
	assert_true(after.peak_rss_bytes >= now.rss_bytes - MEBIBYTE);
	host_close(host);
}

static void descriptors_are_counted_up_to_their_limit(void **state)
{
	struct host *host = open_host();
	struct tree_process_facts before, after;
	struct rlimit limit;
	int fds[40];

	(void)state;
	assert_int_equal(process_facts_read(host, getpid(), &before), 0);
	for (int i = 0; i < 40; i++)
		fds[i] = dup(STDERR_FILENO);
	assert_int_equal(process_facts_read(host, getpid(), &after), 0);
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
	assert_int_equal(process_facts_read(host, pid, &facts), -ESRCH);
	assert_int_equal(process_peak_read(host, pid, &facts), -ESRCH);
	assert_int_equal(facts.rss_bytes, 7);
	host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_that_is_used_and_given_back_stays_in_the_peak),
		cmocka_unit_test(descriptors_are_counted_up_to_their_limit),
		cmocka_unit_test(a_process_that_is_gone_is_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
