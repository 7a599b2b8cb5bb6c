/* SPDX-License-Identifier: MIT */
/* A recording: what is written is read again, by its writer's peers and after it ended. */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "history_room.h"

static void any_instant_is_read_as_its_snapshot(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room), *reader;
	struct history_span span;
	struct snapshot *none = NULL;
	struct error error = { 0 };

	(void)state;
	add_ticks(writer, &small, 0, 300);
	reader = open_history(&room);
	assert_true(history_extent(reader, &span));
	assert_true(span.from_unix_ns == BEGIN_NS);
	assert_true(span.to_unix_ns == BEGIN_NS + 299 * 5 * SECOND_NS);
	assert_tick(reader, &small, UINT64_MAX, 299);
	assert_tick(reader, &small, BEGIN_NS, 0);
	assert_tick(reader, &small, BEGIN_NS + 5 * SECOND_NS - 1, 0);
	assert_tick(reader, &small, BEGIN_NS + 5 * SECOND_NS, 1);
	for (uint64_t tick = 100; tick < 140; tick++)
		assert_tick(reader, &small, BEGIN_NS + tick * 5 * SECOND_NS, tick);
	assert_tick(reader, &small, BEGIN_NS + 77 * 5 * SECOND_NS, 77);
	assert_int_equal(history_snapshot(reader, BEGIN_NS - 1, &none, &error), -ENOENT);
	assert_non_null(strstr(error.message, "there is nothing before 20"));
	/* What is written from now on is seen, too. */
	add_tick(writer, &small, 300);
	assert_tick(reader, &small, UINT64_MAX, 300);
	history_close(reader);
	history_close(writer);
	/* A second writer goes on, with a chain of its own. */
	writer = create(&room);
	add_ticks(writer, &small, 301, 303);
	history_close(writer);
	reader = open_history(&room);
	assert_tick(reader, &small, UINT64_MAX, 302);
	assert_tick(reader, &small, BEGIN_NS + 300 * 5 * SECOND_NS, 300);
	history_close(reader);
	remove_room(&room);
}

static void a_burst_is_kept_by_itself(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room), *reader;
	const struct made_host one = { 1, 1, BEGIN_NS + SECOND_NS, 5 * SECOND_NS };
	struct snapshot *burst = made_snapshot(&one, 0);
	struct error error = { 0 };

	(void)state;
	add_tick(writer, &small, 0);
	assert_int_equal(
		history_add_tick(writer,
				 &(struct history_tick){ .snapshot = burst, .is_burst = true },
				 &error),
		0);
	add_tick(writer, &small, 1);
	reader = open_history(&room);
	assert_tick(reader, &small, BEGIN_NS + 2 * SECOND_NS, 0);
	assert_tick(reader, &small, UINT64_MAX, 1);
	snapshot_free(burst);
	history_close(reader);
	history_close(writer);
	remove_room(&room);
}

struct seen {
	struct life_event events[64];
	char texts[64][64];
	struct anomaly anomalies[8];
	enum anomaly_change changes[8];
	struct host_sample samples[512];
	size_t count;
};

static int see_event(void *context, const struct life_event *event)
{
	struct seen *seen = context;

	snprintf(seen->texts[seen->count], sizeof(seen->texts[0]), "%s|%s",
		 event->cmd ? event->cmd : "-", event->details ? event->details : "-");
	seen->events[seen->count++] = *event;
	return 0;
}

static int see_anomaly(void *context, enum anomaly_change change, const struct anomaly *anomaly)
{
	struct seen *seen = context;

	seen->changes[seen->count] = change;
	seen->anomalies[seen->count++] = *anomaly;
	return 0;
}

static int see_sample(void *context, const struct host_sample *sample)
{
	struct seen *seen = context;

	if (seen->count < 512)
		seen->samples[seen->count] = *sample;
	seen->count++;
	return 0;
}

static void only_an_exec_has_a_whole_command_line(void **state)
{
	static const enum life_kind kinds[] = { LIFE_EXEC, LIFE_SPAWN, LIFE_EXIT, LIFE_KILL };
	struct room room = make_room();
	struct history *writer = create(&room);
	struct error error = { 0 };
	char command[3001];

	(void)state;
	memset(command, 'x', sizeof(command) - 1);
	command[sizeof(command) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		assert_int_equal(history_add_event(writer,
						   &(struct life_event){ .kind = kinds[i],
									 .unix_ns = BEGIN_NS,
									 .task = { 7, 7, 70 },
									 .cmd = command },
						   &error),
				 0);
	assert_int_equal(history_commit(writer, &error), 0);
	assert_true(ask(&room, "SELECT length(cmd) FROM events WHERE kind = 'exec'") == 3000);
	assert_true(ask(&room, "SELECT count(*) FROM events WHERE length(cmd) = 256") == 3);
	history_close(writer);
	remove_room(&room);
}

static void events_are_read_newest_first(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room), *reader;
	struct seen *seen = calloc(1, sizeof(*seen));
	struct error error = { 0 };
	struct life_event spawn = { .kind = LIFE_SPAWN,
				    .unix_ns = BEGIN_NS,
				    .task = { 7, 7, 70 },
				    .parent_pid = 1,
				    .comm = "a\xff\n",
				    .cmd = "a \x1b[2J" };
	struct life_event end = { .kind = LIFE_EXIT,
				  .unix_ns = BEGIN_NS + 9,
				  .task = { 7, 7, 70 },
				  .present = LIFE_HAS_STATUS | LIFE_HAS_PEAK | LIFE_HAS_UID |
					     LIFE_HAS_SENDER,
				  .status = 9,
				  .sender_pid = 3,
				  .peak_rss_bytes = 4096 };
	struct life_event lost = {
		.kind = LIFE_LOST, .unix_ns = BEGIN_NS + 10, .lost = 5, .details = "ring full"
	};
	uint64_t last = 0;

	(void)state;
	amounts_set(&end.amounts, AMOUNT_run_time_ns, 123);
	amounts_set(&end.amounts, AMOUNT_write_bytes, 0);
	assert_int_equal(history_add_event(writer, &spawn, &error), 0);
	assert_int_equal(history_add_event(writer, &end, &error), 0);
	assert_int_equal(history_add_event(writer, &lost, &error), 0);
	assert_int_equal(history_commit(writer, &error), 0);
	reader = open_history(&room);
	assert_int_equal(history_events(reader, &(struct event_query){ .span = always }, see_event,
					seen, &last, &error),
			 0);
	assert_int_equal(seen->count, 3);
	assert_int_equal(seen->events[0].kind, LIFE_LOST);
	assert_int_equal(seen->events[0].lost, 5);
	assert_string_equal(seen->texts[0], "-|ring full");
	assert_int_equal(seen->events[1].status, 9);
	assert_int_equal(seen->events[1].signal, 9);
	assert_int_equal(seen->events[1].present, end.present);
	assert_int_equal(seen->events[1].sender_pid, 3);
	assert_int_equal(seen->events[1].peak_rss_bytes, 4096);
	assert_int_equal(amounts_get(&seen->events[1].amounts, AMOUNT_run_time_ns), 123);
	assert_true(amounts_has(&seen->events[1].amounts, AMOUNT_write_bytes));
	assert_false(amounts_has(&seen->events[1].amounts, AMOUNT_read_bytes));
	assert_string_equal(seen->events[2].comm, "a\xff\n");
	assert_string_equal(seen->texts[2], "a \x1b[2J|-");
	assert_int_equal(seen->events[2].task.start_ns, 70);
	assert_int_equal(seen->events[2].present, 0);
	/* A follower gets what came after. */
	assert_int_equal(history_add_event(writer, &spawn, &error), 0);
	assert_int_equal(history_commit(writer, &error), 0);
	seen->count = 0;
	assert_int_equal(history_events(reader,
					&(struct event_query){ .span = always, .after_id = last },
					see_event, seen, &last, &error),
			 0);
	assert_int_equal(seen->count, 1);
	/* By kind, by pid, a few. */
	seen->count = 0;
	assert_int_equal(history_events(reader,
					&(struct event_query){ .span = always,
							       .kinds = 1u << LIFE_SPAWN,
							       .pid = 7,
							       .limit = 1 },
					see_event, seen, NULL, &error),
			 0);
	assert_int_equal(seen->count, 1);
	assert_int_equal(seen->events[0].kind, LIFE_SPAWN);
	free(seen);
	history_close(reader);
	history_close(writer);
	remove_room(&room);
}

static void an_episode_is_one_row(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room), *reader;
	struct seen *seen = calloc(1, sizeof(*seen));
	struct error error = { 0 };
	struct anomaly anomaly = { .id = 1,
				   .rule = ANOMALY_ZOMBIE,
				   .begin_unix_ns = BEGIN_NS,
				   .task = { 5, 5, 50 },
				   .comm = "z",
				   .value = 1.5,
				   .tasks = { { 5, 6, 60 } },
				   .task_count = 1,
				   .details = "it is dead" };

	(void)state;
	assert_int_equal(history_put_anomaly(writer, ANOMALY_OPENED, &anomaly, &error), 0);
	anomaly.severity = SEVERITY_HIGH;
	anomaly.peak = 7;
	assert_int_equal(history_put_anomaly(writer, ANOMALY_GREW, &anomaly, &error), 0);
	anomaly.end_unix_ns = BEGIN_NS + 100;
	assert_int_equal(history_put_anomaly(writer, ANOMALY_CLOSED, &anomaly, &error), 0);
	anomaly = (struct anomaly){ .id = 2, .rule = ANOMALY_OOM, .begin_unix_ns = BEGIN_NS + 50 };
	assert_int_equal(history_put_anomaly(writer, ANOMALY_OPENED, &anomaly, &error), 0);
	assert_int_equal(history_commit(writer, &error), 0);
	reader = open_history(&room);
	assert_int_equal(history_anomalies(reader, &(struct anomaly_query){ .span = always },
					   see_anomaly, seen, &error),
			 0);
	assert_int_equal(seen->count, 2);
	assert_int_equal(seen->anomalies[0].rule, ANOMALY_OOM);
	assert_int_equal(seen->changes[0], ANOMALY_OPENED);
	assert_int_equal(seen->changes[1], ANOMALY_CLOSED);
	assert_int_equal(seen->anomalies[1].severity, SEVERITY_HIGH);
	assert_true(seen->anomalies[1].peak == 7);
	assert_int_equal(seen->anomalies[1].task_count, 1);
	assert_int_equal(seen->anomalies[1].tasks[0].tid, 6);
	assert_string_equal(seen->anomalies[1].details, "it is dead");
	seen->count = 0;
	assert_int_equal(
		history_anomalies(reader,
				  &(struct anomaly_query){ .span = always, .open_only = true },
				  see_anomaly, seen, &error),
		0);
	assert_int_equal(seen->count, 1);
	/* The next recorder closes what the last one left open. */
	history_close(writer);
	writer = create(&room);
	seen->count = 0;
	assert_int_equal(
		history_anomalies(reader,
				  &(struct anomaly_query){ .span = always, .open_only = true },
				  see_anomaly, seen, &error),
		0);
	assert_int_equal(seen->count, 0);
	free(seen);
	history_close(reader);
	history_close(writer);
	remove_room(&room);
}

static void minutes_have_the_least_the_mean_and_the_most(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room);

	(void)state;
	add_ticks(writer, &small, 0, 24);
	history_close(writer);
	/* Process 3 was another one every 7 ticks: 4 of them. */
	assert_true(ask(&room, "SELECT count(*) FROM processes") == 12 + 3);
	assert_true(ask(&room, "SELECT count(*) FROM processes WHERE pid=1300") == 4);
	assert_true(ask(&room, "SELECT rss_bytes_mean FROM process_minutes JOIN processes ON "
			       "id=process WHERE pid=1200") == 3 << 20);
	/* An idle process has one row for both minutes. */
	assert_true(ask(&room, "SELECT minutes FROM process_minutes JOIN processes ON id=process "
			       "WHERE pid=1200") == 2);
	assert_true(ask(&room, "SELECT samples FROM process_minutes JOIN processes ON id=process "
			       "WHERE pid=1200") == 24);
	assert_true(ask(&room, "SELECT cpu_percent_mean FROM process_minutes JOIN processes ON "
			       "id=process WHERE pid=1000 ORDER BY ts_ns DESC") == 10);
	assert_true(ask(&room, "SELECT write_bytes_per_second_max FROM process_minutes JOIN "
			       "processes ON id=process WHERE pid=1000") == 1638);
	assert_true(ask(&room, "SELECT open_fds_min FROM process_minutes JOIN processes ON "
			       "id=process WHERE pid=1000") == 8);
	assert_true(ask(&room, "SELECT open_fds_max FROM process_minutes JOIN processes ON "
			       "id=process WHERE pid=1000") == 12);
	assert_true(ask(&room, "SELECT sum(minutes) FROM process_minutes JOIN processes ON "
			       "id=process WHERE pid=1000") == 2);
	remove_room(&room);
}

static void what_is_old_goes_and_minutes_stay(void **state)
{
	const struct history_retention kept = { .raw_ns = HOUR_NS,
						.minutes_ns = 10 * HOUR_NS,
						.events_ns = 10 * HOUR_NS,
						.outcomes_ns = UINT64_MAX,
						.bytes = UINT64_MAX };
	struct room room = make_room();
	struct history *writer = create_with(&room, &kept), *reader;
	struct seen *seen = calloc(1, sizeof(*seen));
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	uint64_t hours = 3, ticks = hours * 720, size;

	(void)state;
	add_ticks(writer, &small, 0, ticks);
	assert_int_equal(history_expire(writer, BEGIN_NS, &error), 0);
	size = file_size(&room);
	assert_int_equal(history_expire(writer, BEGIN_NS + hours * HOUR_NS, &error), 0);
	assert_true(file_size(&room) < size * 2 / 3);
	reader = open_history(&room);
	assert_true(ask(&room, "SELECT count(*) FROM ticks") >= 720);
	assert_true(ask(&room, "SELECT count(*) FROM ticks") < 720 + 121);
	assert_true(ask(&room, "SELECT count(*) FROM host_samples") == 720);
	assert_true(ask(&room, "SELECT count(*) FROM host_minutes") == 120);
	assert_true(ask(&room, "SELECT load1 FROM host_minutes") == 46 / 12.0);
	/* A time that has ticks, and one that has minutes only. */
	assert_tick(reader, &small, BEGIN_NS + 2 * HOUR_NS + 2 * SECOND_NS, 1440);
	assert_int_equal(history_snapshot(reader, BEGIN_NS + HOUR_NS, &snapshot, &error), 0);
	assert_string_equal(snapshot->facts[FACT_resolution].text, "minute");
	assert_int_equal(snapshot->process_count, 12);
	assert_int_equal(snapshot->columns[METRIC_rss_bytes].values[2], 3 << 20);
	assert_null(snapshot->columns[METRIC_run_time_ns].values);
	assert_non_null(snapshot->columns[METRIC_run_time_ns].absent);
	assert_null(snapshot->columns[METRIC_rss_bytes].absent);
	assert_true(snapshot->facts[FACT_boottime_ns].number == HOUR_NS + 100 * SECOND_NS);
	snapshot_free(snapshot);
	assert_int_equal(history_samples(reader, &always, 0, see_sample, seen, &error), 0);
	assert_int_equal(seen->count, 720 + 120);
	assert_true(seen->samples[0].unix_ns > seen->samples[1].unix_ns);
	assert_true(host_sample_has(&seen->samples[0], HOST_VALUE_load1));
	assert_false(host_sample_has(&seen->samples[0], HOST_VALUE_load5));
	free(seen);
	history_close(reader);
	history_close(writer);
	remove_room(&room);
}

static void add_levels(struct history *history, uint64_t tick, enum pressure_level level,
		       const char *scope)
{
	struct snapshot *snapshot = made_snapshot(&small, tick);
	struct host_sample sample = made_sample(&small, tick);
	struct error error = { 0 };

	sample.pressure_level = level;
	sample.scope_pressure_level = PRESSURE_LOW;
	snprintf(sample.scope, sizeof(sample.scope), "%s", scope);
	assert_int_equal(
		history_add_tick(history,
				 &(struct history_tick){ .snapshot = snapshot, .sample = &sample },
				 &error),
		0);
	assert_int_equal(history_commit(history, &error), 0);
	snapshot_free(snapshot);
}

static void a_minute_has_the_worst_level_and_its_scope(void **state)
{
	struct history_retention kept = history_retention_defaults;
	struct seen *seen = calloc(1, sizeof(*seen));
	struct room room = make_room();
	struct history *writer, *reader;
	struct error error = { 0 };

	(void)state;
	kept.raw_ns = HOUR_NS;
	writer = create_with(&room, &kept);
	add_levels(writer, 0, PRESSURE_NONE, "cgroup /a");
	add_levels(writer, 1, PRESSURE_CRITICAL, "cgroup /a");
	add_levels(writer, 2, PRESSURE_LOW, "cgroup /a");
	add_levels(writer, 720, PRESSURE_NONE, "");
	assert_int_equal(history_expire(writer, BEGIN_NS + HOUR_NS + 70 * SECOND_NS, &error), 0);
	reader = open_history(&room);
	assert_int_equal(history_samples(reader, &always, 0, see_sample, seen, &error), 0);
	assert_int_equal(seen->count, 2);
	assert_int_equal(seen->samples[1].pressure_level, PRESSURE_CRITICAL);
	assert_int_equal(seen->samples[1].scope_pressure_level, PRESSURE_LOW);
	assert_string_equal(seen->samples[1].scope, "cgroup /a");
	assert_string_equal(seen->samples[0].scope, "");
	assert_false(host_sample_has_scope_level(&seen->samples[0]));
	free(seen);
	history_close(reader);
	history_close(writer);
	remove_room(&room);
}

static void the_file_stays_below_its_limit(void **state)
{
	const struct made_host large = { 100, 4, BEGIN_NS, 5 * SECOND_NS };
	struct history_retention kept = history_retention_defaults;
	struct room room = make_room();
	struct history *writer, *reader;

	(void)state;
	kept.bytes = 3 << 20;
	writer = create_with(&room, &kept);
	for (uint64_t tick = 0; tick < 3000; tick++) {
		add_tick(writer, &large, tick);
		assert_true(file_size(&room) < 4 << 20);
	}
	reader = open_history(&room);
	assert_tick(reader, &large, UINT64_MAX, 2999);
	history_close(reader);
	history_close(writer);
	assert_true(file_size(&room) <= kept.bytes);
	remove_room(&room);
}

static void a_second_recorder_is_refused(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room), *second = NULL;
	struct error error = { 0 };
	char wanted[300], *note;

	(void)state;
	assert_int_equal(
		history_create(room.path, &history_retention_defaults, &second, &note, &error),
		-EBUSY);
	snprintf(wanted, sizeof(wanted),
		 "%s is in use: the recorder with pid %d writes it; choose another with --store",
		 room.path, (int)getpid());
	assert_string_equal(error.message, wanted);
	history_close(writer);
	writer = create(&room);
	history_close(writer);
	remove_room(&room);
}

static void files_are_for_their_owner_only(void **state)
{
	struct room room = make_room();
	struct history *writer = create(&room);
	char name[160];
	struct stat file;

	(void)state;
	assert_int_equal(stat(room.path, &file), 0);
	assert_int_equal(file.st_mode & 0777, 0600);
	snprintf(name, sizeof(name), "%s-wal", room.path);
	assert_int_equal(stat(name, &file), 0);
	assert_int_equal(file.st_mode & 0777, 0600);
	snprintf(name, sizeof(name), "%s/below", room.directory);
	assert_int_equal(stat(name, &file), 0);
	assert_int_equal(file.st_mode & 0777, 0700);
	history_close(writer);
	remove_room(&room);
}

static void a_folder_where_others_can_rename_is_refused(void **state)
{
	struct history *history = NULL;
	struct error error = { 0 };
	char path[128] = "/tmp/exposed.XXXXXX";
	char *note = NULL, *name;

	(void)state;
	assert_non_null(mkdtemp(path));
	assert_int_equal(chmod(path, 0777), 0);
	name = path + strlen(path);
	snprintf(name, 8, "/r.db");
	assert_int_equal(history_create(path, &history_retention_defaults, &history, &note, &error),
			 -EACCES);
	assert_int_equal(access(path, F_OK), -1);
	*name = '\0';
	/* With the sticky bit nobody can. */
	assert_int_equal(chmod(path, 01777), 0);
	*name = '/';
	assert_int_equal(history_create(path, &history_retention_defaults, &history, &note, &error),
			 0);
	history_close(history);
	unlink(path);
	*name = '\0';
	assert_int_equal(rmdir(path), 0);
}

static void a_newer_version_is_refused(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct error error = { 0 };
	char *note;

	(void)state;
	history_close(history);
	change_bytes(&room, 60, "\0\0\1\0", 4);
	assert_int_equal(history_open(room.path, &history, &error), -ENOTSUP);
	assert_non_null(strstr(error.message, "newer taskscope (version 256)"));
	error = (struct error){ 0 };
	assert_int_equal(
		history_create(room.path, &history_retention_defaults, &history, &note, &error),
		-ENOTSUP);
	remove_room(&room);
}

static void a_damaged_one_is_set_aside(void **state)
{
	struct room room = make_room();
	struct history *history = create(&room);
	struct error error = { 0 };
	char garbage[4096], *note = NULL;

	(void)state;
	add_ticks(history, &small, 0, 3);
	history_close(history);
	memset(garbage, 0xa5, sizeof(garbage));
	change_bytes(&room, 100, garbage, sizeof(garbage) - 100);
	assert_int_equal(history_open(room.path, &history, &error), -EBADMSG);
	error = (struct error){ 0 };
	assert_int_equal(
		history_create(room.path, &history_retention_defaults, &history, &note, &error), 0);
	assert_non_null(note);
	assert_non_null(strstr(note, "r.db.damaged-"));
	free(note);
	add_ticks(history, &small, 0, 3);
	history_close(history);
	history = open_history(&room);
	assert_tick(history, &small, UINT64_MAX, 2);
	history_close(history);
	remove_room(&room);
}

static void one_with_a_long_name_is_set_aside(void **state)
{
	struct room room = make_room();
	char garbage[4096], path[400], *note = NULL;
	struct error error = { 0 };
	struct history *history;

	(void)state;
	history_close(create(&room));
	memset(garbage, 0xa5, sizeof(garbage));
	change_bytes(&room, 100, garbage, sizeof(garbage) - 100);
	snprintf(path, sizeof(path), "%s/%0240d", room.directory, 0);
	assert_int_equal(rename(room.path, path), 0);
	assert_int_equal(history_create(path, &history_retention_defaults, &history, &note, &error),
			 0);
	assert_non_null(strstr(note, "000.damaged-"));
	free(note);
	history_close(history);
	remove_room(&room);
}

static void other_files_are_left_alone(void **state)
{
	struct room room = make_room();
	struct history *history = NULL;
	struct error error = { 0 };
	sqlite3 *handle;
	char *note;
	FILE *file;

	(void)state;
	assert_int_equal(history_open(room.path, &history, &error), -ENOENT);
	snprintf(room.path, sizeof(room.path), "%s/notes.txt", room.directory);
	file = fopen(room.path, "w");
	for (int i = 0; i < 100; i++)
		fputs("my diary\n", file);
	fclose(file);
	error = (struct error){ 0 };
	assert_int_equal(history_open(room.path, &history, &error), -EBADMSG);
	assert_int_equal(
		history_create(room.path, &history_retention_defaults, &history, &note, &error),
		-EBADMSG);
	assert_int_equal(access(room.path, F_OK), 0);
	snprintf(room.path, sizeof(room.path), "%s/other.db", room.directory);
	assert_int_equal(sqlite3_open(room.path, &handle), 0);
	assert_int_equal(sqlite3_exec(handle, "CREATE TABLE t(a)", NULL, NULL, NULL), 0);
	sqlite3_close(handle);
	error = (struct error){ 0 };
	assert_int_equal(
		history_create(room.path, &history_retention_defaults, &history, &note, &error),
		-EINVAL);
	assert_non_null(strstr(error.message, "is a database of another program"));
	remove_room(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_instant_is_read_as_its_snapshot),
		cmocka_unit_test(a_burst_is_kept_by_itself),
		cmocka_unit_test(only_an_exec_has_a_whole_command_line),
		cmocka_unit_test(events_are_read_newest_first),
		cmocka_unit_test(an_episode_is_one_row),
		cmocka_unit_test(minutes_have_the_least_the_mean_and_the_most),
		cmocka_unit_test(what_is_old_goes_and_minutes_stay),
		cmocka_unit_test(a_minute_has_the_worst_level_and_its_scope),
		cmocka_unit_test(the_file_stays_below_its_limit),
		cmocka_unit_test(a_second_recorder_is_refused),
		cmocka_unit_test(files_are_for_their_owner_only),
		cmocka_unit_test(a_folder_where_others_can_rename_is_refused),
		cmocka_unit_test(a_newer_version_is_refused),
		cmocka_unit_test(a_damaged_one_is_set_aside),
		cmocka_unit_test(one_with_a_long_name_is_set_aside),
		cmocka_unit_test(other_files_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
