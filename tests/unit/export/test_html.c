/* SPDX-License-Identifier: MIT */
/* The page of a run: its document says what the run says, and nothing of it can become HTML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <jansson.h>

#include "analyze/verdict/diagnosis.h"
#include "base/error.h"
#include "export/html.h"
#include "hand_profile.h"
#include "hand_run.h"
#include "render/run/verdict_json.h"
#include "store/run/run_json.h"

static char hostile[] = "</script><script>alert(1)</script>";

static struct run *made_run(void)
{
	static char *command[] = { "/bin/made", hostile, NULL };
	struct run *run = hand_run(100);

	run->command = command;
	run->pid = 10;
	hand_thread(run, &(struct hand_thread){ .pid = 10,
						.comm = "<b>",
						.on_cpu = 60,
						.waits = { { WAIT_LOCK, 40, 4, 0 } } });
	hand_end_process(run, 10, 0);
	hand_sum_up(run);
	for (uint64_t i = 1; i <= 3; i++) {
		struct run_sample sample = { .time_ns = run->begin_ns + i * 30 * MS,
					     .threads = i,
					     .has_rss = i > 1,
					     .rss_bytes = i << 20 };

		if (i > 1)
			amounts_set(&sample.amounts, AMOUNT_run_time_ns, i * 20 * MS);
		run_past_sample(&run->past, &sample);
	}
	return run;
}

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *read = json_loads(text, 0, &error);

	if (!read)
		fail_msg("%s in %s", error.text, text);
	return read;
}

static json_t *document_of(const struct run *run)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *read;

	html_run_document(out, run);
	fclose(out);
	read = parse(text);
	free(text);
	return read;
}

static json_t *summary_of(const struct run *run)
{
	struct diagnosis diagnosis = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *read;

	diagnose(run, &diagnosis);
	run_json_summary(out, run, diagnosis_json, &diagnosis, false);
	fclose(out);
	read = parse(text);
	free(text);
	return read;
}

static void check_column(const json_t *columns, const char *key, const char *expected)
{
	json_t *wanted = parse(expected);

	assert_true(json_equal(json_object_get(columns, key), wanted));
	json_decref(wanted);
}

static void test_summary(void **state)
{
	struct run *run = made_run();
	json_t *document = document_of(run), *summary = summary_of(run);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(document, "page")), "run");
	assert_true(json_equal(json_object_get(document, "summary"), summary));
	assert_int_equal(json_array_size(json_object_get(document, "processes")), 1);
	assert_int_equal(json_array_size(json_object_get(document, "waits")), WAIT_REASON_COUNT);
	assert_true(json_is_null(json_object_get(document, "profile")));
	json_decref(summary);
	json_decref(document);
	run_free(run);
}

/* What was not measured is null; what never was has no column. */
static void test_samples(void **state)
{
	struct run *run = made_run();
	json_t *document = document_of(run);
	const json_t *samples = json_object_get(document, "samples");

	(void)state;
	check_column(samples, "time_ns", "[30000000, 60000000, 90000000]");
	check_column(samples, "threads_alive", "[1, 2, 3]");
	check_column(samples, "rss_bytes", "[null, 2097152, 3145728]");
	check_column(samples, "run_time_ns", "[null, 40000000, 60000000]");
	assert_null(json_object_get(samples, "open_fds"));
	assert_null(json_object_get(samples, "wait_disk_ns"));
	json_decref(document);
	run_free(run);
}

static void test_events(void **state)
{
	struct run *run = made_run();
	struct tree_event event = hand_event(run, TREE_SIGNAL, 10, 10);
	json_t *document;

	(void)state;
	event.signal.number = 15;
	event.time_ns = run->begin_ns + 5 * MS;
	assert_int_equal(run_take_event(run, &event), 0);
	event.type = TREE_FORK;
	assert_int_equal(run_take_event(run, &event), 0);
	assert_int_equal(run->past.events.count, 2);
	document = document_of(run);
	check_column(
		document, "events",
		"[{\"time_ns\": 5000000, \"event\": \"signal\", \"pid\": 10, \"tid\": 10, \"comm\": \"\", \"signal\": 15}]");
	json_decref(document);
	run_free(run);
}

static void test_profile(void **state)
{
	struct run *run = made_run();
	const json_t *profile, *samples;
	json_t *document;

	(void)state;
	run->profile = hand_profile();
	hand_add(run->profile, PROFILE_ON_CPU, "main;work_[k]", 20 * MS);
	hand_add(run->profile, PROFILE_OFF_CPU, "main", 30 * MS);
	run->profile->losses.dropped = 4;
	document = document_of(run);
	profile = json_object_get(document, "profile");
	samples = json_object_get(profile, "samples");
	check_column(json_object_get(profile, "nodes"), "parent", "[0, 0, 1]");
	check_column(json_object_get(profile, "frames"), "flags", "[0, 5]");
	check_column(samples, "ns", "[20000000, 30000000]");
	check_column(samples, "node", "[2, 1]");
	check_column(samples, "kind", "[0, 1]");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(profile, "losses"), "dropped")),
		4);
	check_column(
		json_object_get(profile, "sums"), "off-cpu",
		"{\"ns\": 30000000, \"complete_ns\": 30000000, \"missing_ns\": 0, \"inferred_ns\": 0, \"count\": 1}");
	json_decref(document);
	run_free(run);
}

/* An address of the kernel is text: it has more digits than a number of JavaScript. */
static void test_addresses(void **state)
{
	struct run *run = made_run();
	json_t *document;

	(void)state;
	run->profile = hand_profile();
	hand_everything(run->profile);
	document = document_of(run);
	assert_string_equal(
		json_string_value(json_array_get(
			json_object_get(
				json_object_get(json_object_get(document, "profile"), "frames"),
				"address"),
			run->profile->frames.count - 1)),
		"0xffffffff81000010");
	json_decref(document);
	run_free(run);
}

/* The only difference between the pages of two runs is in letters of base64. */
static void test_page(void **state)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
	static const char place[] = "id=\"document\">";
	struct run *run = made_run();
	struct error error = { 0 };
	char *page = NULL;
	size_t size;
	FILE *out = open_memstream(&page, &size);
	int status = html_write_run(run, out, &error);
	const char *document;

	(void)state;
	fclose(out);
	run_free(run);
	assert_int_equal(status, html_check(&error));
	if (status == 0) {
		assert_null(strstr(page, "alert(1)"));
		document = strstr(page, place);
		assert_non_null(document);
		document += strlen(place);
		assert_int_equal(strncmp(document + strspn(document, letters), "</script>", 9), 0);
		assert_int_equal(strncmp(page, "<!doctype html>", 15), 0);
	} else {
		assert_int_equal(status, -ENOTSUP);
		assert_non_null(strstr(error.message, "taskscope was built"));
		assert_int_equal(size, 0);
	}
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_summary),	  cmocka_unit_test(test_samples),
		cmocka_unit_test(test_events),	  cmocka_unit_test(test_profile),
		cmocka_unit_test(test_addresses), cmocka_unit_test(test_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
