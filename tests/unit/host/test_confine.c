/* SPDX-License-Identifier: MIT */
/* What a confined child can do, what it cannot, and what becomes of one that does not end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/collection/array.h"
#include "host/confine/confine.h"
#include "patience.h"
#include "sanitized.h"

#define LEFT_NS 100000000
#define PLAIN_USER 12345
#define NOBODY 65534
#define MISSING_LIBRARIES 127 /* what a loader exits with */

static const struct confine_limits parser = { .rules = CONFINE_PARSER, .cpu_seconds = 5 };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool has_no_children(void)
{
	return waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD;
}

/* Runs work in a confined child and returns what confined_finish() does. */
static int run(const struct confine_limits *limits, unsigned timeout_ms,
	       int (*work)(void *argument, int answer), void *argument, void *answer,
	       size_t capacity, size_t *ret_size)
{
	struct confined_job job;
	int status;

	assert_int_equal(confined_start(&job, limits, timeout_ms, work, argument), 0);
	status = confined_finish(&job, answer, capacity, ret_size);
	assert_true(has_no_children());
	return status;
}

static int say_hello(void *argument, int answer)
{
	return write(answer, argument, strlen(argument)) < 0 ? -errno : 0;
}

static void what_the_child_writes_comes_back(void **state)
{
	char answer[16];
	size_t size;

	(void)state;
	assert_int_equal(run(&parser, HANG_MS, say_hello, "hello", answer, 16, &size), 0);
	assert_int_equal(size, 5);
	assert_memory_equal(answer, "hello", 5);
	assert_int_equal(run(&parser, HANG_MS, say_hello, "hello", answer, 5, &size), 0);
	assert_int_equal(size, 5);
}

/* Some of those that start programs ignore it, and that is inherited. */
static void an_ignored_signal_of_children_costs_no_answer(void **state)
{
	static const struct sigaction ignored[] = {
		{ .sa_handler = SIG_IGN },
		{ .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT },
	};
	char answer[16];
	size_t size;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++) {
		assert_int_equal(sigaction(SIGCHLD, &ignored[i], NULL), 0);
		assert_int_equal(
			run(&parser, HANG_MS, say_hello, "hello", answer, sizeof(answer), &size),
			0);
		assert_int_equal(size, 5);
	}
	signal(SIGCHLD, SIG_DFL);
}

static void an_answer_that_is_too_long_ends_the_child(void **state)
{
	char answer[4];
	size_t size;

	(void)state;
	assert_int_equal(run(&parser, HANG_MS, say_hello, "hello", answer, 4, &size), -EMSGSIZE);
	assert_int_equal(size, 4);
	assert_memory_equal(answer, "hell", 4);
}

static int say_and_fail(void *argument, int answer)
{
	say_hello(argument, answer);
	return -EBADMSG;
}

static int say_and_crash(void *argument, int answer)
{
	say_hello(argument, answer);
	signal(SIGSEGV, SIG_DFL); /* of a sanitizer */
	*(volatile int *)argument = 1;
	return 0;
}

static int say_and_wait(void *argument, int answer)
{
	say_hello(argument, answer);
	while (sched_yield() == 0)
		;
	return 0;
}

static int close_and_wait(void *argument, int answer)
{
	say_hello(argument, answer);
	close(answer);
	while (sched_yield() == 0)
		;
	return 0;
}

static void an_error_of_the_work_is_returned(void **state)
{
	char answer[16];
	size_t size;

	(void)state;
	assert_int_equal(run(&parser, HANG_MS, say_and_fail, "part", answer, 16, &size), -EBADMSG);
	assert_int_equal(size, 4);
}

/* Memory that is not there: what a read-only string is to a sanitizer is its own affair. */
static void a_crash_costs_what_was_not_said_before(void **state)
{
	char *guarded =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char answer[16];
	size_t size;

	(void)state;
	memcpy(guarded, "part", 5);
	mprotect(guarded, 4096, PROT_READ);
	assert_int_equal(run(&parser, HANG_MS, say_and_crash, guarded, answer, 16, &size), -EPROTO);
	assert_int_equal(size, 4);
	munmap(guarded, 4096);
}

/* The child's deadline is so far away once it has said something. */
static void end_soon(struct confined_job *job, uint64_t left_ns)
{
	struct pollfd answer = { .fd = job->answer, .events = POLLIN };

	assert_int_equal(poll(&answer, 1, HANG_MS), 1);
	job->deadline_ns = now_ns() + left_ns;
}

static void a_child_that_does_not_end_is_ended_at_its_deadline(void **state)
{
	int (*const works[])(void *argument, int answer) = { say_and_wait, close_and_wait };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(works); i++) {
		struct confined_job job;
		char answer[16];
		size_t size;

		assert_int_equal(confined_start(&job, &parser, HANG_MS, works[i], "part"), 0);
		end_soon(&job, LEFT_NS);
		assert_int_equal(confined_finish(&job, answer, 16, &size), -ETIMEDOUT);
		assert_true(now_ns() >= job.deadline_ns);
		assert_int_equal(size, 4);
		assert_true(has_no_children());
	}
}

/* By the kernel: nobody has to watch it. */
static void a_child_that_spins_ends_when_its_cpu_time_is_used_up(void **state)
{
	struct confine_limits limits = { .rules = CONFINE_PARSER, .cpu_seconds = 1 };
	char answer[16];
	size_t size;

	(void)state;
	assert_int_equal(run(&limits, HANG_MS, say_and_wait, "part", answer, 16, &size), -EPROTO);
}

static void jobs_run_at_the_same_time(void **state)
{
	struct confined_job jobs[4];
	char answer[16];
	size_t size;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++)
		assert_int_equal(confined_start(&jobs[i], &parser, HANG_MS,
						i % 2 ? say_hello : say_and_wait, "part"),
				 0);
	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		if (i % 2 == 0)
			end_soon(&jobs[i], LEFT_NS);
		assert_int_equal(confined_finish(&jobs[i], answer, sizeof(answer), &size),
				 i % 2 ? 0 : -ETIMEDOUT);
		assert_int_equal(size, 4);
	}
	assert_true(has_no_children());
}

/* Said in time, and not lost because nobody listened until later. */
static void an_answer_that_waits_beyond_the_deadline_counts(void **state)
{
	struct confined_job job;
	char answer[16];
	size_t size;

	(void)state;
	assert_int_equal(confined_start(&job, &parser, HANG_MS, say_hello, "early"), 0);
	assert_int_equal(waitid(P_PID, (id_t)job.pid, NULL, WEXITED | WNOWAIT | __WALL), 0);
	job.deadline_ns = now_ns();
	assert_int_equal(confined_finish(&job, answer, sizeof(answer), &size), 0);
	assert_int_equal(size, 5);
}

/* Each attempt: true when it was refused as it should be. */
static bool refused(long result)
{
	return result == -1 && errno == EPERM;
}

#define ATTEMPTS(X)                                                                                \
	X(socket(AF_INET, SOCK_STREAM, 0))                                                         \
	X(socket(AF_UNIX, SOCK_DGRAM, 0))                                                          \
	X(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY))                                    \
	X(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY))                                    \
	X(syscall(SYS_sendmsg, -1, NULL, 0))                                                       \
	X(syscall(SYS_sendto, -1, NULL, 0, 0, NULL, 0))                                            \
	X(syscall(SYS_kill, 1, 0))                                                                 \
	X(syscall(SYS_tgkill, 1, 1, 0))                                                            \
	X(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))                                                 \
	X(syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0))                                            \
	X(syscall(SYS_execveat, 0, "", NULL, NULL, AT_EMPTY_PATH))                                 \
	X(syscall(SYS_setresuid, 0, 0, 0))                                                         \
	X(syscall(SYS_fcntl, 0, F_SETOWN, 1))                                                      \
	X(syscall(SYS_prlimit64, 1, RLIMIT_NOFILE, NULL, NULL))                                    \
	X(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &(struct rlimit){ 9, 9 }, NULL))                \
	X(syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0))                                   \
	X(syscall(SYS_bpf, 0, NULL, 0))                                                            \
	X(syscall(SYS_memfd_create, "x", 0))

static int try_everything(void *argument, int answer)
{
#define TRY(attempt)                                                                               \
	if (!refused(attempt))                                                                     \
		dprintf(answer, "%s\n", #attempt);
	ATTEMPTS(TRY)
#undef TRY
	(void)argument;
	return 0;
}

static void a_parser_can_neither_open_nor_reach_anything(void **state)
{
	char answer[1024] = "";
	size_t size;

	(void)state;
	assert_int_equal(
		run(&parser, HANG_MS, try_everything, NULL, answer, sizeof(answer) - 1, &size), 0);
	assert_string_equal(answer, "");
}

static void a_service_can_no_more(void **state)
{
	struct confine_limits limits = { .rules = CONFINE_SERVICE };
	char answer[1024] = "";
	size_t size;

	(void)state;
	assert_int_equal(
		run(&limits, HANG_MS, try_everything, NULL, answer, sizeof(answer) - 1, &size), 0);
	assert_string_equal(answer, "");
}

static int try_to_receive(void *argument, int answer)
{
	bool is_refused = refused(syscall(SYS_recvmsg, -1, NULL, 0));

	(void)argument;
	return write(answer, is_refused ? "-" : "+", 1) < 0 ? -errno : 0;
}

static void only_a_service_receives_messages(void **state)
{
	struct confine_limits limits = { .rules = CONFINE_SERVICE };
	char answer;
	size_t size;

	(void)state;
	assert_int_equal(run(&limits, HANG_MS, try_to_receive, NULL, &answer, 1, &size), 0);
	assert_int_equal(answer, '+');
	assert_int_equal(run(&parser, HANG_MS, try_to_receive, NULL, &answer, 1, &size), 0);
	assert_int_equal(answer, '-');
}

#define READ_ONLY_OPENS(X)                                                                         \
	X(O_WRONLY)                                                                                \
	X(O_RDWR)                                                                                  \
	X(O_RDONLY | O_CREAT)                                                                      \
	X(O_RDONLY | O_TRUNC)                                                                      \
	X(O_RDONLY | O_APPEND)                                                                     \
	X(O_TMPFILE | O_RDWR)

static int try_to_open(void *argument, int answer)
{
#define TRY(flags)                                                                                 \
	if (!refused(syscall(SYS_openat, AT_FDCWD, "/", flags, 0600)))                             \
		dprintf(answer, "%s\n", #flags);
	READ_ONLY_OPENS(TRY)
#undef TRY
	(void)argument;
	if (syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) < 0)
		dprintf(answer, "cannot read\n");
	return 0;
}

static void a_program_opens_files_for_reading_only(void **state)
{
	struct confine_limits limits = { .rules = CONFINE_PROGRAM, .program_fd = -1 };
	char answer[1024] = "";
	size_t size;

	(void)state;
	assert_int_equal(
		run(&limits, HANG_MS, try_to_open, NULL, answer, sizeof(answer) - 1, &size), 0);
	assert_string_equal(answer, "");
}

static int execute_another(void *argument, int answer)
{
	char *arguments[] = { "true", NULL };

	(void)answer;
	syscall(SYS_execveat, *(int *)argument, "", arguments, arguments + 1, AT_EMPTY_PATH);
	return -errno;
}

static void only_the_given_program_can_be_executed(void **state)
{
	int given = open("/bin/true", O_RDONLY | O_CLOEXEC);
	int other = open("/bin/true", O_RDONLY | O_CLOEXEC);
	struct confine_limits limits = {
		.rules = CONFINE_PROGRAM, .program_fd = given, .keep = &other, .keep_count = 1
	};
	size_t size;

	(void)state;
	/* It is executed; its loader may map nothing, since there is no tracer to be asked. */
	assert_int_equal(run(&limits, HANG_MS, execute_another, &given, NULL, 0, &size),
			 -MISSING_LIBRARIES);
	assert_int_equal(run(&limits, HANG_MS, execute_another, &other, NULL, 0, &size), -EPERM);
	close(given);
	close(other);
}

struct view {
	int kept;
	uid_t uid;
	gid_t gid;
	bool kept_is_open;
	bool other_is_open;
	bool interrupt_is_default;
	bool standard_files_are_open;
	char directory[64];
};

static int look(void *argument, int answer)
{
	struct view view = *(struct view *)argument;
	struct sigaction action;
	char byte;

	view.kept_is_open = pread(view.kept, &byte, 1, 0) == 1;
	view.other_is_open = fcntl(view.kept + 1, F_GETFD) >= 0;
	sigaction(SIGINT, NULL, &action);
	view.interrupt_is_default = action.sa_handler == SIG_DFL;
	view.standard_files_are_open =
		fcntl(0, F_GETFD) >= 0 || fcntl(1, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0;
	if (!getcwd(view.directory, sizeof(view.directory)))
		return -errno;
	view.uid = geteuid();
	view.gid = getegid();
	return write(answer, &view, sizeof(view)) < 0 ? -errno : 0;
}

/* Root becomes nobody, except where there is no such user; a plain user stays. */
static uid_t expected_user(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(setresgid(NOBODY, NOBODY, NOBODY) < 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return geteuid() == 0 && status == 0 ? NOBODY : geteuid();
}

static void a_child_has_only_what_it_was_given(void **state)
{
	int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
	int file = open("/bin/true", O_RDONLY | O_CLOEXEC);
	struct confine_limits limits = {
		.rules = CONFINE_PROGRAM, .program_fd = -1, .keep = &kept, .keep_count = 1
	};
	struct view view = { .kept = kept };
	size_t size;

	(void)state;
	assert_true(dup3(file, kept, O_CLOEXEC) == kept && dup3(file, kept + 1, O_CLOEXEC) >= 0);
	signal(SIGINT, SIG_IGN);
	assert_int_equal(run(&limits, HANG_MS, look, &view, &view, sizeof(view), &size), 0);
	signal(SIGINT, SIG_DFL);
	assert_int_equal(size, sizeof(view));
	assert_true(view.kept_is_open);
	assert_false(view.other_is_open);
	assert_true(view.interrupt_is_default);
	assert_false(view.standard_files_are_open);
	assert_string_equal(view.directory, "/");
	assert_int_equal(view.uid, expected_user());
	assert_true(view.uid == geteuid() || view.gid == NOBODY);
	close(kept);
	close(kept + 1);
	close(file);
}

#if defined(__x86_64__)
/* getpid by the 32-bit door: other numbers, other rules. */
static int use_another_architecture(void *argument, int answer)
{
	long result = 20;

	(void)argument;
	(void)answer;
	__asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
	return 0;
}

static void a_call_of_another_architecture_ends_the_child(void **state)
{
	size_t size;

	(void)state;
	assert_int_equal(run(&parser, HANG_MS, use_another_architecture, NULL, NULL, 0, &size),
			 -EPROTO);
}
#endif

static int take_memory(void *argument, int answer)
{
	void *memory = mmap(NULL, (size_t)1 << 30, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)argument;
	(void)answer;
	return memory == MAP_FAILED ? -errno : 0;
}

static void memory_is_limited(void **state)
{
	struct confine_limits limits = { .rules = CONFINE_PARSER,
					 .memory_bytes = (uint64_t)512 << 20 };
	size_t size;
	int status;

	(void)state;
	status = run(&limits, HANG_MS, take_memory, NULL, NULL, 0, &size);
#if defined(ADDRESS_SPACE_IS_RESERVED)
	assert_true(status == 0 || status == -ENOMEM);
#else
	assert_int_equal(status, -ENOMEM);
#endif
}

/* Files that are mapped do not count. */
static int take_own_memory(void *argument, int answer)
{
	void *own =
		mmap(NULL, 256 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *file = mmap(NULL, 256 << 20, PROT_READ, MAP_PRIVATE, *(int *)argument, 0);

	if (own != MAP_FAILED)
		return -EEXIST;
	return file == MAP_FAILED || write(answer, "+", 1) < 0 ? -errno : 0;
}

static void memory_of_its_own_has_a_limit(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct confine_limits limits = {
		.rules = CONFINE_SERVICE, .own_bytes = 128 << 20, .keep = &fd, .keep_count = 1
	};
	char answer = '\0';
	size_t size;

	int status = run(&limits, HANG_MS, take_own_memory, &fd, &answer, 1, &size);

	(void)state;
	close(fd);
#if defined(ADDRESS_SPACE_IS_RESERVED)
	assert_true(status == 0 || status == -EEXIST);
#else
	assert_int_equal(status, 0);
	assert_int_equal(answer, '+');
#endif
}

static int fail_early(void *argument)
{
	return *(int *)argument;
}

static void what_prepare_returns_ends_the_job(void **state)
{
	struct confine_limits limits = { .rules = CONFINE_PARSER, .prepare = fail_early };
	int wanted = -EFBIG;
	size_t size;

	(void)state;
	assert_int_equal(run(&limits, HANG_MS, say_hello, &wanted, NULL, 0, &size), -EFBIG);
	assert_int_equal(size, 0);
}

/* A plain user's children are confined as well; tried by a child that is one. */
static void a_plain_user_stays_who_he_is(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0) {
		struct view view = { .kept = 1000 };
		struct confine_limits limits = { .rules = CONFINE_PROGRAM, .program_fd = -1 };
		struct confined_job job;
		uid_t uid;
		size_t size;

		if (geteuid() == 0 && setresuid(PLAIN_USER, PLAIN_USER, PLAIN_USER) < 0 &&
		    errno != EINVAL)
			_exit(1);
		uid = geteuid();
		if (confined_start(&job, &limits, HANG_MS, look, &view) < 0 ||
		    confined_finish(&job, &view, sizeof(view), &size) < 0)
			_exit(2);
		_exit(size != sizeof(view) || view.uid != uid);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* When the one who would end it is gone, the child must not stay. */
static void a_child_dies_with_its_parent(void **state)
{
	int ends[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		struct confine_limits limits = { .rules = CONFINE_PARSER,
						 .cpu_seconds = 30,
						 .keep = &ends[1],
						 .keep_count = 1 };
		struct confined_job job;

		if (confined_start(&job, &limits, HANG_MS, say_and_wait, "part") < 0 ||
		    read(job.answer, &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	alarm(HANG_SECONDS);
	assert_int_equal(read(ends[0], &byte, 1), 0); /* the last one who had it is gone */
	alarm(0);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_child_writes_comes_back),
		cmocka_unit_test(an_ignored_signal_of_children_costs_no_answer),
		cmocka_unit_test(an_answer_that_is_too_long_ends_the_child),
		cmocka_unit_test(an_error_of_the_work_is_returned),
		cmocka_unit_test(a_crash_costs_what_was_not_said_before),
		cmocka_unit_test(a_child_that_does_not_end_is_ended_at_its_deadline),
		cmocka_unit_test(a_child_that_spins_ends_when_its_cpu_time_is_used_up),
		cmocka_unit_test(jobs_run_at_the_same_time),
		cmocka_unit_test(an_answer_that_waits_beyond_the_deadline_counts),
		cmocka_unit_test(a_parser_can_neither_open_nor_reach_anything),
		cmocka_unit_test(a_service_can_no_more),
		cmocka_unit_test(only_a_service_receives_messages),
		cmocka_unit_test(memory_of_its_own_has_a_limit),
		cmocka_unit_test(a_program_opens_files_for_reading_only),
		cmocka_unit_test(only_the_given_program_can_be_executed),
		cmocka_unit_test(a_child_has_only_what_it_was_given),
#if defined(__x86_64__)
		cmocka_unit_test(a_call_of_another_architecture_ends_the_child),
#endif
		cmocka_unit_test(memory_is_limited),
		cmocka_unit_test(what_prepare_returns_ends_the_job),
		cmocka_unit_test(a_plain_user_stays_who_he_is),
		cmocka_unit_test(a_child_dies_with_its_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
