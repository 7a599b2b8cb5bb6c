/* SPDX-License-Identifier: MIT */
/* Members that are found by looking at /proc: children of this test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scarce_memory.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"
#include "trace/connector/own_child.h"
#include "trace/proc/proc_sample.h"
#include "trace/proc/scan.h"

#define SLEEP                                                                                      \
	"sleep\0"                                                                                  \
	"1000" /* the words of a command */

struct seen {
	unsigned forks, found, execs, accounts, ends;
	int status;
	char arguments[64];
	size_t length;
};

static int take(void *context, const struct tree_event *event)
{
	struct seen *seen = context;

	if (event->type == TREE_FORK) {
		seen->forks++;
		seen->found += event->fork.found;
	}
	if (event->type == TREE_EXEC) {
		seen->execs++;
		seen->length = event->exec.length < sizeof(seen->arguments) ?
				       event->exec.length :
				       sizeof(seen->arguments);
		memcpy(seen->arguments, event->exec.arguments, seen->length);
	}
	seen->accounts += event->type == TREE_THREAD;
	if (event->type == TREE_PROCESS && event->process.ended) {
		seen->ends++;
		seen->status =
			event->process.present & TREE_PROCESS_STATUS ? event->process.status : -1;
	}
	return 0;
}

struct scene {
	struct host *host;
	struct members members;
	struct seen seen;
	int asks[2], answers[2]; /* of the child */
	pid_t test, child;
};

static void *live(void *unused)
{
	pause();
	return unused;
}

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

/* One letter asks for one thing; the answer is a number. */
static void obey(struct scene *scene)
{
	pthread_t thread;
	pid_t pid = 0;
	char ask;

	die_with(scene->test);
	while (read(scene->asks[0], &ask, 1) == 1) {
		if (ask == 't')
			pthread_create(&thread, NULL, live, NULL);
		if (ask == 'f')
			pid = fork();
		if (ask == 'e')
			execl("/bin/sleep", "sleep", "1000", (char *)NULL);
		if (pid == 0 && ask == 'f') {
			die_with(scene->child);
			live(NULL);
		}
		if (ask == 'k')
			kill(pid, SIGKILL);
		if (ask == 'w')
			waitpid(pid, NULL, 0);
		if (ask == 'x')
			_exit(7);
		if (write(scene->answers[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
	}
	_exit(0);
}

static pid_t ask(struct scene *scene, char what)
{
	pid_t answer;

	assert_int_equal(write(scene->asks[1], &what, 1), 1);
	assert_int_equal(read(scene->answers[0], &answer, sizeof(answer)), sizeof(answer));
	return answer;
}

static int set_up(void **state)
{
	static struct scene scene;
	struct error error = { 0 };

	scene = (struct scene){ 0 };
	assert_int_equal(host_open(&scene.host, NULL, &error), 0);
	assert_int_equal(pipe(scene.asks) | pipe(scene.answers), 0);
	scene.test = getpid();
	scene.child = fork();
	if (scene.child == 0) {
		scene.child = getpid();
		obey(&scene);
	}
	scene.members.host = scene.host;
	members_set_sink(&scene.members, take, &scene.seen);
	*state = &scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	members_clear(&scene->members);
	kill(scene->child, SIGKILL);
	waitpid(scene->child, NULL, 0);
	for (int i = 0; i < 2; i++) {
		close(scene->asks[i]);
		close(scene->answers[i]);
	}
	host_close(scene->host);
	return 0;
}

static struct member *follow(struct scene *scene)
{
	struct error error = { 0 };
	struct member *member;

	assert_int_equal(scan_follow(&scene->members, &scene->child, 1, &error), 0);
	member = members_find(&scene->members, scene->child);
	assert_non_null(member);
	return member;
}

static void what_runs_is_found_with_threads_and_descendants(void **state)
{
	struct scene *scene = *state;
	struct member *member, *grandchild;
	pid_t pid;

	ask(scene, 't');
	ask(scene, 't');
	pid = ask(scene, 'f');
	member = follow(scene);
	assert_int_equal(scene->members.list.count, 2);
	assert_int_equal(member->threads.count, 3);
	assert_int_equal(member->parent_pid, getpid());
	assert_true(member->found);
	assert_false(scene->members.seeding);
	grandchild = members_find(&scene->members, pid);
	assert_non_null(grandchild);
	assert_int_equal(grandchild->parent_pid, scene->child);
	assert_int_equal(grandchild->threads.count, 1);
	members_announce(&scene->members, 1);
	assert_int_equal(scene->seen.found, 2 + 2);
	assert_int_equal(scene->seen.execs, 2);
}

/* As on a kernel that does not list children. */
static void descendants_are_found_by_their_parents_too(void **state)
{
	struct scene *scene = *state;
	pid_t pid = ask(scene, 'f');

	scene->members.is_probed = true;
	follow(scene);
	assert_int_equal(scene->members.list.count, 2);
	assert_non_null(members_find(&scene->members, pid));
	assert_int_equal(scan_descendants(&scene->members), 0);
	assert_int_equal(scene->members.list.count, 2);
}

/* With the lists of children, and without. */
static void when_memory_runs_out_all_are_found_or_there_is_a_sentence(void **state)
{
	struct scene *scene = *state;

	ask(scene, 't');
	ask(scene, 't');
	ask(scene, 'f');
	for (int way = 0; way < 2; way++) {
		unsigned long refused = 0;

		do {
			struct error error = { 0 };
			int status;

			members_clear(&scene->members);
			scene->members = (struct members){ .host = scene->host, .is_probed = way };
			members_set_sink(&scene->members, take, &scene->seen);
			memory.asked = 0;
			memory.refused = ++refused;
			status = scan_follow(&scene->members, &scene->child, 1, &error);
			allow_all();
			assert_false(scene->members.seeding);
			if (status < 0) {
				assert_true(error.message[0]);
				continue;
			}
			assert_int_equal(scene->members.list.count, 2);
			assert_int_equal(members_find(&scene->members, scene->child)->threads.count,
					 3);
		} while (memory.asked >= refused);
		assert_true(refused > 10);
	}
}

static void who_is_born_later_was_not_there_before(void **state)
{
	struct scene *scene = *state;
	struct member *member = follow(scene), *late;
	pid_t pid;

	ask(scene, 't');
	pid = ask(scene, 'f');
	assert_int_equal(scan_descendants(&scene->members), 0);
	late = members_find(&scene->members, pid);
	assert_non_null(late);
	assert_false(late->found);
	assert_false(late->threads.data[0]->found);
	/* Start times are whole clock ticks; nobody began before the first one was watched. */
	assert_true(late->begin_ns >= member->begin_ns);
	scene->members.round++;
	assert_int_equal(scan_threads(&scene->members, member, true), 0);
	assert_int_equal(member->threads.count, 2);
	assert_int_equal(scene->seen.accounts, 2);
	assert_int_equal(scene->members.lost_threads, 0);
}

static void one_that_ended_is_dead_while_it_is_listed_and_then_gone(void **state)
{
	struct scene *scene = *state;
	pid_t pid = ask(scene, 'f');
	struct member *grandchild;

	follow(scene);
	grandchild = members_find(&scene->members, pid);
	assert_false(scan_is_dead(&scene->members, grandchild));
	ask(scene, 'k');
	while (!scan_is_dead(&scene->members, grandchild))
		usleep(1000);
	assert_int_equal(number_map_set(&scene->members.done, pid, grandchild), 0);
	scan_forget_done(&scene->members);
	assert_non_null(number_map_get(&scene->members.done, pid));
	ask(scene, 'w');
	assert_false(scan_is_dead(&scene->members, grandchild));
	assert_int_equal(scan_threads(&scene->members, grandchild, false), -ESRCH);
	scan_forget_done(&scene->members);
	assert_null(number_map_get(&scene->members.done, pid));
	assert_int_equal(scan_descendants(&scene->members), 0);
}

static void one_that_is_done_is_not_added_again(void **state)
{
	struct scene *scene = *state;
	struct member *member = follow(scene);
	pid_t pid = ask(scene, 'f');

	assert_int_equal(number_map_set(&scene->members.done, pid, member), 0);
	assert_int_equal(scan_descendants(&scene->members), 0);
	scene->members.lists_children = false;
	assert_int_equal(scan_descendants(&scene->members), 0);
	assert_int_equal(scene->members.list.count, 1);
}

static void a_thread_that_is_gone_is_lost(void **state)
{
	struct scene *scene = *state;
	struct member *member = follow(scene);
	const struct task_key gone = { scene->child, 2000000001, 1 };

	assert_non_null(members_add_thread(&scene->members, member, &gone, 1));
	scene->members.round++;
	assert_int_equal(scan_threads(&scene->members, member, false), 0);
	assert_int_equal(scene->members.lost_threads, 1);
	assert_int_equal(member->threads.count, 1);
}

static void another_process_with_that_number_is_not_the_member(void **state)
{
	struct scene *scene = *state;
	struct member *member = follow(scene);
	const uint64_t tick = scene->host->tick_ns;
	struct proc_sample sample = { .start_ns = member->key.start_ns };

	assert_true(scan_is_member(&scene->members, member, &sample));
	sample.start_ns = member->key.start_ns + 2 * tick;
	assert_true(scan_is_member(&scene->members, member, &sample));
	sample.start_ns = member->key.start_ns + 2 * tick + 1;
	assert_false(scan_is_member(&scene->members, member, &sample));
	sample.start_ns = member->key.start_ns - 2 * tick;
	assert_true(scan_is_member(&scene->members, member, &sample));
	sample.start_ns = member->key.start_ns - 2 * tick - 1;
	assert_false(scan_is_member(&scene->members, member, &sample));
	member->key.start_ns += 10 * tick;
	assert_int_equal(scan_threads(&scene->members, member, false), -ESRCH);
	assert_false(scan_is_dead(&scene->members, member));
}

static void await_program(struct scene *scene)
{
	struct proc_sample sample;

	do
		assert_int_equal(proc_sample_process(scene->host, scene->child, &sample), 0);
	while (strcmp(sample.comm, "sleep") != 0 || sample.state != 'S');
}

static void another_program_is_noticed(void **state)
{
	struct scene *scene = *state;
	struct member *member = follow(scene);

	members_announce(&scene->members, 1);
	assert_int_equal(scene->seen.execs, 1);
	assert_int_equal(scan_threads(&scene->members, member, false), 0);
	assert_int_equal(scene->seen.execs, 1);
	assert_int_equal(write(scene->asks[1], "e", 1), 1);
	await_program(scene);
	scene->members.round++;
	assert_int_equal(scan_threads(&scene->members, member, false), 0);
	assert_int_equal(scene->seen.execs, 2);
	assert_string_equal(member->comm, "sleep");
	assert_memory_equal(scene->seen.arguments, SLEEP, sizeof(SLEEP) - 1);
	assert_int_equal(scene->members.lost_threads, 0);
}

static void nobody_is_followed_who_is_not_there(void **state)
{
	struct scene *scene = *state;
	const int32_t pids[] = { scene->child, 2000000001 };
	struct error error = { 0 };

	assert_int_equal(scan_follow(&scene->members, pids, 2, &error), -ESRCH);
	assert_string_equal(error.message, "there is no process 2000000001");
}

static void a_command_line_is_read_of_the_right_process_alone(void **state)
{
	struct scene *scene = *state;
	char buffer[TREE_ARGUMENTS_MAX + 2];
	struct deadline_threads *reader = &scene->members.reader;
	struct tree_exec exec;
	struct proc_sample sample;

	assert_int_equal(write(scene->asks[1], "e", 1), 1);
	await_program(scene);
	assert_int_equal(proc_sample_process(scene->host, scene->child, &sample), 0);
	assert_int_equal(proc_sample_arguments(scene->host, reader, scene->child, 0, buffer, &exec),
			 0);
	assert_int_equal(exec.length, sizeof(SLEEP) - 1);
	assert_memory_equal(exec.arguments, SLEEP, sizeof(SLEEP) - 1);
	assert_false(exec.cut);
	assert_int_equal(proc_sample_arguments(scene->host, reader, scene->child,
					       sample.start_ns + 100 * scene->host->tick_ns, buffer,
					       &exec),
			 -ESRCH);
	assert_int_equal(proc_sample_arguments(scene->host, reader, 2000000001, 0, buffer, &exec),
			 -ESRCH);
	assert_int_equal(proc_sample_arguments(scene->host, reader, 2, 0, buffer, &exec), 0);
	assert_int_equal(exec.length, 0);
}

static void a_child_that_is_held_begins_with_its_program(void **state)
{
	struct scene *scene = *state;
	struct own_child child = { 0 };
	struct error error = { 0 };
	struct member *member;

	assert_int_equal(own_child_hold(&child, &scene->members, 2000000001, &error), -ESRCH);
	assert_int_equal(own_child_hold(&child, &scene->members, scene->child, &error), 0);
	assert_true(own_child_is_held(&child, scene->child));
	assert_false(own_child_is_held(&child, scene->child + 1));
	own_child_forget_held(&child, scene->child + 1);
	assert_int_equal(own_child_check(&child, &scene->members), 0);
	assert_int_equal(scene->members.list.count, 0);
	assert_int_equal(write(scene->asks[1], "e", 1), 1);
	await_program(scene);
	assert_int_equal(own_child_check(&child, &scene->members), 0);
	assert_false(own_child_is_held(&child, scene->child));
	member = members_find(&scene->members, scene->child);
	assert_non_null(member);
	assert_true(member->is_child);
	assert_true(member->executed);
	assert_int_equal(member->parent_pid, getpid());
	assert_int_equal(amounts_get(&member->threads.data[0]->before, AMOUNT_run_time_ns),
			 member->before_ns);
	assert_true(member->threads.data[0]->started);
	assert_int_equal(scene->seen.execs, 1);
	assert_int_equal(own_child_check(&child, &scene->members), 0);
	assert_int_equal(scene->members.list.count, 1);
}

static void a_held_child_can_be_forgotten(void **state)
{
	struct scene *scene = *state;
	struct own_child child = { 0 };
	struct error error = { 0 };

	assert_int_equal(own_child_hold(&child, &scene->members, scene->child, &error), 0);
	own_child_forget_held(&child, scene->child);
	assert_false(own_child_is_held(&child, scene->child));
}

/* Kernels since 6.15 keep it. */
static bool keeps_status(void)
{
	unsigned major = 0, minor = 0;
	struct utsname name;

	uname(&name);
	sscanf(name.release, "%u.%u", &major, &minor);
	return major > 6 || (major == 6 && minor >= 15);
}

static void the_status_of_one_that_was_reaped_is_known_by_its_pidfd(void **state)
{
	struct scene *scene = *state;
	CLEANUP(close_fd) int pidfd = (int)syscall(SYS_pidfd_open, scene->child, 0);
	int status = 99;

	assert_false(proc_sample_pidfd_status(-1, &status));
	assert_false(proc_sample_pidfd_status(pidfd, &status));
	assert_int_equal(write(scene->asks[1], "x", 1), 1);
	assert_int_equal(waitpid(scene->child, NULL, 0), scene->child);
	assert_int_equal(proc_sample_pidfd_status(pidfd, &status), keeps_status());
	assert_int_equal(status, keeps_status() ? 7 << 8 : 99);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_runs_is_found_with_threads_and_descendants),
		TEST(descendants_are_found_by_their_parents_too),
		TEST(when_memory_runs_out_all_are_found_or_there_is_a_sentence),
		TEST(who_is_born_later_was_not_there_before),
		TEST(one_that_ended_is_dead_while_it_is_listed_and_then_gone),
		TEST(one_that_is_done_is_not_added_again),
		TEST(a_thread_that_is_gone_is_lost),
		TEST(another_process_with_that_number_is_not_the_member),
		TEST(another_program_is_noticed),
		TEST(nobody_is_followed_who_is_not_there),
		TEST(a_command_line_is_read_of_the_right_process_alone),
		TEST(a_child_that_is_held_begins_with_its_program),
		TEST(a_held_child_can_be_forgotten),
		TEST(the_status_of_one_that_was_reaped_is_known_by_its_pidfd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
