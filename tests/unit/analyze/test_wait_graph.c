/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <stdlib.h>

#include "analyze/wait/wait_graph.h"
#include "base/cleanup.h"

#define CAPACITY 8

/* Threads by letter: "ab bc" says that a waits for b, and b for c; those in `going` go on. */
static void build(struct wait_graph *graph, unsigned count, const char *going, const char *edges)
{
	uint32_t number;

	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(
			wait_graph_add(graph, strchr(going, 'a' + (int)i) != NULL, &number), 0);
		assert_int_equal(number, i);
	}
	for (const char *at = edges; *at; at += at[2] ? 3 : 2)
		assert_int_equal(
			wait_graph_connect(graph, (uint32_t)(at[0] - 'a'), (uint32_t)(at[1] - 'a')),
			0);
}

static void assert_cycle(unsigned count, const char *going, const char *edges, char start,
			 const char *expected)
{
	CLEANUP(wait_graph_clear) struct wait_graph graph = { 0 };
	uint32_t found[CAPACITY];
	char letters[CAPACITY + 1] = "";
	int length;

	build(&graph, count, going, edges);
	length = wait_graph_find_cycle(&graph, (uint32_t)(start - 'a'), (uint32_t)(start - 'a') + 1,
				       found, CAPACITY);
	for (int i = 0; i < length; i++)
		letters[i] = (char)('a' + found[i]);
	assert_string_equal(letters, expected);
	assert_int_equal(length, strlen(expected));
}

static void threads_that_wait_for_each_other_are_a_circle(void **state)
{
	(void)state;
	assert_cycle(2, "", "ab ba", 'a', "ab");
	assert_cycle(2, "", "ab ba", 'b', "ba");
	assert_cycle(3, "", "ab bc ca", 'a', "abc");
	assert_cycle(1, "", "aa", 'a', "a");
}

static void one_that_waits_for_a_circle_is_not_part_of_it(void **state)
{
	(void)state;
	assert_cycle(4, "", "ab bc cd dc", 'a', "cd");
	assert_cycle(4, "a", "bc cb", 'a', "");
}

static void a_chain_that_ends_is_none(void **state)
{
	(void)state;
	assert_cycle(3, "c", "ab bc", 'a', "");
	assert_cycle(3, "", "ab bc", 'a', "");
	assert_cycle(1, "", "", 'a', "");
	assert_cycle(1, "", "", 'z', "");
}

static void one_of_several_that_can_go_on_is_enough(void **state)
{
	(void)state;
	assert_cycle(3, "c", "ab ac ba", 'a', "");
	assert_cycle(3, "c", "ab ba bc", 'a', "");
	assert_cycle(3, "", "ab ac ba ca", 'a', "ab");
	/* d may end c's wait, c then b's, b then a's. */
	assert_cycle(4, "d", "ab ba bc cb cd", 'a', "");
}

static void a_circle_that_does_not_fit_is_said_to_be_too_large(void **state)
{
	CLEANUP(wait_graph_clear) struct wait_graph graph = { 0 };
	uint32_t found[2];

	(void)state;
	build(&graph, 3, "", "ab bc ca");
	assert_int_equal(wait_graph_find_cycle(&graph, 0, 1, found, 2), -E2BIG);
}

/* Compares with a search of every path, on small graphs of every shape. */
static bool can_end(const struct wait_graph *graph, uint32_t node, unsigned seen)
{
	bool ends = graph->goes_on.data[node];

	for (size_t i = 0; i < graph->edges.count && !ends; i++)
		if (graph->edges.data[i].from == node && !(seen & 1u << graph->edges.data[i].to))
			ends = can_end(graph, graph->edges.data[i].to,
				       seen | 1u << graph->edges.data[i].to);
	return ends;
}

static void every_small_graph_is_judged_like_a_search_of_all_paths(void **state)
{
	(void)state;
	srand(13);
	for (int round = 0; round < 20000; round++) {
		CLEANUP(wait_graph_clear) struct wait_graph graph = { 0 };
		uint32_t number, found[CAPACITY], nodes = 1 + (uint32_t)rand() % 6;
		int length;

		for (uint32_t i = 0; i < nodes; i++)
			wait_graph_add(&graph, rand() % 8 == 0, &number);
		for (uint32_t i = 0; i < nodes; i++)
			for (int k = rand() % 3; k > 0; k--)
				wait_graph_connect(&graph, i, (uint32_t)rand() % nodes);
		length = wait_graph_find_cycle(&graph, 0, 1, found, CAPACITY);
		assert_true(length >= 0);
		if (length > 0)
			assert_false(can_end(&graph, 0, 1));
		for (int i = 0; i < length; i++)
			assert_false(can_end(&graph, found[i], 1u << found[i]));
	}
}

/* The group comes after its threads. */
static void add_group(struct wait_graph *graph, uint32_t threads)
{
	uint32_t group;

	assert_int_equal(wait_graph_add_group(graph, &group), 0);
	for (uint32_t i = 0; i < threads; i++)
		assert_int_equal(wait_graph_connect(graph, group, i), 0);
}

static void a_group_is_never_part_of_a_circle(void **state)
{
	CLEANUP(wait_graph_clear) struct wait_graph graph = { 0 };
	uint32_t found[CAPACITY];

	(void)state;
	build(&graph, 2, "", "");
	add_group(&graph, 2);
	wait_graph_connect(&graph, 0, 2);
	wait_graph_connect(&graph, 1, 2);
	assert_int_equal(wait_graph_find_cycle(&graph, 0, 2, found, CAPACITY), 2);
	assert_int_equal(found[0], 0);
	assert_int_equal(found[1], 1);
	graph.goes_on.data[1] = true;
	assert_int_equal(wait_graph_find_cycle(&graph, 0, 2, found, CAPACITY), 0);
}

static void a_walk_that_meets_an_earlier_one_is_not_a_circle(void **state)
{
	CLEANUP(wait_graph_clear) struct wait_graph graph = { 0 };
	uint32_t found[CAPACITY];

	(void)state;
	build(&graph, 5, "", "ab cb de ed");
	assert_int_equal(wait_graph_find_cycle(&graph, 0, 3, found, CAPACITY), 0);
	assert_int_equal(wait_graph_find_cycle(&graph, 0, 5, found, CAPACITY), 2);
	assert_int_equal(found[0], 3);
}

/* It would take hours with an edge for each pair, or a search for each thread. */
static void many_that_wait_for_many_are_judged_quickly(void **state)
{
	enum { MANY = 1000000 };
	CLEANUP(wait_graph_clear) struct wait_graph graph = { 0 };
	uint32_t number, found[CAPACITY];

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(wait_graph_add(&graph, false, &number), 0);
	add_group(&graph, MANY);
	for (uint32_t i = 2; i < MANY; i++)
		assert_int_equal(wait_graph_connect(&graph, i, MANY), 0);
	assert_int_equal(wait_graph_find_cycle(&graph, 0, MANY, found, CAPACITY), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_wait_for_each_other_are_a_circle),
		cmocka_unit_test(one_that_waits_for_a_circle_is_not_part_of_it),
		cmocka_unit_test(a_chain_that_ends_is_none),
		cmocka_unit_test(one_of_several_that_can_go_on_is_enough),
		cmocka_unit_test(a_circle_that_does_not_fit_is_said_to_be_too_large),
		cmocka_unit_test(a_group_is_never_part_of_a_circle),
		cmocka_unit_test(a_walk_that_meets_an_earlier_one_is_not_a_circle),
		cmocka_unit_test(many_that_wait_for_many_are_judged_quickly),
		cmocka_unit_test(every_small_graph_is_judged_like_a_search_of_all_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
