/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "host/host.h"
#include "model/tree/run.h"
#include "trace/tracer.h"

#define NOBODY 65534

static const struct tracer_options options = { .syscalls = true, .waits = true };

static struct host *open_host(void)
{
	struct error error = { 0 };
	struct host *host;

	assert_int_equal(host_open(&host, NULL, &error), 0);
	return host;
}

static void a_name_that_is_none_fails_with_those_that_there_are(void **state)
{
	struct error error = { 0 };
	struct tracer *tracer = NULL;
	struct host *host = open_host();

	(void)state;
	assert_int_equal(tracer_open(host, "ptrace", &options, &tracer, &error), -EINVAL);
	assert_null(tracer);
	assert_non_null(strstr(error.message, "'ptrace'"));
	assert_non_null(strstr(error.message, "bpf, connector, procfs"));
	host_close(host);
}

static void a_named_way_is_that_one(void **state)
{
	struct error error = { 0 };
	struct tracer *tracer;
	struct host *host = open_host();
	struct run *run;

	(void)state;
	assert_int_equal(tracer_open(host, "procfs", &options, &tracer, &error), 0);
	assert_ptr_equal(tracer->kind, &procfs_tracer);
	assert_int_equal(run_new(&run), 0);
	assert_int_equal(tracer_report(tracer, run), 0);
	assert_string_equal(run->tracer, "procfs");
	assert_non_null(run->tracer_misses);
	assert_int_equal(run_source(run, "ledger")->state, SOURCE_PARTIAL);
	assert_int_equal(run_source(run, "syscalls")->state, SOURCE_UNAVAILABLE);
	assert_non_null(run_source(run, "critical_path")->reason);
	/* What was not asked for was not tried. */
	assert_null(run_source(run, "bpf"));
	run_free(run);
	tracer_close(tracer);
	host_close(host);
}

static void a_named_way_that_does_not_work_says_why(void **state)
{
	struct error error = { 0 };
	struct tracer *tracer = NULL;
	struct host *host = open_host();

	(void)state;
	host->live = false;
	assert_int_equal(tracer_open(host, "procfs", &options, &tracer, &error), -ENOTSUP);
	assert_null(tracer);
	assert_ptr_equal(strstr(error.message, "cannot follow processes by procfs: "),
			 error.message);
	host_close(host);
}

static void when_nothing_works_each_way_says_why(void **state)
{
	struct error error = { 0 };
	struct tracer *tracer = NULL;
	struct host *host = open_host();

	(void)state;
	host->live = false;
	assert_true(tracer_open(host, NULL, &options, &tracer, &error) < 0);
	assert_null(tracer);
	assert_non_null(strstr(error.message, "bpf: "));
	assert_non_null(strstr(error.message, "; connector: "));
	assert_non_null(strstr(error.message, "; procfs: "));
	host_close(host);
}

/* Exits with 0 when all is as it should be without privilege. */
static void check_without_privilege(void)
{
	struct error error = { 0 };
	struct tracer *tracer = NULL;
	struct host *host = NULL;
	struct run *run = NULL;

	if (getuid() == 0 && setuid(NOBODY) < 0)
		_exit(1);
	if (host_open(&host, NULL, &error) < 0 ||
	    tracer_open(host, NULL, &options, &tracer, &error) < 0 || run_new(&run) < 0 ||
	    tracer_report(tracer, run) < 0)
		_exit(2);
	if (tracer->kind != &procfs_tracer ||
	    run_source(run, "tree")->state != SOURCE_PARTIAL)
		_exit(3);
	if (!run_source(run, "bpf") || !run_source(run, "connector") || run_source(run, "procfs"))
		_exit(4);
	if (!strstr(run_source(run, "connector")->reason, "CAP_NET_ADMIN"))
		_exit(5);
	run_free(run);
	tracer_close(tracer);
	host_close(host);
	_exit(0);
}

static void without_privilege_the_last_way_is_taken_and_the_others_say_why(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0)
		check_without_privilege();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_that_is_none_fails_with_those_that_there_are),
		cmocka_unit_test(a_named_way_is_that_one),
		cmocka_unit_test(a_named_way_that_does_not_work_says_why),
		cmocka_unit_test(when_nothing_works_each_way_says_why),
		cmocka_unit_test(without_privilege_the_last_way_is_taken_and_the_others_say_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
