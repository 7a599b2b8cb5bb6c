/* SPDX-License-Identifier: MIT */
/* The detector on samples of a real process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyze/anomaly/detector.h"
#include "analyze/anomaly/host_figures.h"
#include "base/error.h"
#include "collect/capture.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"

/* The kernel adds to the time of a thread that runs at every tick of its own, 1 to 10 ms. */
#define TICK 0.01

/* What a sample of the child is between. */
struct bounds {
	double before, after; /* CPU time of the child, in seconds */
	double time;	      /* of the sample, by the monotonic clock */
};

static double cpu_of(clockid_t clock)
{
	struct timespec time;

	assert_int_equal(clock_gettime(clock, &time), 0);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int keep(void *context, enum anomaly_change change, const struct anomaly *anomaly)
{
	if (change == ANOMALY_OPENED && anomaly->rule == ANOMALY_RUNAWAY_CPU)
		*(double *)context = anomaly->value;
	return 0;
}

static void sample(struct sampling *sampling, struct detector *detector, clockid_t clock,
		   struct bounds *ret, double *percent)
{
	struct error error = { 0 };
	struct snapshot *now;
	struct host_sample host;

	ret->before = cpu_of(clock);
	if (sampling_take(sampling, &now, &error) < 0)
		fail_msg("%s", error.message);
	ret->after = cpu_of(clock);
	ret->time = (double)now->facts[FACT_monotonic_ns].number / 1e9;
	host_figures(NULL, now, &host);
	assert_true(host_sample_has(&host, HOST_VALUE_memory_total_bytes));
	assert_true(host_sample_has(&host, HOST_VALUE_load1));
	assert_int_equal(detector_take(detector, now, &host, keep, percent), 0);
	snapshot_free(now);
}

/* The kernel's own clock of the child says what is right, however busy this machine is. */
static void a_busy_loop_has_the_cpu_time_that_the_kernel_says(void **state)
{
	struct anomaly_settings settings = anomaly_defaults;
	struct capture_options options = { .pid_count = 1 };
	struct bounds first, second;
	struct detector *detector;
	struct sampling *sampling;
	struct host *host;
	struct error error = { 0 };
	clockid_t clock;
	double percent = -1, elapsed;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (child == 0)
		;
	assert_true(child > 0);
	settings.values[ANOMALY_SETTING_runaway_cpu_percent] = 0.001;
	settings.values[ANOMALY_SETTING_runaway_cpu_duration] = 0;
	options.pids = &child;
	assert_int_equal(clock_getcpuclockid(child, &clock), 0);
	assert_int_equal(host_open(&host, NULL, &error), 0);
	if (sampling_open(host, &options, &sampling, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(detector_new(&settings, &detector), 0);
	sample(sampling, detector, clock, &first, &percent);
	assert_true(percent == -1);
	while (cpu_of(clock) < first.after + 1)
		usleep(10000);
	sample(sampling, detector, clock, &second, &percent);
	elapsed = second.time - first.time;
	assert_true(percent >= (second.before - first.after - TICK) / elapsed * 100);
	assert_true(percent <= (second.after - first.before + TICK) / elapsed * 100);
	detector_free(detector);
	sampling_close(sampling);
	host_close(host);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_busy_loop_has_the_cpu_time_that_the_kernel_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
