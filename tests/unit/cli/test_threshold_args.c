/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "cli/args/threshold_args.h"

static struct anomaly_settings settings;
static struct error error;

static int read_one(const char *text)
{
	const struct option_list list = { .values = { text }, .count = 1 };

	error.message[0] = '\0';
	return threshold_args_read(&list, &settings, &error);
}

static void a_value_is_of_its_kind(void **state)
{
	static const struct {
		const char *text;
		int setting;
		double value;
	} good[] = {
		{ "runaway_cpu_percent=50%", ANOMALY_SETTING_runaway_cpu_percent, 50 },
		{ "runaway_cpu_percent=50", ANOMALY_SETTING_runaway_cpu_percent, 50 },
		{ "zombie_duration=2m", ANOMALY_SETTING_zombie_duration, 120e9 },
		{ "memory_spike_bytes=2MiB", ANOMALY_SETTING_memory_spike_bytes, 2 << 20 },
		{ "thread_leak_count=7", ANOMALY_SETTING_thread_leak_count, 7 },
	};
	static const char *const bad[] = {
		"runaway_cpu_percent=5s", "runaway_cpu_percent=64MiB", "runaway_cpu_percent=5%x",
		"runaway_cpu_percent=",	  "runaway_cpu_percent",       "zombie_duration=5x",
		"zombie_duration=5%",	  "memory_spike_bytes=5%",     "memory_spike_bytes=5s",
		"thread_leak_count=50%",  "thread_leak_count=2MiB",    "thread_leak_count=2s",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(read_one(good[i].text), 0);
		assert_true(settings.values[good[i].setting] == good[i].value);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (read_one(bad[i]) != -EINVAL)
			fail_msg("%s is taken", bad[i]);
		assert_non_null(strstr(error.message, bad[i]));
	}
}

static void an_unknown_name_gets_a_hint(void **state)
{
	(void)state;
	assert_int_equal(read_one("zombie_duratoin=5s"), -EINVAL);
	assert_string_equal(error.message, "there is no threshold 'zombie_duratoin'; did you mean "
					   "zombie_duration?");
	assert_int_equal(read_one("zombie=5s"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_of_its_kind),
		cmocka_unit_test(an_unknown_name_gets_a_hint),
	};

	return cmocka_run_group_tests_name("threshold_args", tests, NULL, NULL);
}
