/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "analyze/cgroup/cgroup_match.h"
#include "analyze/compare/comparison.h"
#include "analyze/group/group.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "hand_grouping.h"
#include "hand_snapshot.h"

/* Adds a process with `types` kinds of threads, of which the first is its leader. */
static void add_service(struct snapshot *snapshot, const char *cgroup, const char *name,
			unsigned types)
{
	static int32_t next = 100;
	int32_t tgid = next;

	for (unsigned i = 0; i < types; i++) {
		char comm[32];

		snprintf(comm, sizeof(comm), "%s-%c%c", name, 'g' + i / 20, 'g' + i % 20);
		hand_task(snapshot, tgid, next++, i ? comm : name, cgroup);
	}
}

struct sides {
	struct snapshot *before, *after;
	struct cgroup_types types;
};

static int set_up(void **state)
{
	struct sides *sides = calloc(1, sizeof(*sides));

	sides->before = hand_new();
	sides->after = hand_new();
	*state = sides;
	return 0;
}

static int tear_down(void **state)
{
	struct sides *sides = *state;

	arena_clear(&sides->types.arena);
	snapshot_free(sides->before);
	snapshot_free(sides->after);
	free(sides);
	return 0;
}

static size_t match(struct sides *sides, const struct grouping_options *options)
{
	const struct snapshot *before[] = { sides->before }, *after[] = { sides->after };
	size_t count = 0;

	snapshot_finish(sides->before);
	snapshot_finish(sides->after);
	arena_clear(&sides->types.arena);
	assert_int_equal(cgroup_match((struct compare_side[]){ { before, 1 }, { after, 1 } },
				      options, &sides->types),
			 0);
	for (size_t i = 0; i < sides->types.count; i++)
		count += sides->types.cgroups[i].is_after && sides->types.cgroups[i].match;
	return count;
}

static void assert_match(const struct sides *sides, const char *before, const char *after)
{
	const char *found = cgroup_match_find(&sides->types, after);

	if (!found)
		fail_msg("'%s' is not matched", after);
	assert_string_equal(found, before);
}

static void a_cgroup_of_many_types_is_known_by_them_under_any_name(void **state)
{
	struct sides *sides = *state;

	add_service(sides->before, "/old", "web", 12);
	add_service(sides->after, "/new/place", "web", 12);
	add_service(sides->before, "/stays", "init", 1);
	add_service(sides->after, "/stays", "init", 1);
	assert_int_equal(match(sides, NULL), 1);
	assert_match(sides, "/old", "/new/place");
	assert_null(cgroup_match_find(&sides->types, "/stays"));
	assert_null(cgroup_match_find(&sides->types, NULL));
}

static void nine_tenths_of_all_types_are_enough_and_less_is_not(void **state)
{
	struct sides *sides = *state;

	add_service(sides->before, "/old", "web", 18);
	add_service(sides->after, "/new", "web", 20);
	assert_int_equal(match(sides, NULL), 1);
	assert_match(sides, "/old", "/new");
	add_service(sides->after, "/new", "extra", 1);
	assert_int_equal(match(sides, NULL), 0);
}

static void fewer_than_ten_shared_types_do_not_tell(void **state)
{
	struct sides *sides = *state;

	add_service(sides->before, "/old", "web", 9);
	add_service(sides->after, "/new", "web", 9);
	assert_int_equal(match(sides, NULL), 0);
	add_service(sides->after, "/new", "extra", 1);
	assert_int_equal(match(sides, NULL), 0);
}

static void a_small_cgroup_is_known_by_its_types_and_its_name(void **state)
{
	struct sides *sides = *state;

	add_service(sides->before, "/system.slice/web.service", "web", 2);
	add_service(sides->after, "/app.slice/web.service", "web", 2);
	add_service(sides->before, "/system.slice/cache-blue.service", "cache", 1);
	add_service(sides->after, "/system.slice/cache-green.service", "cache", 1);
	add_service(sides->before, "/docker/0123456789abcdef0123456789abcdef", "box", 1);
	add_service(sides->after, "/docker-0123456789abcdef0123456789abcdef.scope", "box", 1);
	add_service(sides->before, "/one.service", "other", 1);
	add_service(sides->after, "/two.service", "other", 1);
	assert_int_equal(match(sides, NULL), 3);
	assert_match(sides, "/system.slice/web.service", "/app.slice/web.service");
	assert_match(sides, "/system.slice/cache-blue.service",
		     "/system.slice/cache-green.service");
	assert_match(sides, "/docker/{I}", "/docker-{I}.scope");
}

static void a_small_cgroup_that_could_be_one_of_two_is_left_alone(void **state)
{
	struct sides *sides = *state;

	add_service(sides->before, "/app-red.scope", "shell", 1);
	add_service(sides->after, "/app-blue.scope", "shell", 1);
	add_service(sides->after, "/app-green.scope", "shell", 1);
	assert_int_equal(match(sides, NULL), 0);
	/* One that has the very name goes first, and then there is no doubt. */
	add_service(sides->before, "/x/app-green.scope", "shell", 1);
	assert_int_equal(match(sides, NULL), 2);
	assert_match(sides, "/x/app-green.scope", "/app-green.scope");
	assert_match(sides, "/app-red.scope", "/app-blue.scope");
}

static void each_is_matched_once_the_most_alike_first(void **state)
{
	struct sides *sides = *state;

	add_service(sides->before, "/old", "web", 20);
	add_service(sides->after, "/a", "web", 18);
	add_service(sides->after, "/b", "web", 19);
	assert_int_equal(match(sides, NULL), 1);
	assert_match(sides, "/old", "/b");
	add_service(sides->before, "/older", "web", 18);
	assert_int_equal(match(sides, NULL), 2);
	assert_match(sides, "/older", "/a");
	assert_match(sides, "/old", "/b");
}

static void what_is_below_two_that_match_is_found_at_its_place(void **state)
{
	struct sides *sides = *state;

	add_service(sides->before, "/pods/blue/main", "web", 12);
	add_service(sides->after, "/pods/green/main", "web", 12);
	add_service(sides->before, "/pods/blue/aside/log", "log", 3);
	add_service(sides->after, "/pods/green/aside/log", "log", 2);
	add_service(sides->before, "/pods/blue/proxy", "proxy", 1);
	add_service(sides->after, "/pods/green/proxy", "another", 1);
	add_service(sides->before, "/pods/blue/tool", "tool", 3);
	add_service(sides->after, "/pods/green/tool", "tool", 1);
	assert_int_equal(match(sides, NULL), 2);
	assert_match(sides, "/pods/blue/main", "/pods/green/main");
	assert_match(sides, "/pods/blue/aside/log", "/pods/green/aside/log");
}

static void a_side_whose_root_is_inside_the_other_is_found_at_its_place(void **state)
{
	struct sides *sides = *state;

	add_service(sides->before, "/web", "web", 12);
	add_service(sides->after, "/container/web", "web", 12);
	add_service(sides->before, "/log", "log", 3);
	add_service(sides->after, "/container/log", "log", 4);
	assert_int_equal(match(sides, NULL), 2);
	assert_match(sides, "/log", "/container/log");
}

static void numbers_in_names_make_no_types(void **state)
{
	struct sides *sides = *state;

	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "pool-%d", i);
		hand_task(sides->before, 1, 1 + i, name, "/old");
		hand_task(sides->after, 1, 1 + i, name, "/new");
	}
	assert_int_equal(match(sides, NULL), 0);
	/* As they are they differ. */
	assert_int_equal(match(sides, &(struct grouping_options){ .literal_names = true }), 1);
}

static void literal_paths_of_one_template_are_matched(void **state)
{
	struct grouping_options options = { .literal_cgroups = true };
	struct sides *sides = *state;

	add_service(sides->before, "/run-17.scope", "web", 2);
	add_service(sides->after, "/run-23.scope", "web", 2);
	assert_int_equal(match(sides, NULL), 0);
	assert_int_equal(match(sides, &options), 1);
	assert_match(sides, "/run-17.scope", "/run-23.scope");
}

static void a_group_of_b_gets_the_key_it_has_in_a(void **state)
{
	static const struct {
		enum group_axis axis;
		const char *key;
	} expected[] = {
		{ AXIS_CGROUP, "/old" },
		{ AXIS_ALL, "/old web/web" },
	};
	struct sides *sides = *state;

	add_service(sides->before, "/old", "web", 12);
	add_service(sides->after, "/new", "web", 12);
	match(sides, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		CLEANUP(grouping_free_pointer)
		struct grouping *grouping = hand_grouping(sides->after, expected[i].axis, NULL);
		CLEANUP(text_free) struct text key = { 0 };
		const struct group *group;

		group = &grouping->groups[0];
		cgroup_match_append_key(cgroup_match_find(&sides->types, group->cgroup), group,
					&key);
		assert_string_equal(text_string(&key), expected[i].key);
	}
}

static void nothing_is_matched_when_a_side_has_no_cgroup_of_its_own(void **state)
{
	struct sides *sides = *state;

	assert_int_equal(match(sides, NULL), 0);
	add_service(sides->before, "/old", "web", 12);
	assert_int_equal(match(sides, NULL), 0);
	add_service(sides->after, "", "web", 12);
	assert_int_equal(match(sides, NULL), 0);
}

/* Names of letters only, so that no two make a pattern. */
static void letters(char *out, unsigned number)
{
	for (int i = 0; i < 4; i++, number /= 10)
		out[i] = (char)('g' + number % 10);
	out[4] = '\0';
}

static void thousands_of_nearly_equal_cgroups_are_paired_one_to_one(void **state)
{
	enum { CGROUPS = 2000 };
	struct sides *sides = *state;
	char cgroup[32], own[8];

	for (unsigned i = 0; i < CGROUPS; i++) {
		letters(own, i);
		snprintf(cgroup, sizeof(cgroup), "/old/%s", own);
		add_service(sides->before, cgroup, "web", 20);
		add_service(sides->before, cgroup, own, 1);
		snprintf(cgroup, sizeof(cgroup), "/new/x%s", own);
		own[0] += 13;
		add_service(sides->after, cgroup, "web", 20);
		add_service(sides->after, cgroup, own, 1);
	}
	assert_int_equal(match(sides, NULL), CGROUPS);
}

static void several_snapshots_of_a_side_count_as_one(void **state)
{
	struct sides *sides = *state;
	const struct snapshot *before[] = { sides->before, sides->before };
	const struct snapshot *after[] = { sides->after };

	add_service(sides->before, "/old", "web", 12);
	add_service(sides->after, "/new", "web", 12);
	snapshot_finish(sides->before);
	snapshot_finish(sides->after);
	assert_int_equal(cgroup_match((struct compare_side[]){ { before, 2 }, { after, 1 } }, NULL,
				      &sides->types),
			 0);
	assert_match(sides, "/old", "/new");
}

#define MATCH_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		MATCH_TEST(a_cgroup_of_many_types_is_known_by_them_under_any_name),
		MATCH_TEST(nine_tenths_of_all_types_are_enough_and_less_is_not),
		MATCH_TEST(fewer_than_ten_shared_types_do_not_tell),
		MATCH_TEST(a_small_cgroup_is_known_by_its_types_and_its_name),
		MATCH_TEST(a_small_cgroup_that_could_be_one_of_two_is_left_alone),
		MATCH_TEST(each_is_matched_once_the_most_alike_first),
		MATCH_TEST(what_is_below_two_that_match_is_found_at_its_place),
		MATCH_TEST(a_side_whose_root_is_inside_the_other_is_found_at_its_place),
		MATCH_TEST(numbers_in_names_make_no_types),
		MATCH_TEST(literal_paths_of_one_template_are_matched),
		MATCH_TEST(a_group_of_b_gets_the_key_it_has_in_a),
		MATCH_TEST(nothing_is_matched_when_a_side_has_no_cgroup_of_its_own),
		MATCH_TEST(thousands_of_nearly_equal_cgroups_are_paired_one_to_one),
		MATCH_TEST(several_snapshots_of_a_side_count_as_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
