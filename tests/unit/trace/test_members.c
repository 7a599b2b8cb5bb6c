/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"
#include "host/host.h"
#include "trace/proc/members.h"
#include "trace/proc/proc_sample.h"

#define MS 1000000ull

/* The last event of each kind. */
struct seen {
	struct tree_account account;
	struct tree_process_facts facts;
	unsigned accounts, ends, forks;
};

static int take(void *context, const struct tree_event *event)
{
	struct seen *seen = context;

	if (event->type == TREE_THREAD) {
		seen->account = event->account;
		seen->accounts++;
	}
	if (event->type == TREE_PROCESS) {
		seen->facts = event->process;
		seen->ends += event->process.ended;
	}
	seen->forks += event->type == TREE_FORK;
	return 0;
}

struct scene {
	struct members members;
	struct seen seen;
	struct host *host;
};

static int set_up(void **state)
{
	static struct scene scene;
	struct error error = { 0 };

	scene = (struct scene){ 0 };
	assert_int_equal(host_open(&scene.host, NULL, &error), 0);
	scene.members.host = scene.host;
	members_set_sink(&scene.members, take, &scene.seen);
	*state = &scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	members_clear(&scene->members);
	host_close(scene->host);
	return 0;
}

/* Numbers beyond any that the kernel gives out, so that proc has none of them. */
enum { TOP = 2000000001, MIDDLE, LOW, SECOND_THREAD };

static struct member *add(struct members *members, int32_t pid, int32_t parent_pid)
{
	const struct task_key key = { pid, pid, 1 };
	struct member *member = members_add(members, &key, parent_pid, 10 * MS);

	assert_non_null(member);
	return member;
}

static struct proc_sample sample_thread(uint64_t cpu_ns, uint64_t waited_ns, int32_t parent_pid)
{
	struct proc_sample sample = { .state = 'S',
				      .parent_pid = parent_pid,
				      .waited_ns = waited_ns };

	amounts_set(&sample.counters, AMOUNT_run_time_ns, cpu_ns);
	amounts_set(&sample.counters, AMOUNT_utime_ns, 30);
	amounts_set(&sample.counters, AMOUNT_stime_ns, 10);
	return sample;
}

static void learn(struct member_thread *thread, uint64_t cpu_ns, uint64_t waited_ns,
		  int32_t parent_pid)
{
	struct proc_sample sample = sample_thread(cpu_ns, waited_ns, parent_pid);

	member_thread_learn(thread, &sample);
}

static struct member_thread *leader(const struct member *member)
{
	return member->threads.data[0];
}

static void expect_usage(const struct amounts *usage, uint64_t cpu_ns, uint64_t user_ns,
			 uint64_t system_ns)
{
	assert_int_equal(amounts_get(usage, AMOUNT_run_time_ns), cpu_ns);
	assert_int_equal(amounts_get(usage, AMOUNT_utime_ns), user_ns);
	assert_int_equal(amounts_get(usage, AMOUNT_stime_ns), system_ns);
}

static void what_nobody_saw_is_what_the_parent_is_charged_beyond_its_known_children(void **state)
{
	struct scene *scene = *state;
	struct member *parent = add(&scene->members, TOP, 1);
	struct member *child = add(&scene->members, MIDDLE, TOP);

	learn(leader(child), 20 * MS, 0, TOP);
	members_end(&scene->members, child, 50 * MS);
	learn(leader(parent), 5 * MS, 70 * MS, 1);
	member_update_unseen(parent);
	assert_int_equal(parent->unseen_ns, 50 * MS);
	/* A charge that comes late does not make it fall. */
	parent->known_ns += 10 * MS;
	member_update_unseen(parent);
	assert_int_equal(parent->unseen_ns, 50 * MS);
}

static void what_a_grandchild_used_is_charged_once(void **state)
{
	struct scene *scene = *state;
	struct member *top = add(&scene->members, TOP, 1);
	struct member *middle = add(&scene->members, MIDDLE, TOP);
	struct member *low = add(&scene->members, LOW, MIDDLE);

	learn(leader(low), 20 * MS, 0, MIDDLE);
	members_end(&scene->members, low, 50 * MS);
	learn(leader(middle), 5 * MS, 30 * MS, TOP);
	member_update_unseen(middle);
	assert_int_equal(middle->unseen_ns, 10 * MS);
	members_end(&scene->members, middle, 60 * MS);
	learn(leader(top), MS, 35 * MS, 1);
	member_update_unseen(top);
	assert_int_equal(top->unseen_ns, 0);
}

static void what_was_used_before_is_not_counted(void **state)
{
	struct scene *scene = *state;
	struct member_thread *thread = leader(add(&scene->members, TOP, 1));
	struct proc_sample sample = sample_thread(100 * MS, 0, 1);

	member_thread_start(&scene->members, thread, &sample);
	learn(thread, 140 * MS, 0, 1);
	members_account(&scene->members, thread, 60 * MS, false);
	expect_usage(&scene->seen.account.amounts, 40 * MS, 30 * MS, 10 * MS);
	assert_int_equal(amounts_get(&scene->seen.account.amounts, AMOUNT_wall_time_ns), 50 * MS);
	assert_false(amounts_has_waits(&scene->seen.account.amounts));
}

static void no_account_falls(void **state)
{
	struct scene *scene = *state;
	struct member_thread *thread = leader(add(&scene->members, TOP, 1));
	struct proc_sample sample = sample_thread(40 * MS, 0, 1);

	member_thread_learn(thread, &sample);
	amounts_set(&sample.counters, AMOUNT_run_time_ns, 30 * MS);
	amounts_set(&sample.counters, AMOUNT_stime_ns, 90);
	member_thread_learn(thread, &sample);
	members_account(&scene->members, thread, 60 * MS, false);
	expect_usage(&scene->seen.account.amounts, 40 * MS, 30 * MS, 10 * MS);
}

static void threads_without_a_last_account_are_counted_as_lost(void **state)
{
	struct scene *scene = *state;
	struct member *member = add(&scene->members, TOP, 1);
	const struct task_key key = { TOP, SECOND_THREAD, 1 };

	assert_non_null(members_add_thread(&scene->members, member, &key, 20 * MS));
	leader(member)->complete = true;
	members_end(&scene->members, member, 50 * MS);
	assert_int_equal(scene->members.lost_threads, 1);
	assert_int_equal(scene->seen.forks, 2);
	assert_int_equal(scene->seen.accounts, 2);
	assert_int_equal(scene->seen.ends, 1);
	assert_null(members_find(&scene->members, TOP));
	assert_null(members_find_thread(&scene->members, SECOND_THREAD));
}

static void the_thread_that_runs_a_program_goes_on_under_the_leaders_number(void **state)
{
	struct scene *scene = *state;
	struct member *member = add(&scene->members, TOP, 1);
	const struct task_key key = { TOP, SECOND_THREAD, 2 };
	struct member_thread *heir = members_add_thread(&scene->members, member, &key, 20 * MS);

	learn(heir, 8 * MS, 0, 0);
	members_replace_leader(&scene->members, heir, 30 * MS);
	assert_ptr_equal(members_find_thread(&scene->members, TOP), heir);
	assert_null(members_find_thread(&scene->members, SECOND_THREAD));
	assert_int_equal(amounts_get(&heir->since, AMOUNT_run_time_ns), 8 * MS);
	assert_int_equal(member->threads.count, 1);
	assert_true(scene->seen.account.ended);
}

static void a_process_ends_with_its_last_thread(void **state)
{
	struct scene *scene = *state;
	struct member *polled = add(&scene->members, TOP, 1), *whole = add(&scene->members, LOW, 1);

	members_end_thread(&scene->members, leader(polled), 30 * MS);
	members_end(&scene->members, polled, 50 * MS);
	assert_int_equal(scene->seen.account.end_ns, 30 * MS);
	assert_int_equal(scene->seen.facts.end_ns, 30 * MS);
	members_end(&scene->members, whole, 60 * MS);
	assert_int_equal(scene->seen.account.end_ns, 60 * MS);
	assert_int_equal(scene->seen.facts.end_ns, 60 * MS);
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(what_nobody_saw_is_what_the_parent_is_charged_beyond_its_known_children),
		SCENE(what_a_grandchild_used_is_charged_once),
		SCENE(what_was_used_before_is_not_counted),
		SCENE(no_account_falls),
		SCENE(threads_without_a_last_account_are_counted_as_lost),
		SCENE(a_process_ends_with_its_last_thread),
		SCENE(the_thread_that_runs_a_program_goes_on_under_the_leaders_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
