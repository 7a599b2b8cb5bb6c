/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/text.h"
#include "collect/cgroup/cgroup_v1.h"
#include "collect/kernel_parse.h"

/* Writes down what it is given: "key=value;". */
struct notebook {
	struct kernel_sink sink;
	struct text text;
	const struct cgroup_v1_file *v1;
	int status;
};

static void note_value(struct notebook *notebook, const char *key, const struct kernel_value *value)
{
	struct text *text = &notebook->text;

	text_format(text, "%s=", key);
	if (value->state == CELL_UNLIMITED)
		text_format(text, "max;");
	else if (value->state == CELL_TEXT)
		text_format(text, "'%.*s';", (int)value->length, value->text);
	else
		text_format(text, "%" PRId64 ";", (int64_t)value->number);
}

static int note(struct kernel_sink *sink, const struct kernel_value *value)
{
	struct notebook *notebook = (struct notebook *)sink;
	struct cgroup_reading readings[V1_READINGS_MAX];
	size_t count;

	if (!notebook->v1) {
		note_value(notebook, value->key, value);
		return notebook->status;
	}
	count = cgroup_v1_translate(notebook->v1, 10000000, value, readings);
	for (size_t i = 0; i < count; i++)
		note_value(notebook, readings[i].name, &readings[i].value);
	return notebook->status;
}

static void expect(enum kernel_format format, const char *text, int bad, const char *expected)
{
	struct notebook notebook = { .sink = { note } };

	assert_int_equal(kernel_parse(format, text, &notebook.sink), bad);
	assert_string_equal(text_string(&notebook.text), expected);
	text_free(&notebook.text);
}

static void a_number_is_the_whole_file(void **state)
{
	(void)state;
	expect(KERNEL_NUMBER, "0\n", 0, "=0;");
	expect(KERNEL_NUMBER, "42", 0, "=42;");
	expect(KERNEL_NUMBER, "", 1, "");
	expect(KERNEL_NUMBER, "max\n", 1, "");
	expect(KERNEL_NUMBER, "-1\n", 1, "");
	expect(KERNEL_NUMBER, "1 2\n", 1, "");
	expect(KERNEL_NUMBER, "18446744073709551616\n", 1, "");
	expect(KERNEL_SIGNED, "-20\n", 0, "=-20;");
	expect(KERNEL_SIGNED, "19\n", 0, "=19;");
	expect(KERNEL_SIGNED, "--1\n", 1, "");
}

static void unlimited_is_not_a_number(void **state)
{
	(void)state;
	expect(KERNEL_LIMIT, "max\n", 0, "=max;");
	expect(KERNEL_LIMIT, "0\n", 0, "=0;");
	expect(KERNEL_LIMIT, "maximum\n", 1, "");
	expect(KERNEL_LIMIT, "\n", 1, "");
	expect(KERNEL_PAIR, "max 100000\n", 0, "quota_usec=max;period_usec=100000;");
	expect(KERNEL_PAIR, "5000 10000\n", 0, "quota_usec=5000;period_usec=10000;");
	expect(KERNEL_PAIR, "max\n", 1, "quota_usec=max;");
	expect(KERNEL_PAIR, "x 100\n", 1, "period_usec=100;");
}

static void every_key_is_kept_and_bad_lines_are_counted(void **state)
{
	(void)state;
	expect(KERNEL_KEYS, "usage_usec 5\ncore_sched.force_idle_usec 7\n\nnew_key 1\n", 0,
	       "usage_usec=5;core_sched.force_idle_usec=7;new_key=1;");
	expect(KERNEL_KEYS, "a 1\nno number\nb\nc -1\nd 1 2\n\x1b[2J 3\ne 9", 5, "a=1;e=9;");
	expect(KERNEL_KEYS, "", 1, "");
	expect(KERNEL_KEYS, "a_key_that_is_longer_than_any_name_of_the_kernel_can_be 1\n", 1, "");
}

static void devices_have_their_numbers_by_key(void **state)
{
	(void)state;
	expect(KERNEL_NESTED, "8:0 rbytes=1 wbytes=2\n259:3 rios=3\n", 0,
	       "8:0 rbytes=1;8:0 wbytes=2;259:3 rios=3;");
	expect(KERNEL_NESTED, "8:16 8:0 rbytes=1\n8:32 \n", 0, "8:0 rbytes=1;");
	expect(KERNEL_NESTED, "8:0 rbytes=1 cost.vrate=100.00 wbytes=x =3\n", 2, "8:0 rbytes=1;");
	expect(KERNEL_NESTED, "rbytes=1\n8:x rbytes=2\n", 3, "");
	expect(KERNEL_DEVICES, "8:0 Read 10\n8:0 Sync 3\n8:0 Total 10\nTotal 10\n", 0,
	       "8:0 Read=10;8:0 Sync=3;8:0 Total=10;");
	expect(KERNEL_DEVICES, "sda Read 10\nTotal\n", 2, "");
}

static void an_empty_list_is_a_text(void **state)
{
	(void)state;
	expect(KERNEL_LIST, "0-3,7\n", 0, "='0-3,7';");
	expect(KERNEL_LIST, "\n", 0, "='';");
	expect(KERNEL_LIST, "", 0, "='';");
	expect(KERNEL_LIST, "0-3 x\n", 1, "");
}

static void averages_of_pressure_are_hundredths_of_a_percent(void **state)
{
	(void)state;
	expect(KERNEL_PRESSURE,
	       "some avg10=1.36 avg60=0.05 avg300=100.00 total=1090712918\n"
	       "full avg10=0.00 total=0\n",
	       0,
	       "some avg10=136;some avg60=5;some avg300=10000;some total=1090712918;"
	       "full avg10=0;full total=0;");
	/* A fraction is filled up or cut to two digits. */
	expect(KERNEL_PRESSURE, "some avg10=7 avg60=7.5 avg300=7.129 total=1\n", 0,
	       "some avg10=700;some avg60=750;some avg300=712;some total=1;");
	expect(KERNEL_PRESSURE, "full total=1.5 avg10=1.5\n", 0, "full avg10=150;");
	/* The largest number is -1 here. */
	expect(KERNEL_PRESSURE, "some avg10=184467440737095517.00 total=18446744073709551616\n", 0,
	       "some avg10=-1;some total=-1;");
	expect(KERNEL_PRESSURE, "some total=18446744073709551615\n", 0, "some total=-1;");
}

static void malformed_pressure_is_absent_and_harms_no_other(void **state)
{
	static const char *const malformed[] = {
		"some avg10= total=5\n",
		"some avg10=x total=5\n",
		"some avg10=-1.00 total=5\n",
		"some avg10=1.x total=5\n",
		"some avg10=1. total=5\n",
		"some avg10=.5 total=5\n",
		"some avg10=1,36 total=5\n",
		"some avg10 total=5\n",
		"some =1.00 total=5\n",
		"some avg1=1.00 total=5\n",
		"some AVG10=1.0 total=5\n",
		"some avg10=0x1 total=5",
		"most avg10=9.00 total=9\nsome avg5=3.00 total=5 unit=us\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(malformed); i++)
		expect(KERNEL_PRESSURE, malformed[i], 0, "some total=5;");
	expect(KERNEL_PRESSURE, "", 1, "");
	expect(KERNEL_PRESSURE, "\n\nsome\nfull \n", 1, "");
}

static void only_kilobytes_are_memory(void **state)
{
	(void)state;
	expect(KERNEL_KIB,
	       "55cd3a000000-7ffd5a3fe000 ---p 00000000 00:00 0                  [rollup]\n"
	       "Rss:                1652 kB\nInvented_2031:        77 kB\n",
	       0, "Rss=1652;Invented_2031=77;");
	expect(KERNEL_KIB,
	       "THPeligible: 1\nPages: 5 MB\nNegative: -4 kB\nCut: 9\nA B: 7 kB\n"
	       ": 3 kB\nHuge: 99999999999999999999 kB\nTail: 1 kB x\nLast: 2 kB",
	       0, "Last=2;");
}

static void a_sink_that_fails_ends_the_parsing(void **state)
{
	static const struct {
		enum kernel_format format;
		const char *text, *first; /* all that is given */
	} cases[] = {
		{ KERNEL_NUMBER, "1\n", "=1;" },
		{ KERNEL_SIGNED, "-1\n", "=-1;" },
		{ KERNEL_LIMIT, "max\n", "=max;" },
		{ KERNEL_PAIR, "max 100000\n", "quota_usec=max;" },
		{ KERNEL_KEYS, "a 1\nb 2\n", "a=1;" },
		{ KERNEL_NESTED, "8:0 a=1 b=2\n8:1 a=1\n", "8:0 a=1;" },
		{ KERNEL_DEVICES, "8:0 Read 1\n8:0 Write 2\n", "8:0 Read=1;" },
		{ KERNEL_LIST, "0-3\n", "='0-3';" },
		{ KERNEL_PRESSURE, "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
		  "some avg10=0;" },
		{ KERNEL_KIB, "a: 1 kB\nb: 2 kB\n", "a=1;" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct notebook notebook = { .sink = { note }, .status = -ENOMEM };

		assert_int_equal(kernel_parse(cases[i].format, cases[i].text, &notebook.sink),
				 -ENOMEM);
		assert_string_equal(text_string(&notebook.text), cases[i].first);
		text_free(&notebook.text);
	}
}

static void expect_v1(const char *file, const char *text, const char *expected)
{
	struct notebook notebook = { .sink = { note } };
	enum kernel_format format = KERNEL_FORMAT_COUNT;

	for (size_t i = 0; i < cgroup_v1_file_count; i++)
		if (strcmp(cgroup_v1_files[i].name, file) == 0) {
			notebook.v1 = &cgroup_v1_files[i];
			format = notebook.v1->format;
		}
	assert_non_null(notebook.v1);
	assert_int_equal(kernel_parse(format, text, &notebook.sink), 0);
	assert_string_equal(text_string(&notebook.text), expected);
	text_free(&notebook.text);
}

static void v1_times_become_microseconds(void **state)
{
	(void)state;
	expect_v1("cpuacct.usage", "123456789\n", "cpu.stat usage_usec=123456;");
	expect_v1("cpuacct.stat", "user 3\nsystem 4\n",
		  "cpu.stat user_usec=30000;cpu.stat system_usec=40000;");
	expect_v1("cpu.stat", "nr_periods 7\nnr_throttled 2\nthrottled_time 5000\nnr_new 1\n",
		  "cpu.stat nr_periods=7;cpu.stat nr_throttled=2;cpu.stat throttled_usec=5;"
		  "cpu.stat nr_new=1;");
}

static void v1_limits_know_unlimited(void **state)
{
	(void)state;
	expect_v1("cpu.cfs_quota_us", "-1\n", "cpu.max quota_usec=max;");
	expect_v1("cpu.cfs_quota_us", "50000\n", "cpu.max quota_usec=50000;");
	expect_v1("memory.limit_in_bytes", "9223372036854771712\n", "memory.max=max;");
	expect_v1("memory.limit_in_bytes", "9223372036854710272\n", "memory.max=max;");
	expect_v1("memory.limit_in_bytes", "0\n", "memory.max=0;");
	expect_v1("memory.limit_in_bytes", "9223372036854000000\n",
		  "memory.max=9223372036854000000;");
	expect_v1("pids.max", "max\n", "pids.max=max;");
}

static void shares_become_a_weight_as_the_kernel_does_it(void **state)
{
	static const struct {
		const char *shares;
		const char *weight;
	} cases[] = {
		{ "1024", "cpu.weight=100;" },	   { "2", "cpu.weight=1;" },
		{ "0", "cpu.weight=1;" },	   { "512", "cpu.weight=50;" },
		{ "262144", "cpu.weight=10000;" }, { "15", "cpu.weight=1;" },
		{ "16", "cpu.weight=2;" },	   { "18446744073709551615", "cpu.weight=10000;" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_v1("cpu.shares", cases[i].shares, cases[i].weight);
}

static void v1_memory_is_with_everything_below(void **state)
{
	(void)state;
	expect_v1("memory.stat",
		  "cache 1\nrss 2\ninactive_anon 3\nhierarchical_memory_limit 9223372036854771712\n"
		  "total_cache 10\ntotal_rss 20\ntotal_swap 5\ntotal_inactive_anon 30\n"
		  "total_pgpgin 7\n",
		  "memory.stat hierarchical_memory_limit=max;memory.stat file=10;"
		  "memory.stat anon=20;memory.stat swap=5;memory.swap.current=5;"
		  "memory.stat inactive_anon=30;memory.stat pgpgin=7;");
	expect_v1("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
		  "memory.events.local oom_kill=3;");
}

static void v1_devices_have_the_keys_of_v2(void **state)
{
	(void)state;
	expect_v1("blkio.throttle.io_service_bytes_recursive",
		  "8:0 Read 1\n8:0 Write 2\n8:0 Sync 3\n8:0 Total 3\nTotal 3\n",
		  "io.stat 8:0 rbytes=1;io.stat 8:0 wbytes=2;");
	expect_v1("blkio.throttle.io_serviced_recursive", "8:0 Discard 4\nTotal 4\n",
		  "io.stat 8:0 dios=4;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_the_whole_file),
		cmocka_unit_test(unlimited_is_not_a_number),
		cmocka_unit_test(every_key_is_kept_and_bad_lines_are_counted),
		cmocka_unit_test(devices_have_their_numbers_by_key),
		cmocka_unit_test(an_empty_list_is_a_text),
		cmocka_unit_test(averages_of_pressure_are_hundredths_of_a_percent),
		cmocka_unit_test(malformed_pressure_is_absent_and_harms_no_other),
		cmocka_unit_test(only_kilobytes_are_memory),
		cmocka_unit_test(a_sink_that_fails_ends_the_parsing),
		cmocka_unit_test(v1_times_become_microseconds),
		cmocka_unit_test(v1_limits_know_unlimited),
		cmocka_unit_test(shares_become_a_weight_as_the_kernel_does_it),
		cmocka_unit_test(v1_memory_is_with_everything_below),
		cmocka_unit_test(v1_devices_have_the_keys_of_v2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
