/* SPDX-License-Identifier: MIT */
/* The oracle, asked about the real jemalloc, in every shape, and about things that mean harm. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "host/oracle.h"
#include "patience.h"
#include "sanitized.h"

#define PLAIN_USER 12345
#define UNTOUCHED 0x1234
#define LATEST HANG_SECONDS /* on a host that is busy with other things */

static int open_object(const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", getenv("TASKSCOPE_TEST_ORACLE"), name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	return fd;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void assert_no_children(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	assert_int_equal(errno, ECHILD);
}

/* Whatever happens: in time, nobody left behind, and a sentence when there is no answer. */
static int ask_library_fd(int fd, const char *mallctl, struct tsd_layout *ret)
{
	struct error error = { 0 };
	double begin = seconds();
	int status = oracle_ask_library(fd, mallctl, ret, &error);

	assert_true(seconds() - begin < LATEST);
	assert_no_children();
	assert_int_equal(error.message[0] != '\0', status < 0);
	return status;
}

static int ask_library(const char *name, const char *mallctl, struct tsd_layout *ret)
{
	CLEANUP(close_fd) int fd = open_object(name);

	*ret = (struct tsd_layout){ UNTOUCHED, UNTOUCHED };
	return ask_library_fd(fd, mallctl, ret);
}

static void assert_library_fails(const char *name, int expected)
{
	struct tsd_layout layout;

	assert_int_equal(ask_library(name, NULL, &layout), expected);
	assert_int_equal(layout.allocated, UNTOUCHED);
	assert_int_equal(layout.deallocated, UNTOUCHED);
}

/* What a program says of itself when it runs freely. */
static void ask_itself(const char *name, struct tsd_layout *ret_thread,
		       struct tsd_layout *ret_library)
{
	CLEANUP(close_fd) int fd = open_object(name);
	char *arguments[] = { "program", "print", NULL };
	char *environment[] = { NULL };
	char line[256] = "";
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		fexecve(fd, arguments, environment);
		_exit(1);
	}
	close(ends[1]);
	assert_true(read(ends[0], line, sizeof(line) - 1) > 0);
	close(ends[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(sscanf(line, "%lu %lu %lu %lu", &ret_thread->allocated,
				&ret_thread->deallocated, &ret_library->allocated,
				&ret_library->deallocated),
			 4);
}

static void read_symbols(Elf *elf, Elf_Scn *section, struct oracle_program *ret)
{
	GElf_Shdr header;
	GElf_Sym symbol;
	Elf_Data *data = elf_getdata(section, NULL);

	gelf_getshdr(section, &header);
	for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

		if (name && strcmp(name, "main") == 0)
			ret->main = symbol.st_value;
		if (name && strcmp(name, "mallctl") == 0)
			ret->mallctl = symbol.st_value;
	}
}

static struct oracle_program inspect(int fd)
{
	struct oracle_program program = { .fd = fd };
	Elf_Scn *section = NULL;
	GElf_Ehdr header;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	assert_non_null(gelf_getehdr(elf, &header));
	program.entry = header.e_entry;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr section_header;

		gelf_getshdr(section, &section_header);
		if (section_header.sh_type == SHT_SYMTAB)
			read_symbols(elf, section, &program);
	}
	elf_end(elf);
	assert_true(program.main && program.mallctl);
	return program;
}

static int ask_program(const struct oracle_program *program, struct tsd_layout *ret)
{
	struct error error = { 0 };
	double begin = seconds();
	int status = oracle_ask_program(program, ret, &error);

	assert_true(seconds() - begin < LATEST);
	assert_no_children();
	assert_int_equal(error.message[0] != '\0', status < 0);
	return status;
}

static int ask_named_program(const char *name, struct tsd_layout *ret)
{
	CLEANUP(close_fd) int fd = open_object(name);
	struct oracle_program program = inspect(fd);

	return ask_program(&program, ret);
}

static void the_real_library_tells_what_it_uses(void **state)
{
	CLEANUP(close_fd) int fd = open(getenv("TASKSCOPE_TEST_JEMALLOC"), O_RDONLY | O_CLOEXEC);
	struct tsd_layout layout, thread, expected;

	(void)state;
	assert_true(fd >= 0);
	ask_itself("shared", &thread, &expected);
	assert_int_equal(ask_library_fd(fd, NULL, &layout), 0);
	assert_int_equal(layout.allocated, expected.allocated);
	assert_int_equal(layout.deallocated, expected.deallocated);
}

static void a_library_may_have_a_prefix(void **state)
{
	struct tsd_layout layout;

	(void)state;
	assert_int_equal(ask_library("plain.so", NULL, &layout), 0);
	assert_int_equal(layout.allocated, 40);
	assert_int_equal(layout.deallocated, 56);
	assert_int_equal(ask_library("rust.so", NULL, &layout), 0);
	assert_int_equal(layout.allocated, 40);
	assert_int_equal(ask_library("prefixed.so", "odd_prefix_mallctl", &layout), 0);
	assert_int_equal(layout.deallocated, 56);
	assert_library_fails("prefixed.so", -ENOSYS);
	assert_library_fails("without.so", -ENOSYS);
}

static void a_library_that_sleeps_or_spins_costs_no_more_than_the_deadline(void **state)
{
	(void)state;
	assert_library_fails("sleeps.so", -ETIMEDOUT);
	/* Its CPU time may end first. */
	{
		struct tsd_layout layout;
		int status = ask_library("spins.so", NULL, &layout);

		assert_true(status == -ETIMEDOUT || status == -EPROTO);
	}
}

static void a_library_that_crashes_is_an_error(void **state)
{
	(void)state;
	assert_library_fails("crashes.so", -EPROTO);
}

static void counters_outside_of_the_tls_block_are_refused(void **state)
{
	(void)state;
	assert_library_fails("points-elsewhere.so", -ERANGE);
}

static void a_library_cannot_escape(void **state)
{
	struct tsd_layout layout;

	(void)state;
	remove("/tmp/taskscope-oracle-escaped");
	assert_int_equal(ask_library("escapes.so", NULL, &layout), 0);
	assert_int_equal(layout.allocated / 8, layout.deallocated / 8 - 32);
	assert_int_equal(access("/tmp/taskscope-oracle-escaped", F_OK), -1);
}

static void a_library_sees_nothing_of_ours(void **state)
{
	int extra = fcntl(STDIN_FILENO, F_DUPFD, 200);
	struct tsd_layout layout;

	(void)state;
	assert_int_equal(ask_library("looks-around.so", NULL, &layout), 0);
	assert_int_equal(layout.allocated / 8, 3);
	close(extra);
}

#if !defined(ADDRESS_SPACE_IS_RESERVED)
static void a_library_cannot_take_all_memory(void **state)
{
	struct tsd_layout layout;

	(void)state;
	assert_int_equal(ask_library("eats-memory.so", NULL, &layout), 0);
	assert_int_equal(layout.allocated, 9 * 8);
}
#endif

static void what_is_no_library_is_an_error(void **state)
{
	CLEANUP(close_fd) int text = open_object("needed.c");
	CLEANUP(close_fd) int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_fd) int huge = memfd_create("huge", MFD_CLOEXEC);
	CLEANUP(close_fd) int small = open_object("plain.so");
	struct tsd_layout layout;
	char header[64];

	(void)state;
	assert_int_equal(ask_library_fd(text, NULL, &layout), -EBADMSG);
	assert_int_equal(ask_library_fd(directory, NULL, &layout), -EISDIR);
	assert_int_equal(ask_library_fd(-1, NULL, &layout), -EBADF);
	assert_int_equal(read(small, header, 64), 64);
	assert_int_equal(write(huge, header, 64), 64);
	assert_int_equal(ftruncate(huge, (off_t)ORACLE_FILE_MAX + 1), 0);
	assert_int_equal(ask_library_fd(huge, NULL, &layout), -EFBIG);
	assert_int_equal(ftruncate(huge, 64), 0);
	assert_int_equal(ask_library_fd(huge, NULL, &layout), -ENOENT);
}

static void programs_of_every_shape_tell_what_they_use(void **state)
{
	static const char *const names[] = { "pie",	   "fixed",   "static",
					     "static-pie", "private", "program-wants-threads" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct tsd_layout layout, expected, library;

		ask_itself(names[i], &expected, &library);
		assert_int_equal(ask_named_program(names[i], &layout), 0);
		assert_int_equal(layout.allocated, expected.allocated);
		assert_int_equal(layout.deallocated, expected.deallocated);
	}
}

static void a_program_that_would_fork_cannot(void **state)
{
	struct tsd_layout layout;

	(void)state;
	assert_int_equal(ask_named_program("program-forks", &layout), 0);
}

static void programs_that_do_not_come_to_main_are_errors(void **state)
{
	static const struct {
		const char *name;
		int expected;
	} cases[] = {
		{ "program-sleeps", -ETIMEDOUT }, { "program-crashes", -EPROTO },
		{ "program-exits", -ECHILD },	  { "program-traps", -EPROTO },
		{ "program-needs", -ENOENT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tsd_layout layout = { UNTOUCHED, UNTOUCHED };

		assert_int_equal(ask_named_program(cases[i].name, &layout), cases[i].expected);
		assert_int_equal(layout.allocated, UNTOUCHED);
	}
}

static void addresses_that_lie_are_errors(void **state)
{
	CLEANUP(close_fd) int fd = open_object("pie");
	struct oracle_program right = inspect(fd);
	struct oracle_program wrong;
	struct tsd_layout layout;

	(void)state;
	wrong = right;
	wrong.main = 0;
	assert_int_equal(ask_program(&wrong, &layout), -EINVAL);
	wrong = right;
	wrong.main = (uint64_t)1 << 60;
	assert_true(ask_program(&wrong, &layout) < 0);
	wrong = right;
	wrong.mallctl = (uint64_t)1 << 60;
	assert_int_equal(ask_program(&wrong, &layout), -EPROTO);
	wrong = right;
	wrong.mallctl = right.main; /* the trap: it never comes back from it */
	assert_true(ask_program(&wrong, &layout) < 0);
	wrong = right;
	wrong.entry ^= 0x1000;
	assert_true(ask_program(&wrong, &layout) < 0);
}

static void what_is_no_program_is_an_error(void **state)
{
	CLEANUP(close_fd) int text = open_object("needed.c");
	struct oracle_program program = { .fd = text, .entry = 1, .main = 1, .mallctl = 1 };
	struct tsd_layout layout;

	(void)state;
	assert_int_equal(ask_program(&program, &layout), -EBADMSG);
	program.fd = -1;
	assert_int_equal(ask_program(&program, &layout), -EBADF);
}

/* Tried by a child that is one. */
static void a_plain_user_can_ask_as_well(void **state)
{
	CLEANUP(close_fd) int library = open_object("plain.so");
	CLEANUP(close_fd) int program_fd = open_object("pie");
	struct oracle_program program = inspect(program_fd);
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0) {
		struct error error = { 0 };
		struct tsd_layout layout;

		if (geteuid() == 0 && setresuid(PLAIN_USER, PLAIN_USER, PLAIN_USER) < 0 &&
		    errno != EINVAL) /* no such user in this namespace */
			_exit(1);
		if (oracle_ask_library(library, NULL, &layout, &error) < 0)
			_exit(2);
		_exit(oracle_ask_program(&program, &layout, &error) < 0 ? 3 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_real_library_tells_what_it_uses),
		cmocka_unit_test(a_library_may_have_a_prefix),
		cmocka_unit_test(a_library_that_sleeps_or_spins_costs_no_more_than_the_deadline),
		cmocka_unit_test(a_library_that_crashes_is_an_error),
		cmocka_unit_test(counters_outside_of_the_tls_block_are_refused),
		cmocka_unit_test(a_library_cannot_escape),
		cmocka_unit_test(a_library_sees_nothing_of_ours),
#if !defined(ADDRESS_SPACE_IS_RESERVED)
		cmocka_unit_test(a_library_cannot_take_all_memory),
#endif
		cmocka_unit_test(what_is_no_library_is_an_error),
		cmocka_unit_test(programs_of_every_shape_tell_what_they_use),
		cmocka_unit_test(a_program_that_would_fork_cannot),
		cmocka_unit_test(programs_that_do_not_come_to_main_are_errors),
		cmocka_unit_test(addresses_that_lie_are_errors),
		cmocka_unit_test(what_is_no_program_is_an_error),
		cmocka_unit_test(a_plain_user_can_ask_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
