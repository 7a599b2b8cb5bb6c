/* SPDX-License-Identifier: MIT */
/* Finds threads that wait for each other, on a recorded host whose memory the test writes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tree.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"
#include "metric/wait.h"
#include "session/wait/wait_survey.h"
#include "session/why/process_state.h"

#define THREADS_MAX 4

/* A host with processes 50 and 60, whose threads have the numbers 50, 51... and 60, 61... */
struct scene {
	struct tree tree;
	uint32_t memory[64]; /* of both processes, from address 0 on */
	struct process_state state;
	struct wait_object objects[THREADS_MAX];
	struct wait_deadlock deadlock;
};

static void begin(struct scene *scene)
{
	*scene = (struct scene){ 0 };
	tree_make(&scene->tree);
	tree_directory(&scene->tree, "sys");
	tree_directory(&scene->tree, "etc");
	tree_directory(&scene->tree, "proc");
}

static void put(struct scene *scene, const char *text, const char *format, ...)
{
	char path[128];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	tree_text(&scene->tree, path, text);
}

static void add_thread(struct scene *scene, int pid, int tid, char state, const char *call)
{
	char stat[256], status[128], comm[32];

	snprintf(stat, sizeof(stat), "%d (t%d) %c 1 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 777 0 0\n",
		 tid, tid, state);
	snprintf(status, sizeof(status), "Tgid:\t%d\nPid:\t%d\nNStgid:\t%d\nNSpid:\t%d\n", pid, tid,
		 pid, tid);
	snprintf(comm, sizeof(comm), "t%d\n", tid);
	put(scene, stat, "proc/%d/task/%d/stat", pid, tid);
	put(scene, status, "proc/%d/task/%d/status", pid, tid);
	put(scene, call, "proc/%d/task/%d/syscall", pid, tid);
	put(scene, stat, "proc/%d/stat", tid);
	put(scene, status, "proc/%d/status", tid);
	put(scene, comm, "proc/%d/comm", tid);
}

/* The text of a call that waits for the futex at an address. */
static const char *futex_call(char text[96], unsigned address, unsigned operation, unsigned value)
{
	snprintf(text, 96, "%d 0x%x 0x%x 0x%x 0x0 0x0 0x0 0x7ffe 0x7f01\n", SYS_futex, address,
		 operation, value);
	return text;
}

static void add_waiter(struct scene *scene, int pid, int tid, unsigned address)
{
	char text[96];

	add_thread(scene, pid, tid, 'S',
		   futex_call(text, address, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2));
}

/* A mutex of glibc at an address. */
static void set_mutex(struct scene *scene, unsigned address, uint32_t owner)
{
	uint32_t *word = &scene->memory[address / 4];

	word[0] = 2;
	word[2] = owner;
	word[3] = 1;
}

static void survey(struct scene *scene)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct error error = { 0 };

	for (int pid = 50; pid <= 60; pid += 10) {
		char path[64];

		snprintf(path, sizeof(path), "proc/%d/mem", pid);
		tree_bytes(&scene->tree, path, scene->memory, sizeof(scene->memory));
	}
	assert_int_equal(host_open(&host, scene->tree.root, &error), 0);
	assert_int_equal(process_state_read(host, 50, &scene->state, &error), 0);
	assert_int_equal(wait_survey(host, &scene->state, scene->objects, &scene->deadlock), 0);
}

static void end(struct scene *scene)
{
	process_state_clear(&scene->state);
	tree_remove(&scene->tree);
}

static void two_threads_with_two_locks_are_a_deadlock(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	add_waiter(&scene, 50, 50, 64);
	add_waiter(&scene, 50, 51, 128);
	set_mutex(&scene, 64, 51);
	set_mutex(&scene, 128, 50);
	survey(&scene);
	assert_string_equal(scene.objects[0].kind, "mutex");
	assert_int_equal(scene.objects[0].address, 64);
	assert_int_equal(scene.objects[0].holder.tid, 51);
	assert_string_equal(scene.objects[0].holder.comm, "t51");
	assert_int_equal(scene.deadlock.count, 2);
	assert_int_equal(scene.deadlock.members[0].who.tid, 50);
	assert_int_equal(scene.deadlock.members[1].who.tid, 51);
	end(&scene);
}

/* Process 50 sleeps; the circle is in process 60. */
static size_t found_from(struct scene *scene, const struct task_key *processes, size_t count,
			 uint64_t deadline_ns)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct error error = { 0 };
	struct wait_deadlock found = { 0 };
	int status;

	begin(scene);
	add_thread(scene, 50, 50, 'S', "running\n");
	add_waiter(scene, 60, 60, 64);
	add_waiter(scene, 60, 61, 128);
	set_mutex(scene, 64, 61);
	set_mutex(scene, 128, 60);
	tree_bytes(&scene->tree, "proc/60/mem", scene->memory, sizeof(scene->memory));
	assert_int_equal(host_open(&host, scene->tree.root, &error), 0);
	status = wait_deadlock_find(host, processes, count, deadline_ns, &found);
	assert_int_equal(status, deadline_ns ? 0 : -ETIMEDOUT);
	end(scene);
	return found.count;
}

static void a_deadlock_is_found_from_several_processes(void **state)
{
	/* They began at tick 777, of which there are 100 a second. */
	static const struct task_key known = { 60, 60, UINT64_C(7770000000) };
	static const struct task_key reused = { 60, 60, UINT64_C(9990000000) };
	static const struct task_key all[] = { { 50, 50, 0 }, { 4711, 4711, 0 }, { 60, 60, 0 } };
	struct scene scene;

	(void)state;
	assert_int_equal(found_from(&scene, all, 3, UINT64_MAX), 2);
	assert_int_equal(found_from(&scene, all, 2, UINT64_MAX), 0);
	assert_int_equal(found_from(&scene, all, 3, 0), 0);
	assert_int_equal(found_from(&scene, &known, 1, UINT64_MAX), 2);
	assert_int_equal(found_from(&scene, &reused, 1, UINT64_MAX), 0);
}

static void a_holder_that_runs_is_not_one(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	add_waiter(&scene, 50, 50, 64);
	add_thread(&scene, 50, 51, 'R', "running\n");
	set_mutex(&scene, 64, 51);
	survey(&scene);
	assert_int_equal(scene.objects[0].holder.tid, 51);
	assert_null(scene.objects[1].kind);
	assert_int_equal(scene.deadlock.count, 0);
	end(&scene);
}

static void an_owner_that_is_not_a_thread_of_it_is_not_believed(void **state)
{
	static const uint32_t owners[] = { 0, 60, 4711, 0x7fffffff, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
		struct scene scene;

		begin(&scene);
		add_waiter(&scene, 50, 50, 64);
		add_thread(&scene, 60, 60, 'S', "running\n");
		set_mutex(&scene, 64, owners[i]);
		survey(&scene);
		assert_string_equal(scene.objects[0].kind, "lock");
		assert_false(scene.objects[0].has_holder);
		assert_int_equal(scene.deadlock.count, 0);
		end(&scene);
	}
}

static void memory_that_cannot_be_read_gives_no_holder(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	add_waiter(&scene, 50, 50, 0xfffff000);
	survey(&scene);
	assert_string_equal(scene.objects[0].kind, "lock");
	assert_int_equal(scene.objects[0].reason, WAIT_LOCK);
	assert_false(scene.objects[0].has_holder);
	end(&scene);
}

static void set_user(struct scene *scene, int pid, int user)
{
	char status[160];

	snprintf(status, sizeof(status),
		 "Tgid:\t%d\nPid:\t%d\nUid:\t%d\t%d\t%d\t%d\nNStgid:\t%d\nNSpid:\t%d\n", pid, pid,
		 user, user, user, user, pid, pid);
	put(scene, status, "proc/%d/status", pid);
	put(scene, status, "proc/%d/task/%d/status", pid, pid);
}

/* Robust mutexes of two processes; their owners are in the words. */
static void survey_two_processes(struct scene *scene, int other_user, const char *other_maps)
{
	char text[96];

	begin(scene);
	scene->memory[16] = FUTEX_WAITERS | 60;
	scene->memory[32] = FUTEX_WAITERS | 50;
	add_thread(scene, 50, 50, 'S', futex_call(text, 64, FUTEX_WAIT, FUTEX_WAITERS | 60));
	add_thread(scene, 60, 60, 'S', futex_call(text, 128, FUTEX_WAIT, FUTEX_WAITERS | 50));
	set_user(scene, 50, 1000);
	set_user(scene, 60, other_user);
	put(scene, "00000000-00001000 rw-s 00000000 00:1a 77 /dev/shm/locks\n", "proc/50/maps");
	put(scene, other_maps, "proc/60/maps");
	survey(scene);
}

static void a_deadlock_reaches_into_other_processes(void **state)
{
	struct scene scene;

	(void)state;
	survey_two_processes(&scene, 1000,
			     "00000000-00001000 rw-s 00000000 00:1a 77 /dev/shm/locks\n");
	assert_int_equal(scene.objects[0].holder.pid, 60);
	assert_int_equal(scene.deadlock.count, 2);
	assert_int_equal(scene.deadlock.members[1].who.pid, 60);
	end(&scene);
}

static void strangers_cannot_be_accused_of_having_a_lock(void **state)
{
	static const struct {
		int user;
		const char *maps;
	} others[] = {
		{ 0, "00000000-00001000 rw-s 00000000 00:1a 77 /dev/shm/locks\n" },
		{ 1000, "00000000-00001000 rw-s 00000000 00:1a 78 /dev/shm/locks\n" },
		{ 1000, "00000000-00001000 rw-s 00000000 00:1b 77 /dev/shm/locks\n" },
		{ 1000, "00000000-00001000 rw-p 00000000 00:1a 77 /dev/shm/locks\n" },
		{ 1000, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct scene scene;

		survey_two_processes(&scene, others[i].user, others[i].maps);
		assert_int_equal(scene.objects[0].reason, WAIT_LOCK);
		assert_false(scene.objects[0].has_holder);
		assert_int_equal(scene.deadlock.count, 0);
		end(&scene);
	}
}

static void add_descriptor(struct scene *scene, int pid, int fd, unsigned inode)
{
	char text[64];

	snprintf(text, sizeof(text), "pos:\t0\nflags:\t02\nino:\t%u\n", inode);
	put(scene, text, "proc/%d/fdinfo/%d", pid, fd);
	put(scene, "", "proc/%d/fd/%d", pid, fd);
}

/* It ended, and another process has its number, but not the file. */
static void a_process_that_does_not_have_the_file_open_does_not_hold_its_lock(void **state)
{
	struct scene scene;
	char text[96];

	(void)state;
	begin(&scene);
	snprintf(text, sizeof(text), "%d 0x3 0x2 0x0 0x0 0x0 0x0 0x7ffe 0x7f01\n", SYS_flock);
	add_thread(&scene, 50, 50, 'S', text);
	add_thread(&scene, 60, 60, 'S', "running\n");
	add_descriptor(&scene, 50, 3, 7);
	add_descriptor(&scene, 60, 3, 8);
	put(&scene,
	    "1: FLOCK  ADVISORY  WRITE 60 08:01:7 0 EOF\n"
	    "1: -> FLOCK  ADVISORY  WRITE 50 08:01:7 0 EOF\n",
	    "proc/locks");
	survey(&scene);
	assert_string_equal(scene.objects[0].kind, "file_lock");
	assert_false(scene.objects[0].has_holder);
	end(&scene);
}

static void locks_on_files_have_the_process_that_took_them(void **state)
{
	struct scene scene;
	char text[96];

	(void)state;
	begin(&scene);
	snprintf(text, sizeof(text), "%d 0x3 0x2 0x0 0x0 0x0 0x0 0x7ffe 0x7f01\n", SYS_flock);
	add_thread(&scene, 50, 50, 'S', text);
	add_thread(&scene, 60, 60, 'S', text);
	add_descriptor(&scene, 50, 3, 7);
	add_descriptor(&scene, 50, 4, 8);
	add_descriptor(&scene, 60, 3, 8);
	add_descriptor(&scene, 60, 4, 7);
	put(&scene,
	    "1: FLOCK  ADVISORY  WRITE 60 08:01:7 0 EOF\n"
	    "1: -> FLOCK  ADVISORY  WRITE 50 08:01:7 0 EOF\n"
	    "2: FLOCK  ADVISORY  WRITE 50 08:01:8 0 EOF\n"
	    "2: -> FLOCK  ADVISORY  WRITE 60 08:01:8 0 EOF\n",
	    "proc/locks");
	survey(&scene);
	assert_string_equal(scene.objects[0].kind, "file_lock");
	assert_int_equal(scene.objects[0].holder.pid, 60);
	assert_int_equal(scene.objects[0].holder.tid, 0);
	assert_int_equal(scene.deadlock.count, 2);
	end(&scene);
}

static void a_holder_cannot_hide_behind_its_name(void **state)
{
	static const char *const comms[][2] = {
		{ "\nevil\n", "\nevil" },
		{ "evil\n\n", "evil\n" },
		{ "\n", "" },
		{ "\n23456789012345\n", "\n23456789012345" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(comms) / sizeof(comms[0]); i++) {
		struct scene scene;
		char text[96];

		begin(&scene);
		snprintf(text, sizeof(text), "%d 0x3 0x2 0x0 0x0 0x0 0x0 0x7ffe 0x7f01\n",
			 SYS_flock);
		add_thread(&scene, 50, 50, 'S', text);
		add_thread(&scene, 60, 60, 'S', "running\n");
		put(&scene, comms[i][0], "proc/60/comm");
		add_descriptor(&scene, 50, 3, 7);
		add_descriptor(&scene, 60, 4, 7);
		put(&scene,
		    "1: FLOCK  ADVISORY  WRITE 60 08:01:7 0 EOF\n"
		    "1: -> FLOCK  ADVISORY  WRITE 50 08:01:7 0 EOF\n",
		    "proc/locks");
		survey(&scene);
		assert_true(scene.objects[0].has_holder);
		assert_int_equal(scene.objects[0].holder.pid, 60);
		assert_string_equal(scene.objects[0].holder.comm, comms[i][1]);
		end(&scene);
	}
}

/* It has the file open twice. */
static void a_process_can_wait_for_its_own_lock(void **state)
{
	struct scene scene;
	char text[96];

	(void)state;
	begin(&scene);
	snprintf(text, sizeof(text), "%d 0x3 0x2 0x0 0x0 0x0 0x0 0x7ffe 0x7f01\n", SYS_flock);
	add_thread(&scene, 50, 50, 'S', text);
	add_descriptor(&scene, 50, 3, 7);
	add_descriptor(&scene, 50, 4, 7);
	put(&scene,
	    "1: FLOCK  ADVISORY  WRITE 50 08:01:7 0 EOF\n"
	    "1: -> FLOCK  ADVISORY  WRITE 50 08:01:7 0 EOF\n",
	    "proc/locks");
	survey(&scene);
	assert_int_equal(scene.objects[0].holder.pid, 50);
	assert_int_equal(scene.deadlock.count, 1);
	end(&scene);
}

static void a_time_limit_ends_a_wait(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene);
	add_thread(&scene, 50, 50, 'S', "202 0x40 0x189 0x2 0x7ffe0 0x0 0x0 0x7ffe 0x7f01\n");
	set_mutex(&scene, 64, 50);
	survey(&scene);
	if (SYS_futex == 202) {
		assert_true(scene.objects[0].is_timed);
		assert_int_equal(scene.objects[0].holder.tid, 50);
	}
	assert_int_equal(scene.deadlock.count, 0);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_threads_with_two_locks_are_a_deadlock),
		cmocka_unit_test(a_deadlock_is_found_from_several_processes),
		cmocka_unit_test(a_holder_that_runs_is_not_one),
		cmocka_unit_test(an_owner_that_is_not_a_thread_of_it_is_not_believed),
		cmocka_unit_test(memory_that_cannot_be_read_gives_no_holder),
		cmocka_unit_test(a_deadlock_reaches_into_other_processes),
		cmocka_unit_test(strangers_cannot_be_accused_of_having_a_lock),
		cmocka_unit_test(locks_on_files_have_the_process_that_took_them),
		cmocka_unit_test(a_process_that_does_not_have_the_file_open_does_not_hold_its_lock),
		cmocka_unit_test(a_holder_cannot_hide_behind_its_name),
		cmocka_unit_test(a_process_can_wait_for_its_own_lock),
		cmocka_unit_test(a_time_limit_ends_a_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
