/* SPDX-License-Identifier: MIT */
/* Which threads do the same as the busiest one. */
#include "hand_run.h"

#include "analyze/verdict/verdict_facts.h"

/* A run of one second: a main thread, and two others, all of that name unless the last has another. */
static struct crew gather(const double on_cpu[3], const char *last_name)
{
	struct run *run = hand_run(1000);
	struct crew crew;

	for (int i = 0; i < 3; i++)
		hand_thread(run, &(struct hand_thread){ .pid = 10,
							.tid = 10 + i,
							.comm = i == 2 ? last_name : "app",
							.on_cpu = on_cpu[i] });
	hand_sum_up(run);
	crew_gather(run, &crew);
	run_free(run);
	return crew;
}

static void the_main_thread_is_no_worker_whatever_its_name(void **state)
{
	struct crew crew = gather((const double[]){ 200, 900, 150 }, "app");

	(void)state;
	assert_int_equal(crew.busiest.tid, 11);
	assert_string_equal(crew.name, "app");
	assert_true(crew.busiest_ns == 900.0 * MS);
	assert_true(crew.others_ns == 150.0 * MS);
	crew = gather((const double[]){ 900, 200, 150 }, "app");
	assert_true(crew.others_ns == 0);
}

static void workers_have_one_name_and_do_something(void **state)
{
	struct crew crew = gather((const double[]){ 10, 900, 150 }, "other");

	(void)state;
	assert_true(crew.others_ns == 0);
	crew = gather((const double[]){ 10, 900, 0.1 }, "app");
	assert_true(crew.others_ns == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_main_thread_is_no_worker_whatever_its_name),
		cmocka_unit_test(workers_have_one_name_and_do_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
