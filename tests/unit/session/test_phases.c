/* SPDX-License-Identifier: MIT */
/* Finding and following the scopes of members; the only one that has any is this process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "own_scopes.h"

#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "host/host.h"
#include "session/phase/phase_search.h"
#include "session/phase/phases.h"
#include "base/output/lines.h"

#define START 1 /* ns: a time that no process of this host has */
#define MANY 70
#define IN_A_LINE 64

struct scene {
	struct own_scopes own;
	struct host *host;
	struct run *run;
	struct phase_watch watch;
	struct lines lines;
	FILE *file;
	char written[1 << 16];
};

static int open_scene(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct error error = { 0 };

	own_scopes_open(&scene->own);
	own_block(&scene->own, 0)->tid = getpid();
	assert_int_equal(host_open(&scene->host, NULL, &error), 0);
	assert_int_equal(run_new(&scene->run), 0);
	scene->run->mode = RUN_ATTACH;
	assert_int_equal(phases_begin(&scene->watch, scene->host, NULL, scene->run), 0);
	scene->file = tmpfile();
	assert_int_equal(lines_open(&scene->lines, scene->file), 0);
	*state = scene;
	return 0;
}

static int close_scene(void **state)
{
	struct scene *scene = *state;

	phases_close(&scene->watch);
	lines_close(&scene->lines);
	fclose(scene->file);
	run_free(scene->run);
	host_close(scene->host);
	own_scopes_close(&scene->own);
	free(scene);
	return 0;
}

/* An event of a process, as the watch passes it on. */
static void happen(struct scene *scene, enum tree_event_type type, int32_t tid, const char *comm)
{
	struct tree_event event = {
		.type = type,
		.task = { getpid(), tid, 0 },
		.time_ns = monotonic_ns(),
	};

	if (type == TREE_THREAD)
		snprintf(event.account.comm, sizeof(event.account.comm), "%s", comm);
	assert_int_equal(tree_apply(scene->run->tree, &event), 0);
	phases_note(&scene->watch, &event);
}

static void begin(struct scene *scene)
{
	happen(scene, TREE_FORK, getpid(), "");
	assert_int_equal(scene->watch.members.count, 1);
	assert_int_equal(scene->watch.readers, 0);
}

static void find(struct scene *scene)
{
	begin(scene);
	phases_search(&scene->watch, monotonic_ns());
	assert_int_equal(scene->watch.readers, 1);
	assert_int_equal(scene->watch.readable, 1);
}

static size_t count_lines(struct scene *scene)
{
	size_t count = 0;
	ssize_t got;

	assert_int_equal(lines_flush(&scene->lines), 0);
	got = pread(scene->lines.fd, scene->written, sizeof(scene->written) - 1, 0);
	assert_true(got >= 0);
	scene->written[got] = 0;
	for (const char *at = scene->written; (at = strchr(at, '\n')); at++)
		count++;
	return count;
}

static void what_is_found_has_a_line_when_it_changes(void **state)
{
	struct scene *scene = *state;
	struct scope_frame *frame =
		(struct scope_frame *)((char *)own_block(&scene->own, 0) + FRAME_OFFSET);

	own_block(&scene->own, 0)->changed_ticks = 1; /* long ago */
	find(scene);
	assert_true(phases_sample(&scene->watch, &scene->lines, monotonic_ns()));
	assert_int_equal(count_lines(scene), 1);
	assert_non_null(strstr(scene->written, "\"kind\":\"scopes\""));
	assert_null(strstr(scene->written, "omitted"));
	assert_true(scene->run->now.present);
	assert_false(phases_sample(&scene->watch, &scene->lines, monotonic_ns()));
	assert_int_equal(count_lines(scene), 1);
	frame->count = 7;
	phases_sample(&scene->watch, &scene->lines, monotonic_ns());
	assert_int_equal(count_lines(scene), 2);
	/* When it is gone nothing is current. */
	happen(scene, TREE_EXEC, getpid(), "");
	assert_false(phases_sample(&scene->watch, &scene->lines, monotonic_ns()));
	assert_false(scene->run->now.present);
	assert_int_equal(count_lines(scene), 2);
}

static void a_new_program_is_searched_again(void **state)
{
	struct scene *scene = *state;
	struct phase_member *member;

	find(scene);
	member = scene->watch.members.data[0];
	assert_true(member->next_ns > 0);
	happen(scene, TREE_EXEC, getpid(), "");
	assert_int_equal(scene->watch.readers, 0);
	assert_int_equal(member->next_ns, 0);
	assert_int_equal(member->execs, 1);
	assert_int_equal(scene->run->phases.list.count, 1); /* what it did is kept */
	phases_search(&scene->watch, monotonic_ns());
	assert_int_equal(scene->watch.readers, 1);
	assert_int_equal(scene->watch.readable, 1);
	/* An event that is none changes nothing. */
	happen(scene, TREE_SIGNAL, getpid(), "");
	assert_int_equal(scene->watch.readers, 1);
}

static void a_heartbeat_is_searched_for_at_once(void **state)
{
	struct scene *scene = *state;
	struct phase_member *member;

	begin(scene);
	member = scene->watch.members.data[0];
	happen(scene, TREE_THREAD, getpid(), SCOPE_HEARTBEAT_NAME); /* the program's own name */
	happen(scene, TREE_THREAD, getpid() + 1, "worker");
	assert_int_equal(scene->watch.readers, 0);
	assert_false(member->has_heartbeat);
	happen(scene, TREE_THREAD, getpid() + 2, SCOPE_HEARTBEAT_NAME);
	assert_int_equal(scene->watch.readers, 1);
	assert_true(member->has_heartbeat && member->is_searched);
	happen(scene, TREE_THREAD, getpid() + 2, SCOPE_HEARTBEAT_NAME);
	assert_int_equal(scene->watch.readers, 1);
	assert_int_equal(scene->run->losses.scopes, 0);
}

static void a_process_that_ended_is_no_member(void **state)
{
	struct scene *scene = *state;
	struct tree_process other = { .key = { getpid(), getpid(), START } };
	const struct tree_process *process;

	find(scene);
	process = tree_find(scene->run->tree, getpid());
	assert_non_null(process);
	scene->watch.members.data[0]->key.start_ns = START + 1;
	phases_end(&scene->watch, &other); /* another process of that number */
	assert_int_equal(scene->watch.members.count, 1);
	scene->watch.members.data[0]->key.start_ns = 0;
	phases_end(&scene->watch, process);
	assert_int_equal(scene->watch.members.count, 0);
	assert_int_equal(scene->watch.readers, 0);
	assert_null(number_map_get(&scene->watch.numbers, getpid()));
	phases_end(&scene->watch, process);
	assert_int_equal(scene->run->phases.list.count, 1);
}

static void of_two_processes_with_one_number_the_later_counts(void **state)
{
	struct scene *scene = *state;

	find(scene);
	scene->watch.members.data[0]->key.start_ns = START;
	((struct tree_process *)tree_find(scene->run->tree, getpid()))->key.start_ns = START + 1;
	happen(scene, TREE_SIGNAL, getpid(), "");
	assert_int_equal(scene->watch.members.count, 1);
	assert_int_equal(scene->watch.readers, 0);
	assert_int_equal(scene->watch.members.data[0]->key.start_ns, START + 1);
	/* Its number is another's on this host: what is found there is not its own. */
	phases_search(&scene->watch, monotonic_ns());
	assert_int_equal(scene->watch.readers, 0);
}

/* After a search that found nothing the next comes later and later, up to five seconds. */
static void searches_become_rare(void **state)
{
	static const uint64_t pauses_ms[] = { 100, 200, 400, 800, 1600, 3200, 5000, 5000 };
	struct scene *scene = *state;
	uint64_t now_ns = monotonic_ns();

	((struct scope_header *)scene->own.memory)->magic = 0;
	begin(scene);
	for (size_t i = 0; i < ARRAY_SIZE(pauses_ms); i++) {
		struct phase_member *member = scene->watch.members.data[0];

		scene->watch.credit_ns = (int64_t)NS_PER_SECOND;
		phases_search(&scene->watch, now_ns);
		assert_int_equal(member->next_ns, now_ns + pauses_ms[i] * NS_PER_MS);
		phases_search(&scene->watch, member->next_ns - 1);
		assert_int_equal(member->next_ns, now_ns + pauses_ms[i] * NS_PER_MS);
		now_ns = member->next_ns;
	}
	assert_true(phases_take_cost(&scene->watch) > 0);
	assert_int_equal(phases_take_cost(&scene->watch), 0);
}

/* Once, a minute after it began, and few at a time. */
static void a_thorough_search_comes_late(void **state)
{
	struct scene *scene = *state;
	uint64_t now_ns = monotonic_ns();
	size_t thorough = 0;

	((struct scope_header *)scene->own.memory)->magic = 0;
	begin(scene);
	scene->watch.members.data[0]->begin_ns = now_ns;
	phases_search(&scene->watch, now_ns + 60 * NS_PER_SECOND - 1);
	assert_false(scene->watch.members.data[0]->is_searched);
	for (int32_t i = 0; i < 6; i++) {
		struct phase_member *member = calloc(1, sizeof(*member));

		*member = (struct phase_member){ .key = { INT32_MAX - i, INT32_MAX - i, 0 },
						 .slot = scene->watch.members.count,
						 .begin_ns = now_ns };
		assert_int_equal(array_append(&scene->watch.members, member), 0);
	}
	scene->watch.members.data[0]->next_ns = UINT64_MAX;
	scene->watch.credit_ns = (int64_t)NS_PER_SECOND;
	phases_search(&scene->watch, now_ns + 60 * NS_PER_SECOND);
	for (size_t i = 0; i < scene->watch.members.count; i++)
		thorough += scene->watch.members.data[i]->is_searched;
	assert_int_equal(thorough, 4);
}

static void searches_have_a_budget(void **state)
{
	struct scene *scene = *state;

	begin(scene);
	scene->watch.credit_ns = -(int64_t)NS_PER_MS;
	scene->watch.credited_ns = BLOCKS; /* some time */
	phases_search(&scene->watch, scene->watch.credited_ns + 399 * NS_PER_MS);
	assert_int_equal(scene->watch.readers, 0);
	assert_int_equal(scene->watch.members.data[0]->next_ns, 0);
	phases_search(&scene->watch, scene->watch.credited_ns + 4000 * NS_PER_MS);
	assert_int_equal(scene->watch.readers, 1);
	/* Credit is not saved up for long. */
	phases_search(&scene->watch, scene->watch.credited_ns + 3600 * NS_PER_SECOND);
	assert_true(scene->watch.credit_ns <= (int64_t)(20 * NS_PER_MS));
	assert_true(scene->watch.credit_ns > 0);
}

static void memory_that_makes_no_sense_is_counted_once(void **state)
{
	struct scene *scene = *state;
	struct scope_header *header = (struct scope_header *)scene->own.memory;

	header->version = SCOPE_VERSION + 1000;
	begin(scene);
	for (int i = 0; i < 3; i++)
		phase_search_member(&scene->watch, scene->watch.members.data[0],
				    SCOPE_SEARCH_QUICK);
	assert_int_equal(scene->watch.strange, 1);
	assert_int_equal(scene->watch.readers, 0);
	assert_int_equal(scene->run->losses.scopes, 0);
}

static void there_are_only_so_many_readers(void **state)
{
	struct scene *scene = *state;

	begin(scene);
	scene->watch.readers = PHASE_READERS_MAX;
	phase_search_member(&scene->watch, scene->watch.members.data[0], SCOPE_SEARCH_QUICK);
	phase_search_member(&scene->watch, scene->watch.members.data[0], SCOPE_SEARCH_QUICK);
	assert_int_equal(scene->watch.readers, PHASE_READERS_MAX);
	assert_int_equal(scene->watch.beyond, 1);
	scene->watch.readers = PHASE_READERS_MAX - 1;
	phase_search_member(&scene->watch, scene->watch.members.data[0], SCOPE_SEARCH_QUICK);
	assert_int_equal(scene->watch.readers, PHASE_READERS_MAX);
	assert_int_equal(scene->watch.beyond, 0);
	scene->watch.readers = 1;
}

static void processes_beyond_the_limit_of_a_line_are_counted(void **state)
{
	struct scene *scene = *state;
	char omitted[32];

	for (int32_t i = 0; i < MANY; i++) {
		struct phase_member *member = calloc(1, sizeof(*member));

		member->key = (struct task_key){ INT32_MAX - i, INT32_MAX - i, 0 };
		member->slot = scene->watch.members.count;
		member->view = calloc(1, sizeof(*member->view));
		member->view->reader = (void *)scene; /* never read: the tree does not know it */
		member->view->is_line_due = true;
		assert_int_equal(array_append(&scene->watch.members, member), 0);
	}
	scene->watch.readers = MANY;
	phases_sample(&scene->watch, &scene->lines, monotonic_ns());
	assert_int_equal(count_lines(scene), 1);
	snprintf(omitted, sizeof(omitted), "\"omitted\":%d}", MANY - IN_A_LINE);
	assert_non_null(strstr(scene->written, omitted));
	/* They come next. */
	phases_sample(&scene->watch, &scene->lines, monotonic_ns());
	assert_int_equal(count_lines(scene), 2);
	phases_sample(&scene->watch, &scene->lines, monotonic_ns());
	assert_int_equal(count_lines(scene), 2);
	for (size_t i = 0; i < MANY; i++)
		scene->watch.members.data[i]->view->reader = NULL;
}

/* What was not seen is in the manifest. */
static void what_could_not_be_read_is_told(void **state)
{
	static const struct {
		uint64_t denied, readable, beyond, strange, failed;
		enum source_state state;
		const char *parts[2];
	} cases[] = {
		{ 0, 1, 0, 0, 0, SOURCE_OK, { NULL, NULL } },
		{ 1, 1, 0, 0, 0, SOURCE_PARTIAL, { "1 process could not be looked at: ", NULL } },
		{ 2, 0, 0, 0, 0, SOURCE_UNAVAILABLE, { "2 processes could not be", NULL } },
		{ 0, 1, 1, 0, 0, SOURCE_PARTIAL, { "1 process with scopes was one too many" } },
		{ 0,
		  1,
		  3,
		  1,
		  0,
		  SOURCE_PARTIAL,
		  { "3 processes with scopes were", "; 1 process has" } },
		{ 0,
		  1,
		  0,
		  2,
		  1,
		  SOURCE_PARTIAL,
		  { "2 processes have", "; 1 read of scopes failed" } },
		{ 0, 0, 0, 0, 4, SOURCE_PARTIAL, { "4 reads of scopes failed", NULL } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scene *scene;
		const struct source_report *source;

		assert_int_equal(open_scene(state), 0);
		scene = *state;
		scene->watch.denied = cases[i].denied;
		scene->watch.readable = cases[i].readable;
		scene->watch.beyond = cases[i].beyond;
		scene->watch.strange = cases[i].strange;
		scene->run->losses.scopes = cases[i].failed;
		assert_int_equal(phases_finish(&scene->watch), 0);
		source = run_source(scene->run, "scopes");
		assert_non_null(source);
		assert_int_equal(source->state, cases[i].state);
		assert_int_equal(scene->run->phases.known, cases[i].state != SOURCE_UNAVAILABLE);
		for (size_t part = 0; part < 2 && cases[i].parts[part]; part++)
			if (!strstr(source->reason, cases[i].parts[part]))
				fail_msg("'%s' is not in '%s'", cases[i].parts[part],
					 source->reason);
		close_scene(state);
	}
}

static void without_a_host_nothing_is_searched(void **state)
{
	struct phase_watch none = { 0 };
	struct lines lines = { 0 };
	struct tree_event event = { .type = TREE_FORK };

	(void)state;
	phases_note(&none, &event);
	phases_search(&none, 1);
	assert_false(phases_sample(&none, &lines, 1));
	assert_int_equal(phases_finish(&none), 0);
	assert_int_equal(none.credited_ns, 0);
	phases_close(&none);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_scene, close_scene)
	const struct CMUnitTest tests[] = {
		TEST(what_is_found_has_a_line_when_it_changes),
		TEST(a_new_program_is_searched_again),
		TEST(a_heartbeat_is_searched_for_at_once),
		TEST(a_process_that_ended_is_no_member),
		TEST(of_two_processes_with_one_number_the_later_counts),
		TEST(searches_become_rare),
		TEST(a_thorough_search_comes_late),
		TEST(searches_have_a_budget),
		TEST(memory_that_makes_no_sense_is_counted_once),
		TEST(there_are_only_so_many_readers),
		TEST(processes_beyond_the_limit_of_a_line_are_counted),
		cmocka_unit_test(what_could_not_be_read_is_told),
		cmocka_unit_test(without_a_host_nothing_is_searched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
