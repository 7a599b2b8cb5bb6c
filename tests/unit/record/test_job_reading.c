/* SPDX-License-Identifier: MIT */
/* Readings of processes at marks: families, and the time that a mark may take. */
#include "hand_snapshot.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "host/host.h"
#include "record/job/book/job_reading.h"

static struct host *host;

static int set_up(void **state)
{
	struct error error = { 0 };

	(void)state;
	return host_open(&host, NULL, &error);
}

static int tear_down(void **state)
{
	(void)state;
	host_close(host);
	return 0;
}

static bool has(const struct job_family *family, int32_t pid)
{
	for (size_t i = 0; i < family->list.count; i++)
		if (family->list.data[i].pid == pid)
			return true;
	return false;
}

static void a_family_is_all_that_descends(void **state)
{
	struct task_key self = { getpid(), getpid(), 0 }, parent = { getppid(), getppid(), 0 };
	struct job_family own = { 0 }, wider = { 0 };
	struct job_reader reader;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		pause();
		_exit(0);
	}
	job_reader_open(&reader, host);
	assert_int_equal(job_list_family(&reader, &self, &own), 0);
	assert_int_equal(job_list_family(&reader, &parent, &wider), 0);
	assert_int_equal(own.list.count, 1);
	assert_true(has(&own, child) && has(&wider, child) && has(&wider, self.pid));
	assert_false(has(&wider, 1));
	array_free(&own.list);
	array_free(&wider.list);
	job_reader_close(&reader);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void a_mark_stops_reading_when_its_time_is_over(void **state)
{
	struct task_key self = { getpid(), getpid(), 0 };
	struct job_family family = { 0 };
	struct job_reader reader;

	(void)state;
	job_reader_open(&reader, host);
	assert_true(job_reader_has_time(&reader));
	job_reader_begin(&reader);
	assert_true(reader.deadline_ns);
	reader.most_ns = 1;
	job_reader_begin(&reader);
	while (job_reader_has_time(&reader))
		;
	assert_int_equal(job_list_family(&reader, &self, &family), -ETIME);
	assert_int_equal(family.list.count, 0);
	job_reader_close(&reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_family_is_all_that_descends),
		cmocka_unit_test(a_mark_stops_reading_when_its_time_is_over),
	};

	return cmocka_run_group_tests_name("job_reading", tests, set_up, tear_down);
}
