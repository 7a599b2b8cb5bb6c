/* SPDX-License-Identifier: MIT */
/* Instants as people write them, and files that have them. */
#include <time.h>

#include "history_room.h"
#include "store/history/instant.h"
#include "store/recording.h"

/* 2024-05-01 10:00:00 to 2024-05-02 09:00:00 in UTC. */
static const struct history_span extent = { UINT64_C(1714557600) * SECOND_NS,
					    UINT64_C(1714640400) * SECOND_NS };

static int64_t at(const char *text)
{
	struct error error = { 0 };
	uint64_t instant = 0;
	int status = instant_parse(text, &extent, &instant, &error);

	if (status < 0) {
		assert_int_equal(status, -EINVAL);
		assert_non_null(strstr(error.message, "is not a time: write @latest"));
		return -1;
	}
	return (int64_t)(instant / SECOND_NS) - 1714557600;
}

static void instants_are_understood(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	assert_int_equal(at("latest"), 82800);
	assert_int_equal(at("-5m"), 82800 - 300);
	assert_int_equal(at("-1.5s"), 82800 - 2);
	assert_int_equal(at("08:59"), 82800 - 60);
	assert_int_equal(at("09:00:00"), 82800);
	assert_int_equal(at("09:00:01"), -86400 + 82801);
	assert_int_equal(at("23:00"), 13 * 3600);
	assert_int_equal(at("10:00"), 0);
	assert_int_equal(at("2024-05-01T10:04:31"), 271);
	assert_int_equal(at("2024-05-01 10:04"), 240);
	assert_int_equal(at("2024-05-01T10:04:31Z"), 271);
	assert_int_equal(at("2024-05-01T12:04:31.5+02:00"), 271);
	assert_int_equal(at("2024-05-01T05:04:31-0500"), 271);
	assert_int_equal(at("2024-05-02"), 14 * 3600);
}

static void local_time_is_meant(void **state)
{
	(void)state;
	setenv("TZ", "TST-3", 1); /* three hours east */
	tzset();
	assert_int_equal(at("13:00"), 0);
	assert_int_equal(at("2024-05-01T13:00"), 0);
	assert_int_equal(at("2024-05-01T10:00Z"), 0);
	setenv("TZ", "UTC", 1);
	tzset();
}

static void an_empty_recording_has_no_instant(void **state)
{
	const struct history_span none = { 0 };
	struct error error = { 0 };
	uint64_t instant;

	(void)state;
	assert_int_equal(instant_parse("10:05", &none, &instant, &error), -ENOENT);
	assert_non_null(strstr(error.message, "has no ticks yet"));
}

static void anything_else_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"now",
		"latest ",
		"25:00",
		"10:60",
		"10",
		"10:0",
		"10:00:",
		"10:00:0",
		"10:00 ",
		"-",
		"-5x",
		"5m",
		"2024-13-01",
		"2024-02-30",
		"1969-01-01",
		"2024-05-01T",
		"2024-05-01T10:00+",
		"2024-05-01T10:00X",
		"2024-5-1",
		"2024-05-01T10",
		"2024-05-01T10:00:00.",
		"2024-05-01T10:00+25:00",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (at(wrong[i]) != -1)
			fail_msg("'%s' was taken", wrong[i]);
}

static uint64_t read_time(const char *name)
{
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	uint64_t time;

	if (recording_read(name, &snapshot, &error) < 0) {
		print_error("%s\n", error.message);
		return 0;
	}
	time = snapshot->facts[FACT_captured_at_unix_ns].number;
	snapshot_free(snapshot);
	return (time - BEGIN_NS) / SECOND_NS;
}

static void a_recording_is_read_at_an_instant(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room);
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	char name[200];

	(void)state;
	add_ticks(writer, &small, 0, 20);
	assert_int_equal(read_time(room.path), 95);
	snprintf(name, sizeof(name), "%s@latest", room.path);
	assert_int_equal(read_time(name), 95);
	snprintf(name, sizeof(name), "%s@-12s", room.path);
	assert_int_equal(read_time(name), 80);
	snprintf(name, sizeof(name), "%s@2023-11-14T22:14:30Z", room.path);
	assert_int_equal(read_time(name), 30);
	snprintf(name, sizeof(name), "%s@tomorrow", room.path);
	assert_int_equal(recording_read(name, &snapshot, &error), -EINVAL);
	/* A file of that name is meant before an instant. */
	snprintf(name, sizeof(name), "%s/below/a@b.db", room.directory);
	history_close(writer);
	assert_int_equal(rename(room.path, name), 0);
	assert_int_equal(read_time(name), 95);
	snprintf(name, sizeof(name), "%s/below/a@b.db@-12s", room.directory);
	assert_int_equal(read_time(name), 80);
	remove_room(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instants_are_understood),
		cmocka_unit_test(local_time_is_meant),
		cmocka_unit_test(an_empty_recording_has_no_instant),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(a_recording_is_read_at_an_instant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
