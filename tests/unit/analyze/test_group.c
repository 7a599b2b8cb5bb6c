/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "analyze/group/group.h"
#include "analyze/verdict/losses.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/text.h"
#include "hand_grouping.h"
#include "hand_snapshot.h"

static const struct group *find_group(const struct grouping *grouping, const char *key)
{
	for (size_t i = 0; i < grouping->group_count; i++)
		if (strcmp(grouping->groups[i].key, key) == 0)
			return &grouping->groups[i];
	return NULL;
}

static struct grouping *group_with(struct snapshot *snapshot, enum group_axis axis,
				   const struct grouping_options *options)
{
	assert_int_equal(snapshot_finish(snapshot), 0);
	return hand_grouping(snapshot, axis, options);
}

static struct grouping *group_by(struct snapshot *snapshot, enum group_axis axis)
{
	return group_with(snapshot, axis, NULL);
}

static void assert_group(const struct grouping *grouping, const char *key, unsigned tasks)
{
	const struct group *group = find_group(grouping, key);

	if (!group)
		fail_msg("there is no group '%s'", key);
	assert_int_equal(group->tasks, tasks);
}

static void assert_order(const struct grouping *grouping, const char *const *keys, size_t count)
{
	assert_int_equal(grouping->group_count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(grouping->groups[i].key, keys[i]);
}

/* Two processes, five threads; the pool is of the second. */
static struct snapshot *two_processes(void)
{
	struct snapshot *snapshot = hand_new();

	hand_task(snapshot, 10, 10, "init", "/init.scope");
	hand_task(snapshot, 20, 20, "server", "/system.slice/server.service");
	hand_task(snapshot, 20, 21, "pool-1", "/system.slice/server.service");
	hand_task(snapshot, 20, 22, "pool-2", "/system.slice/server.service");
	hand_task(snapshot, 20, 23, "timer7", "/run-17");
	return snapshot;
}

static void threads_of_one_pattern_are_one_group_and_a_single_one_keeps_its_name(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = group_by(snapshot, AXIS_COMM);

	(void)state;
	assert_int_equal(grouping->group_count, 4);
	assert_group(grouping, "pool-{N}", 2);
	assert_group(grouping, "timer7", 1);
	assert_group(grouping, "server", 1);
}

static void two_threads_of_one_name_keep_it_but_by_the_rule_of_ctprof(void **state)
{
	static const struct grouping_options ctprof = { .ctprof_names = true };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	CLEANUP(grouping_free_pointer) struct grouping *theirs = NULL;

	(void)state;
	hand_task(snapshot, 1, 1, "python3", "/");
	hand_task(snapshot, 2, 2, "python3", "/");
	hand_task(snapshot, 3, 3, "alone-1", "/");
	grouping = group_by(snapshot, AXIS_COMM);
	assert_int_equal(grouping->group_count, 2);
	assert_group(grouping, "python3", 2);
	theirs = group_with(snapshot, AXIS_COMM, &ctprof);
	assert_group(theirs, "python{N}", 2);
	assert_group(theirs, "alone-1", 1);
}

static void short_words_of_hex_letters_are_names_but_by_the_rule_of_ctprof(void **state)
{
	static const struct grouping_options ctprof = { .ctprof_names = true };
	static const char *const names[] = { "cc1", "dd", "a1", "cafe1", "1ab" };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	CLEANUP(grouping_free_pointer) struct grouping *theirs = NULL;

	(void)state;
	for (int32_t i = 0; i < (int32_t)ARRAY_SIZE(names); i++)
		hand_task(snapshot, i + 1, i + 1, names[i], "/");
	grouping = group_by(snapshot, AXIS_PCOMM);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_group(grouping, names[i], 1);
	theirs = group_with(snapshot, AXIS_PCOMM, &ctprof);
	assert_group(theirs, "{H}", 4);
	assert_group(theirs, "dd", 1);
}

static void a_path_alone_is_a_pattern_only_where_it_has_an_id(void **state)
{
	static const char with_id[] = "/docker/0123456789ab/job-7";
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	CLEANUP(grouping_free_pointer) struct grouping *cgroups = NULL;
	CLEANUP(grouping_free_pointer) struct grouping *threads = NULL;

	(void)state;
	hand_task(snapshot, 1, 1, "c-0123456789ab", with_id);
	hand_task(snapshot, 2, 2, "x", "/user.slice/user-1000.slice");
	cgroups = group_by(snapshot, AXIS_CGROUP);
	assert_group(cgroups, "/docker/{I}/job-{N}", 1);
	assert_group(cgroups, "/user.slice/user-1000.slice", 1);
	threads = group_by(snapshot, AXIS_COMM);
	assert_group(threads, "c-0123456789ab", 1);
}

static const char *key_of_row(const struct grouping *grouping, uint32_t row)
{
	for (size_t i = 0; i < grouping->group_count; i++)
		for (uint32_t task = 0; task < grouping->groups[i].tasks; task++)
			if (grouping->rows[grouping->groups[i].first + task] == row)
				return grouping->groups[i].key;
	fail_msg("no group has row %u", row);
	return NULL;
}

#define RANDOM_NAMES 60

/* Whether part of the name is long enough to be an id, which is not made of words. */
static bool has_id(const char *name)
{
	size_t run = 0;

	for (; *name && run < 8; name++)
		run = strchr("0123456789abcdef", *name) ? run + 1 : 0;
	return run == 8;
}

/* Words with and without letters behind "f", numbers, and what stands between. */
static void random_name(unsigned *seed, char name[16])
{
	static const char *const pieces[] = { "cc", "a",  "cafe", "dd", "pool", "e", "1",
					      "2",  "17", "300",  "-",	"/",	":" };
	size_t length = 0;

	for (unsigned i = 0; i < 4; i++) {
		*seed = *seed * 1103515245 + 12345;
		length += (size_t)snprintf(name + length, 16 - length, "%s",
					   pieces[*seed / 65536 % ARRAY_SIZE(pieces)]);
		if (length > 9)
			break;
	}
}

/* What no pattern may take away. */
static void skeleton(const char *name, char ret[16])
{
	for (; *name; name++)
		if (*name < '0' || *name > '9')
			*ret++ = *name;
	*ret = '\0';
}

static bool is_pattern(const char *key)
{
	return strchr(key, '{') != NULL;
}

static void check_groups(char names[][16], const struct grouping *grouping,
			 const struct grouping *reversed, const struct grouping *doubled)
{
	for (uint32_t i = 0; i < RANDOM_NAMES; i++) {
		const char *key = key_of_row(grouping, i);
		bool has_other = false;

		assert_string_equal(key, key_of_row(reversed, RANDOM_NAMES - 1 - i));
		assert_string_equal(key, key_of_row(doubled, i));
		assert_string_equal(key, key_of_row(doubled, RANDOM_NAMES + i));
		for (uint32_t k = 0; k < RANDOM_NAMES; k++) {
			char mine[16], other[16];

			if (strcmp(key, key_of_row(grouping, k)) != 0)
				continue;
			has_other |= strcmp(names[i], names[k]) != 0;
			skeleton(names[i], mine);
			skeleton(names[k], other);
			assert_string_equal(mine, other);
		}
		assert_int_equal(is_pattern(key), has_other);
		if (!has_other)
			assert_string_equal(key, names[i]);
	}
}

static void groups_do_not_hang_on_order_and_never_join_different_words(void **state)
{
	unsigned seed = 7;

	(void)state;
	for (int round = 0; round < 20; round++) {
		CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
		CLEANUP(snapshot_free_pointer) struct snapshot *reversed = hand_new();
		CLEANUP(snapshot_free_pointer) struct snapshot *doubled = hand_new();
		CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
		CLEANUP(grouping_free_pointer) struct grouping *backwards = NULL;
		CLEANUP(grouping_free_pointer) struct grouping *twice = NULL;
		char names[RANDOM_NAMES][16];

		for (int32_t i = 0; i < RANDOM_NAMES; i++)
			do
				random_name(&seed, names[i]);
			while (has_id(names[i]));
		for (int32_t i = 0; i < RANDOM_NAMES; i++) {
			hand_task(snapshot, i + 1, i + 1, names[i], "/");
			hand_task(reversed, i + 1, i + 1, names[RANDOM_NAMES - 1 - i], "/");
			hand_task(doubled, i + 1, i + 1, names[i], "/");
		}
		for (int32_t i = 0; i < RANDOM_NAMES; i++)
			hand_task(doubled, RANDOM_NAMES + i + 1, RANDOM_NAMES + i + 1, names[i],
				  "/");
		grouping = group_by(snapshot, AXIS_COMM);
		backwards = group_by(reversed, AXIS_COMM);
		twice = group_by(doubled, AXIS_COMM);
		check_groups(names, grouping, backwards, twice);
	}
}

static void a_number_and_a_hex_id_in_one_place_are_one_group(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;

	(void)state;
	hand_task(snapshot, 1, 1, "run-12345678", "/");
	hand_task(snapshot, 2, 2, "run-1234abcd", "/");
	hand_task(snapshot, 3, 3, "run-87654321", "/");
	grouping = group_by(snapshot, AXIS_COMM);
	assert_int_equal(grouping->group_count, 1);
	assert_group(grouping, "run-{H}", 3);
}

static void an_id_of_the_length_of_a_number_does_not_split_a_group(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;

	(void)state;
	hand_task(snapshot, 1, 1, "run-12345", "/");
	hand_task(snapshot, 2, 2, "run-123456789012", "/");
	hand_task(snapshot, 3, 3, "run-1234abcd", "/");
	grouping = group_by(snapshot, AXIS_COMM);
	assert_int_equal(grouping->group_count, 1);
	assert_group(grouping, "run-{I}", 3);
}

static void busy_and_idle_kernel_workers_are_one_group(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;

	(void)state;
	hand_task(snapshot, 1, 1, "kworker/0:1+events", "/");
	hand_task(snapshot, 2, 2, "kworker/1:3-events", "/");
	grouping = group_by(snapshot, AXIS_PCOMM);
	assert_group(grouping, "kworker/{N}:{N}-events", 2);
}

static void names_stay_as_they_are_when_told_so(void **state)
{
	struct grouping_options options = { .literal_names = true };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	CLEANUP(grouping_free_pointer)
	struct grouping *threads = group_with(snapshot, AXIS_COMM, &options);
	CLEANUP(grouping_free_pointer)
	struct grouping *cgroups = group_with(snapshot, AXIS_CGROUP, &options);
	CLEANUP(grouping_free_pointer)
	struct grouping *all = group_with(snapshot, AXIS_ALL, &options);

	(void)state;
	assert_group(threads, "pool-1", 1);
	assert_group(threads, "pool-2", 1);
	assert_group(cgroups, "/run-17", 1);
	assert_group(all, "/run-17 server/timer7", 1);
}

static void paths_stay_as_they_are_when_told_so(void **state)
{
	struct grouping_options options = { .literal_cgroups = true };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	CLEANUP(grouping_free_pointer)
	struct grouping *cgroups = group_with(snapshot, AXIS_CGROUP, &options);
	CLEANUP(grouping_free_pointer)
	struct grouping *all = group_with(snapshot, AXIS_ALL, &options);

	(void)state;
	assert_group(cgroups, "/run-17", 1);
	assert_group(all, "/run-17 server/timer7", 1);
	assert_group(all, "/system.slice/server.service server/pool-{N}", 2);
}

static void the_first_glob_that_matches_takes_the_place_of_a_path(void **state)
{
	static const char *const globs[] = { "/system.slice/[a-z]*", "/system.slice/**",
					     "/run-[0-9]*" };

	(void)state;
	for (int literal = 0; literal < 2; literal++) {
		struct grouping_options options = { .literal_cgroups = literal,
						    .flatten = globs,
						    .flatten_count = ARRAY_SIZE(globs) };
		CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
		CLEANUP(grouping_free_pointer) struct grouping *cgroups = NULL;
		CLEANUP(grouping_free_pointer) struct grouping *all = NULL;

		hand_task(snapshot, 30, 30, "deep", "/system.slice/a/b");
		hand_task(snapshot, 40, 40, "run", "/run-3");
		cgroups = group_with(snapshot, AXIS_CGROUP, &options);
		assert_int_equal(cgroups->group_count, 4);
		assert_group(cgroups, "/system.slice/[a-z]*", 3);
		assert_group(cgroups, "/system.slice/**", 1);
		assert_group(cgroups, "/run-[0-9]*", 2);
		assert_group(cgroups, "/init.scope", 1);
		all = group_with(snapshot, AXIS_ALL, &options);
		assert_group(all, "/run-[0-9]* run/run", 1);
	}
}

static void a_glob_that_is_wrong_or_can_match_no_path_is_refused(void **state)
{
	static const struct {
		const char *glob;
		int status;
	} examples[] = {
		{ "/fine/*", 0 }, { "**/fine", 0 }, { "/[", -EINVAL }, { "system.slice", -EINVAL },
		{ "*", -EINVAL }, { "", -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		struct grouping_options options = { .flatten = &examples[i].glob,
						    .flatten_count = 1 };
		struct error error = { .message = "" };

		assert_int_equal(grouping_options_check(&options, &error), examples[i].status);
		assert_int_equal(error.message[0] != '\0', examples[i].status != 0);
	}
}

static void groups_know_the_cgroup_that_their_key_begins_with(void **state)
{
	(void)state;
	for (int axis = 0; axis < AXIS_COUNT; axis++) {
		CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
		CLEANUP(grouping_free_pointer) struct grouping *grouping = group_by(snapshot, axis);

		for (size_t i = 0; i < grouping->group_count; i++) {
			const struct group *group = &grouping->groups[i];

			assert_int_equal(group->cgroup != NULL,
					 axis == AXIS_CGROUP || axis == AXIS_ALL);
			if (group->cgroup)
				assert_memory_equal(group->key, group->cgroup,
						    strlen(group->cgroup));
		}
	}
}

static void a_part_of_a_key_that_is_not_known_is_told(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;

	(void)state;
	hand_task(snapshot, 1, 2, "lost", "");
	grouping = group_by(snapshot, AXIS_ALL);
	assert_group(grouping, "(none) (none)/lost", 1);
	assert_string_equal(grouping->groups[0].cgroup, "(none)");
}

static void cgroups_without_tasks_have_keys_of_the_same_classes(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	CLEANUP(census_free_pointer) struct census *census = NULL;
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	CLEANUP(text_free) struct text key = { 0 };
	uint32_t row;

	(void)state;
	hand_task(snapshot, 1, 1, "run", "/run-17");
	assert_int_equal(sheet_add_row(&snapshot->sheets[SHEET_CGROUPS],
				       hand_text(snapshot, "/run-0123abcd"), &row),
			 0);
	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_int_equal(census_new(AXIS_CGROUP, NULL, &census), 0);
	assert_int_equal(census_add(census, snapshot), 0);
	assert_int_equal(grouping_new(snapshot, AXIS_CGROUP, census, NULL, &grouping), 0);
	assert_group(grouping, "/run-{H}", 1);
	assert_int_equal(census_append_key(census, "/run-99", &key), 0);
	assert_string_equal(text_string(&key), "/run-{H}");
	text_clear(&key);
	assert_int_equal(census_append_key(census, "/not/seen-1", &key), 0);
	assert_string_equal(text_string(&key), "/not/seen-{N}");
}

static void a_snapshot_that_was_not_counted_is_refused(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	CLEANUP(census_free_pointer) struct census *census = NULL;
	struct grouping *grouping;

	(void)state;
	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_int_equal(census_new(AXIS_COMM, NULL, &census), 0);
	assert_int_equal(grouping_new(snapshot, AXIS_COMM, census, NULL, &grouping), -EINVAL);
}

static void a_census_of_two_snapshots_gives_both_the_same_keys(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *before = hand_new();
	CLEANUP(snapshot_free_pointer) struct snapshot *after = hand_new();
	CLEANUP(grouping_free_pointer) struct grouping *first = NULL;
	CLEANUP(grouping_free_pointer) struct grouping *second = NULL;
	struct census *census;

	(void)state;
	hand_task(before, 1, 1, "job-1", "/");
	hand_task(before, 4, 4, "python3", "/");
	hand_task(before, 5, 5, "grows-1", "/");
	hand_task(after, 2, 2, "job-2", "/");
	hand_task(after, 3, 3, "alone-1", "/");
	hand_task(after, 4, 4, "python3", "/");
	hand_task(after, 5, 5, "grows-1", "/");
	hand_task(after, 6, 6, "grows-1", "/");
	snapshot_finish(before);
	snapshot_finish(after);
	assert_int_equal(census_new(AXIS_COMM, NULL, &census), 0);
	assert_int_equal(census_add(census, before), 0);
	assert_int_equal(census_add(census, after), 0);
	assert_int_equal(grouping_new(before, AXIS_COMM, census, NULL, &first), 0);
	assert_int_equal(grouping_new(after, AXIS_COMM, census, NULL, &second), 0);
	census_free(census);
	assert_group(first, "job-{N}", 1);
	assert_group(second, "job-{N}", 1);
	assert_group(second, "alone-1", 1);
	/* Alone on each side is alone. */
	assert_group(first, "python3", 1);
	assert_group(second, "python3", 1);
	assert_group(first, "grows-1", 1);
	assert_group(second, "grows-1", 2);
}

/* In a run a number can come again, and several processes can have a thread without one. */
static void tasks_of_one_name_and_number_stay_apart(void **state)
{
	static const enum group_axis own[] = { AXIS_PROCESS, AXIS_THREAD };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
		CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;

		assert_int_equal(snapshot_finish(snapshot), 0);
		for (size_t row = 0; row < 2; row++) {
			struct process *process = &snapshot->processes[row];

			process->tgid = 333;
			process->pcomm = hand_text(snapshot, "true");
			snapshot->tasks[process->first_task].tid = 333;
			snapshot->tasks[process->first_task].comm = process->pcomm;
		}
		grouping = hand_grouping(snapshot, own[i], NULL);
		assert_group(grouping, "true[333]", 1);
		assert_group(grouping, "true[333] #2", own[i] == AXIS_PROCESS ? 4 : 1);
	}
}

static void each_axis_has_its_keys(void **state)
{
	static const struct {
		enum group_axis axis;
		const char *key;
		unsigned tasks;
	} expected[] = {
		{ AXIS_PCOMM, "server", 4 },
		{ AXIS_COMM, "pool-{N}", 2 },
		{ AXIS_COMM_EXACT, "pool-1", 1 },
		{ AXIS_CGROUP, "/run-17", 1 },
		{ AXIS_PROCESS, "server[20]", 4 },
		{ AXIS_THREAD, "pool-2[22]", 1 },
		{ AXIS_USER, "alice", 4 },
		{ AXIS_USER, "uid 77", 1 },
		{ AXIS_SCOPE, "solve 1", 2 },
		{ AXIS_SCOPE, "solve 2", 1 },
		{ AXIS_SCOPE, "", 2 },
		{ AXIS_CONTAINER, "server.service", 3 },
		{ AXIS_CONTAINER, "/run-17", 1 },
		{ AXIS_ALL, "/system.slice/server.service server/pool-{N}", 2 },
		{ AXIS_ALL, "/run-17 server/timer7", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
		CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;

		snapshot->processes[1].user = hand_text(snapshot, "alice");
		hand_set(snapshot, METRIC_uid, 0, 77);
		snapshot->tasks[1].scope = snapshot->tasks[2].scope =
			hand_text(snapshot, "solve 1");
		snapshot->tasks[3].scope = hand_text(snapshot, "solve 2");
		grouping = group_by(snapshot, expected[i].axis);
		assert_group(grouping, expected[i].key, expected[i].tasks);
	}
}

static void axes_are_found_by_the_names_that_the_option_lists(void **state)
{
	char list[128] = "";
	size_t length = 0;

	(void)state;
	for (int axis = 0; axis < AXIS_COUNT; axis++) {
		assert_int_equal(group_axis_find(group_axis_name(axis)), axis);
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
					   axis ? "|" : "", group_axis_name(axis));
	}
	assert_string_equal(list, GROUP_AXES);
	assert_int_equal(group_axis_find("all of them"), -1);
}

static void every_task_is_in_exactly_one_group(void **state)
{
	(void)state;
	for (int axis = 0; axis < AXIS_COUNT; axis++) {
		CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
		CLEANUP(grouping_free_pointer) struct grouping *grouping = group_by(snapshot, axis);
		unsigned seen[5] = { 0 };

		for (size_t i = 0; i < grouping->group_count; i++)
			for (uint32_t t = 0; t < grouping->groups[i].tasks; t++)
				seen[grouping->rows[grouping->groups[i].first + t]]++;
		for (size_t row = 0; row < ARRAY_SIZE(seen); row++)
			assert_int_equal(seen[row], 1);
	}
}

static void processes_with_a_task_in_the_group_are_counted_once(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;

	(void)state;
	hand_task(snapshot, 30, 30, "other", "/");
	hand_task(snapshot, 30, 31, "pool-9", "/");
	grouping = group_by(snapshot, AXIS_COMM);
	assert_int_equal(find_group(grouping, "pool-{N}")->tasks, 3);
	assert_int_equal(find_group(grouping, "pool-{N}")->processes, 2);
}

static void shared_memory_is_counted_once_per_process(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	struct fold fold;

	(void)state;
	hand_set(snapshot, METRIC_rss_bytes, 1, 4096);
	grouping = group_by(snapshot, AXIS_PCOMM);
	group_fold(grouping, find_group(grouping, "server"), METRIC_rss_bytes, &fold);
	assert_int_equal(fold.shape, SHAPE_NUMBER);
	assert_int_equal(fold.number, 4096);
	assert_int_equal(fold.measured, 1);
	assert_int_equal(fold.population, 1);
}

static void the_sum_over_groups_is_the_whole_on_every_axis(void **state)
{
	(void)state;
	for (int axis = 0; axis < AXIS_COUNT; axis++) {
		CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
		CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
		uint64_t memory = 0, faults = 0;
		struct fold fold;

		hand_set(snapshot, METRIC_rss_bytes, 0, 1000);
		hand_set(snapshot, METRIC_rss_bytes, 1, 20000);
		for (uint32_t row = 0; row < 5; row++)
			hand_set(snapshot, METRIC_majflt, row, row + 1);
		grouping = group_by(snapshot, axis);
		for (size_t i = 0; i < grouping->group_count; i++) {
			group_fold(grouping, &grouping->groups[i], METRIC_rss_bytes, &fold);
			memory += fold.number;
			group_fold(grouping, &grouping->groups[i], METRIC_majflt, &fold);
			faults += fold.number;
		}
		assert_int_equal(memory, 21000);
		assert_int_equal(faults, 15);
	}
}

static void coverage_counts_the_measured_tasks_and_nothing_measured_is_absent(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	struct fold fold;

	(void)state;
	hand_set(snapshot, METRIC_majflt, 2, 0);
	grouping = group_by(snapshot, AXIS_PCOMM);
	group_fold(grouping, find_group(grouping, "server"), METRIC_majflt, &fold);
	assert_int_equal(fold.shape, SHAPE_NUMBER);
	assert_int_equal(fold.measured, 1);
	assert_int_equal(fold.population, 4);
	group_fold(grouping, find_group(grouping, "init"), METRIC_majflt, &fold);
	assert_int_equal(fold.shape, SHAPE_ABSENT);
}

static void a_ratio_is_of_the_folded_sums(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	struct fold fold;

	(void)state;
	for (uint32_t row = 1; row < 5; row++) {
		hand_set(snapshot, METRIC_run_time_ns, row, 10);
		hand_set(snapshot, METRIC_wait_time_ns, row, row == 1 ? 120 : 0);
	}
	grouping = group_by(snapshot, AXIS_PCOMM);
	group_fold(grouping, find_group(grouping, "server"), METRIC_cpu_efficiency, &fold);
	assert_int_equal(fold.shape, SHAPE_REAL);
	assert_true(fold.real == 0.25);
	group_fold(grouping, find_group(grouping, "init"), METRIC_cpu_efficiency, &fold);
	assert_int_equal(fold.shape, SHAPE_ABSENT);
}

/* Not counting one of them at all is another thing than not having measured it. */
static void a_sum_of_delays_does_without_what_the_kernel_does_not_count(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	const struct formula *formula = &metrics[METRIC_total_offcpu_delay_ns].formula;
	enum metric_id cause;
	struct fold fold;

	(void)state;
	for (uint32_t row = 1; row < 5; row++)
		for (unsigned i = 0; i < formula->count; i++)
			if (formula->inputs[i] != METRIC_irq_delay_total_ns)
				hand_set(snapshot, formula->inputs[i], row, 10);
	assert_int_equal(snapshot_set_absent(snapshot, METRIC_irq_delay_total_ns, "not counted"),
			 0);
	grouping = group_by(snapshot, AXIS_PCOMM);
	group_fold(grouping, find_group(grouping, "server"), METRIC_total_offcpu_delay_ns, &fold);
	assert_int_equal(fold.shape, SHAPE_REAL);
	assert_int_equal(fold.number, 4 * 60);
	assert_int_equal(fold.measured, 4);
	assert_null(absence_reason(snapshot, METRIC_total_offcpu_delay_ns, &cause));
	group_fold(grouping, find_group(grouping, "server"), METRIC_avg_irq_delay_ns, &fold);
	assert_int_equal(fold.shape, SHAPE_ABSENT);
	hand_set(snapshot, METRIC_irq_delay_total_ns, 0, 5); /* of another process */
	group_fold(grouping, find_group(grouping, "server"), METRIC_total_offcpu_delay_ns, &fold);
	assert_int_equal(fold.shape, SHAPE_ABSENT);
	assert_string_equal(absence_reason(snapshot, METRIC_total_offcpu_delay_ns, &cause),
			    "not counted");
}

static void
what_only_following_gives_is_absent_for_one_reason_and_told_to_who_names_it(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	const struct snapshot *const snapshots[] = { snapshot };
	struct selection all = { 0 }, named = { 0 };
	enum metric_id cause;

	(void)state;
	assert_string_equal(absence_reason(snapshot, METRIC_wait_lock_ns, &cause), ABSENT_UNTRACED);
	assert_string_equal(absence_reason(snapshot, METRIC_wait_for_work_ns, &cause),
			    ABSENT_UNTRACED);
	selection_all(&all);
	selection_add(&named, METRIC_wait_lock_ns);
	selection_drop_untraced(&all, snapshots, 1);
	selection_drop_untraced(&named, snapshots, 1);
	assert_false(selection_has(&all, METRIC_wait_lock_ns));
	assert_false(selection_has(&all, METRIC_wait_for_work_ns));
	assert_true(selection_has(&all, METRIC_wait_time_ns));
	assert_true(selection_has(&named, METRIC_wait_lock_ns));
	hand_set(snapshot, METRIC_wait_lock_ns, 0, 5);
	assert_null(absence_reason(snapshot, METRIC_wait_lock_ns, &cause));
	selection_all(&all);
	selection_drop_untraced(&all, snapshots, 1);
	assert_true(selection_has(&all, METRIC_wait_lock_ns));
}

static void cpu_sets_fold_to_their_sizes_and_a_list_when_all_are_equal(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	struct fold fold;

	(void)state;
	for (uint32_t row = 0; row < 5; row++)
		hand_set(snapshot, METRIC_cpu_affinity, row,
			 hand_text(snapshot, row == 4 ? "5" : "0-3"));
	grouping = group_by(snapshot, AXIS_COMM);
	group_fold(grouping, find_group(grouping, "pool-{N}"), METRIC_cpu_affinity, &fold);
	assert_string_equal(fold.text, "0-3");
	assert_int_equal(fold.min, 4);
	grouping_free(grouping);
	grouping = group_by(snapshot, AXIS_PCOMM);
	group_fold(grouping, find_group(grouping, "server"), METRIC_cpu_affinity, &fold);
	assert_null(fold.text);
	assert_int_equal(fold.min, 1);
	assert_int_equal(fold.max, 4);
}

static struct grouping *four_values(struct snapshot *snapshot)
{
	hand_task(snapshot, 1, 1, "none", "/");
	hand_task(snapshot, 2, 2, "large", "/");
	hand_task(snapshot, 3, 3, "equal-b", "/");
	hand_task(snapshot, 4, 4, "equal-a", "/");
	hand_task(snapshot, 5, 5, "largest", "/");
	hand_set(snapshot, METRIC_majflt, 1, UINT64_MAX - 1);
	hand_set(snapshot, METRIC_majflt, 2, 7);
	hand_set(snapshot, METRIC_majflt, 3, 7);
	hand_set(snapshot, METRIC_majflt, 4, UINT64_MAX);
	return group_by(snapshot, AXIS_COMM);
}

static void missing_values_come_last_either_way_and_equal_ones_by_key(void **state)
{
	static const char *const falling[] = { "largest", "large", "equal-a", "equal-b", "none" };
	static const char *const rising[] = { "equal-a", "equal-b", "large", "largest", "none" };
	struct group_sort sort = { .by = ORDER_METRIC, .metric = METRIC_majflt };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = four_values(snapshot);

	(void)state;
	assert_int_equal(grouping_sort(grouping, &sort), 0);
	assert_order(grouping, falling, ARRAY_SIZE(falling));
	sort.ascending = true;
	assert_int_equal(grouping_sort(grouping, &sort), 0);
	assert_order(grouping, rising, ARRAY_SIZE(rising));
}

#define MANY 300

/* The first ones of a partial order are those of the whole order, and no group is lost. */
static void the_first_groups_are_in_order_however_many_there_are(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
	struct group_sort whole = { .by = ORDER_METRIC, .metric = METRIC_majflt };
	char name[16];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "t%c%c", 'a' + i * 7 % 26, 'a' + i / 26);
		hand_task(snapshot, i + 1, i + 1, name, "/");
	}
	/* Few values, so that many groups are equal, and some have none. */
	for (uint32_t i = 0; i < MANY; i++)
		if (i % 10)
			hand_set(snapshot, METRIC_majflt, i, i * 31 % 17);
	for (size_t first = 1; first < MANY + 2; first += 13) {
		CLEANUP(grouping_free_pointer)
		struct grouping *all = group_by(snapshot, AXIS_THREAD),
				*some = group_by(snapshot, AXIS_THREAD);
		struct group_sort part = whole;
		uint64_t sum = 0;

		part.first = first;
		assert_int_equal(grouping_sort(all, &whole), 0);
		assert_int_equal(grouping_sort(some, &part), 0);
		for (size_t i = 0; i < MANY; i++) {
			if (i < first)
				assert_string_equal(some->groups[i].key, all->groups[i].key);
			sum += snapshot->tasks[some->rows[some->groups[i].first]].tid;
		}
		assert_int_equal(sum, MANY * (MANY + 1) / 2);
	}
}

static void groups_sort_by_key_and_by_number_of_tasks(void **state)
{
	static const char *const by_key[] = { "init", "pool-{N}", "server", "timer7" };
	static const char *const by_tasks[] = { "pool-{N}", "init", "server", "timer7" };
	struct group_sort sort = { .by = ORDER_KEY, .ascending = true };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = group_by(snapshot, AXIS_COMM);

	(void)state;
	assert_int_equal(grouping_sort(grouping, &sort), 0);
	assert_order(grouping, by_key, ARRAY_SIZE(by_key));
	sort = (struct group_sort){ .by = ORDER_TASKS };
	assert_int_equal(grouping_sort(grouping, &sort), 0);
	assert_order(grouping, by_tasks, ARRAY_SIZE(by_tasks));
	/* The rows go with their group. */
	assert_int_equal(snapshot->tasks[grouping->rows[grouping->groups[0].first]].tid, 21);
}

static void the_oldest_task_gives_the_group_its_age(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = two_processes();
	CLEANUP(grouping_free_pointer) struct grouping *grouping = group_by(snapshot, AXIS_COMM);

	(void)state;
	assert_int_equal(group_oldest(grouping, find_group(grouping, "pool-{N}")), 210000000);
}

static void an_empty_snapshot_has_no_groups(void **state)
{
	struct group_sort sort = { .by = ORDER_TASKS };

	(void)state;
	for (int axis = 0; axis < AXIS_COUNT; axis++) {
		CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = hand_new();
		CLEANUP(grouping_free_pointer) struct grouping *grouping = group_by(snapshot, axis);

		assert_int_equal(grouping->group_count, 0);
		assert_int_equal(grouping_sort(grouping, &sort), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			threads_of_one_pattern_are_one_group_and_a_single_one_keeps_its_name),
		cmocka_unit_test(two_threads_of_one_name_keep_it_but_by_the_rule_of_ctprof),
		cmocka_unit_test(short_words_of_hex_letters_are_names_but_by_the_rule_of_ctprof),
		cmocka_unit_test(a_path_alone_is_a_pattern_only_where_it_has_an_id),
		cmocka_unit_test(groups_do_not_hang_on_order_and_never_join_different_words),
		cmocka_unit_test(a_number_and_a_hex_id_in_one_place_are_one_group),
		cmocka_unit_test(an_id_of_the_length_of_a_number_does_not_split_a_group),
		cmocka_unit_test(busy_and_idle_kernel_workers_are_one_group),
		cmocka_unit_test(names_stay_as_they_are_when_told_so),
		cmocka_unit_test(paths_stay_as_they_are_when_told_so),
		cmocka_unit_test(the_first_glob_that_matches_takes_the_place_of_a_path),
		cmocka_unit_test(a_glob_that_is_wrong_or_can_match_no_path_is_refused),
		cmocka_unit_test(groups_know_the_cgroup_that_their_key_begins_with),
		cmocka_unit_test(a_part_of_a_key_that_is_not_known_is_told),
		cmocka_unit_test(cgroups_without_tasks_have_keys_of_the_same_classes),
		cmocka_unit_test(a_snapshot_that_was_not_counted_is_refused),
		cmocka_unit_test(a_census_of_two_snapshots_gives_both_the_same_keys),
		cmocka_unit_test(each_axis_has_its_keys),
		cmocka_unit_test(axes_are_found_by_the_names_that_the_option_lists),
		cmocka_unit_test(every_task_is_in_exactly_one_group),
		cmocka_unit_test(processes_with_a_task_in_the_group_are_counted_once),
		cmocka_unit_test(shared_memory_is_counted_once_per_process),
		cmocka_unit_test(the_sum_over_groups_is_the_whole_on_every_axis),
		cmocka_unit_test(coverage_counts_the_measured_tasks_and_nothing_measured_is_absent),
		cmocka_unit_test(a_ratio_is_of_the_folded_sums),
		cmocka_unit_test(a_sum_of_delays_does_without_what_the_kernel_does_not_count),
		cmocka_unit_test(
			what_only_following_gives_is_absent_for_one_reason_and_told_to_who_names_it),
		cmocka_unit_test(cpu_sets_fold_to_their_sizes_and_a_list_when_all_are_equal),
		cmocka_unit_test(missing_values_come_last_either_way_and_equal_ones_by_key),
		cmocka_unit_test(the_first_groups_are_in_order_however_many_there_are),
		cmocka_unit_test(groups_sort_by_key_and_by_number_of_tasks),
		cmocka_unit_test(the_oldest_task_gives_the_group_its_age),
		cmocka_unit_test(tasks_of_one_name_and_number_stay_apart),
		cmocka_unit_test(an_empty_snapshot_has_no_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
