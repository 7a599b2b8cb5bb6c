/* SPDX-License-Identifier: MIT */
/* Scans of a made proc: moments that a real one rarely shows. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"
#include "host/host.h"
#include "trace/proc/proc_sample.h"
#include "trace/proc/scan.h"
#include "tree.h"

#define START_TICKS 22
/* Without its code and stack a process is in the middle of an exec. */
#define STAT(state, code, stack)                                                                   \
	"7 (made) " state " 4 5 6 7 8 0 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 " code     \
	" 27 " stack " 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 0\n"
#define RUNS STAT("S", "4096", "8192")
#define EXECUTES STAT("R", "0", "0")

struct scene {
	struct tree tree;
	struct host *host;
	struct members members;
	struct member *member;
};

static int take(void *context, const struct tree_event *event)
{
	(void)context;
	(void)event;
	return 0;
}

static void set_stat(struct scene *scene, const char *text)
{
	tree_text(&scene->tree, "proc/7/stat", text);
	tree_task_text(&scene->tree, 7, 7, "stat", text);
	tree_task_text(&scene->tree, 7, 8, "stat", text);
}

/* A member with a leader, a thread that is there, and one that is not. */
static int set_up(void **state)
{
	static struct scene scene;
	struct error error = { 0 };
	struct task_key key = { 7, 7, 0 };

	scene = (struct scene){ 0 };
	tree_make(&scene.tree);
	set_stat(&scene, RUNS);
	assert_int_equal(host_open(&scene.host, scene.tree.root, &error), 0);
	scene.members.host = scene.host;
	members_set_sink(&scene.members, take, NULL);
	key.start_ns = START_TICKS * scene.host->tick_ns;
	scene.member = members_add(&scene.members, &key, 4, 1);
	scene.member->executed = true;
	for (key.tid = 8; key.tid <= 9; key.tid++)
		assert_non_null(members_add_thread(&scene.members, scene.member, &key, 1));
	scene.members.round++;
	*state = &scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	members_clear(&scene->members);
	host_close(scene->host);
	tree_remove(&scene->tree);
	return 0;
}

static void who_is_missing_is_lost_but_not_in_the_middle_of_an_exec(void **state)
{
	struct scene *scene = *state;

	set_stat(scene, EXECUTES);
	assert_int_equal(scan_threads(&scene->members, scene->member, false), 0);
	assert_int_equal(scene->member->threads.count, 3);
	assert_int_equal(scene->members.lost_threads, 0);
	set_stat(scene, RUNS);
	assert_int_equal(scan_threads(&scene->members, scene->member, false), 0);
	assert_int_equal(scene->member->threads.count, 2);
	assert_int_equal(scene->members.lost_threads, 1);
}

static void a_thread_without_a_good_line_is_no_sample(void **state)
{
	struct scene *scene = *state;
	struct proc_sample sample = { .parent_pid = 99 };

	tree_task_text(&scene->tree, 7, 8, "stat", "7 (made) S 4 5\n");
	assert_int_equal(proc_sample_thread(scene->host, NULL, 7, 8, &sample), -EBADMSG);
	tree_unlink(&scene->tree, "proc/7/task/8/stat");
	assert_int_equal(proc_sample_thread(scene->host, NULL, 7, 8, &sample), -ESRCH);
	assert_int_equal(sample.parent_pid, 99);
	assert_int_equal(proc_sample_thread(scene->host, NULL, 7, 7, &sample), 0);
	assert_int_equal(sample.parent_pid, 4);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_is_missing_is_lost_but_not_in_the_middle_of_an_exec),
		TEST(a_thread_without_a_good_line_is_no_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
