/* SPDX-License-Identifier: MIT */
/* The oracle, asked about the real jemalloc, in every shape, and about things that mean harm. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "host/oracle/oracle.h"
#include "host/confine/trusted_file.h"
#include "patience.h"
#include "sanitized.h"

#define PLAIN_USER 12345
#define UNTOUCHED 0x1234
#define PATIENCE_MS 2000

static char place[PATH_MAX]; /* of the objects, where nobody else can write to */

static const char *path_of(const char *name)
{
	static char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", place, name);
	return path;
}

static int open_object(const char *name)
{
	int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail_msg("%s: %s", path_of(name), strerror(errno));
	return fd;
}

/* A file as it is now. */
struct asked {
	struct stat mapped;
	struct oracle_file file;
};

static void describe(struct asked *asked, const char *path)
{
	memset(&asked->mapped, 0, sizeof(asked->mapped));
	stat(path, &asked->mapped);
	asked->file = (struct oracle_file){ path, &asked->mapped };
}

static void assert_no_children(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	assert_int_equal(errno, ECHILD);
}

/* Whatever happens: nobody is left behind. */
static int ask_file(const struct oracle_file *file, const char *mallctl, unsigned timeout_ms,
		    struct tsd_layout *ret)
{
	int status;

	*ret = (struct tsd_layout){ UNTOUCHED, UNTOUCHED };
	status = oracle_ask_library(file, mallctl, timeout_ms, ret);
	assert_no_children();
	return status;
}

static int ask_path(const char *path, struct tsd_layout *ret)
{
	struct asked asked;

	describe(&asked, path);
	return ask_file(&asked.file, NULL, HANG_MS, ret);
}

static int ask_library(const char *name, const char *mallctl, struct tsd_layout *ret)
{
	struct asked asked;

	describe(&asked, path_of(name));
	return ask_file(&asked.file, mallctl, HANG_MS, ret);
}

static int ask_briefly(const char *name, struct tsd_layout *ret)
{
	struct asked asked;

	describe(&asked, path_of(name));
	return ask_file(&asked.file, NULL, PATIENCE_MS, ret);
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

static struct oracle_program inspect(const char *name)
{
	CLEANUP(close_fd) int fd = open_object(name);
	struct oracle_program program = { 0 };
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

static int ask_program(struct oracle_program program, const char *name, unsigned timeout_ms,
		       struct tsd_layout *ret)
{
	struct asked asked;
	int status;

	describe(&asked, path_of(name));
	program.file = asked.file;
	status = oracle_ask_program(&program, timeout_ms, ret);
	assert_no_children();
	return status;
}

static int ask_named_program(const char *name, struct tsd_layout *ret)
{
	return ask_program(inspect(name), name, HANG_MS, ret);
}

static void the_real_library_tells_what_it_uses(void **state)
{
	char *path = realpath(getenv("TASKSCOPE_TEST_JEMALLOC"), NULL); /* as a map has it */
	struct tsd_layout layout, thread, expected;

	(void)state;
	assert_non_null(path);
	ask_itself("shared", &thread, &expected);
	assert_int_equal(ask_path(path, &layout), 0);
	free(path);
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

/* Where the CPUs were busy, nobody can say whose fault it was. */
static bool is_late(int status)
{
	return status == -ETIMEDOUT || status == -EBUSY;
}

static void a_library_that_sleeps_or_spins_costs_no_more_than_the_deadline(void **state)
{
	struct tsd_layout layout;
	int status;

	(void)state;
	assert_true(is_late(ask_briefly("sleeps.so", &layout)));
	assert_int_equal(layout.allocated, UNTOUCHED);
	status = ask_briefly("spins.so", &layout);
	assert_true(is_late(status) || status == -EPROTO); /* its CPU time may end first */
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

static void write_file(const char *path, const char *bytes, size_t length, off_t size, mode_t mode)
{
	CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	assert_int_equal(write(fd, bytes, length), (ssize_t)length);
	assert_int_equal(ftruncate(fd, size), 0);
}

static void what_is_no_library_is_an_error(void **state)
{
	CLEANUP(close_fd) int small = open_object("plain.so");
	struct tsd_layout layout;
	char header[64];

	(void)state;
	assert_int_equal(ask_library("needed.c", NULL, &layout), -EBADMSG);
	assert_int_equal(read(small, header, 64), 64);
	write_file(path_of("made.so"), header, 64, 64, 0644);
	assert_int_equal(ask_library("made.so", NULL, &layout), -ENOENT);
	remove(path_of("made.so"));
	if (geteuid() != 0)
		return; /* only who becomes another needs a copy */
	write_file(path_of("made.so"), header, 64, (off_t)ORACLE_FILE_MAX + 1, 0600);
	assert_int_equal(ask_library("made.so", NULL, &layout), -EFBIG);
	remove(path_of("made.so"));
}

/* ---- trust ---- */

static char marker[PATH_MAX]; /* what this build's libraries open */

static void read_marker(void)
{
	CLEANUP(close_fd) int fd = open_object("marker");

	assert_true(read(fd, marker, sizeof(marker) - 1) > 0);
}

/* Whether anybody opens the marker, which is what strangers' code does as soon as it runs. */
static int watch_marker(void)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	write_file(marker, "", 0, 0, 0644);
	assert_true(inotify_add_watch(watch, marker, IN_OPEN) >= 0);
	return watch;
}

static bool has_run(int watch)
{
	char event[4096];

	return read(watch, event, sizeof(event)) > 0;
}

static void assert_rejected(const char *path)
{
	CLEANUP(close_fd) int watch = watch_marker();
	struct tsd_layout layout;

	assert_int_equal(ask_path(path, &layout), -EKEYREJECTED);
	assert_int_equal(layout.allocated, UNTOUCHED);
	assert_false(has_run(watch));
}

static void give_to(const char *name, uid_t user, mode_t mode)
{
	assert_int_equal(chown(path_of(name), user, 0), 0);
	assert_int_equal(chmod(path_of(name), mode), 0);
}

/* The marker tells: else no test below could fail. */
static void code_that_is_trusted_runs(void **state)
{
	CLEANUP(close_fd) int watch = watch_marker();
	struct tsd_layout layout;

	(void)state;
	assert_int_equal(ask_library("marks.so", NULL, &layout), 0);
	assert_true(has_run(watch));
}

static void a_file_that_others_can_write_is_not_run(void **state)
{
	static const mode_t modes[] = { 0664, 0646, 0666 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		assert_int_equal(chmod(path_of("marks.so"), modes[i]), 0);
		assert_rejected(path_of("marks.so"));
	}
	assert_int_equal(chmod(path_of("marks.so"), 0644), 0);
}

static void a_file_in_a_directory_that_others_can_write_is_not_run(void **state)
{
	static const mode_t modes[] = { 0775, 0757, 01777 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		assert_int_equal(chmod(path_of("deep"), modes[i]), 0);
		assert_rejected(path_of("deep/er/marks.so"));
	}
	assert_int_equal(chmod(path_of("deep"), 0755), 0);
}

static void a_file_of_another_is_not_run(void **state)
{
	(void)state;
	if (geteuid() != 0)
		return;
	give_to("marks.so", PLAIN_USER, 0644);
	assert_rejected(path_of("marks.so"));
	give_to("marks.so", 0, 0644);
	give_to("deep/er", PLAIN_USER, 0755);
	assert_rejected(path_of("deep/er/marks.so"));
	give_to("deep/er", 0, 0755);
}

static void a_path_that_leads_elsewhere_is_not_run(void **state)
{
	struct asked asked;
	struct tsd_layout layout;

	(void)state;
	assert_rejected(path_of("link.so"));
	assert_rejected(path_of("deep/link/marks.so"));
	assert_rejected(path_of("deep"));
	assert_rejected("marks.so");
	assert_rejected("");
	assert_rejected("/");
	assert_rejected(path_of("is-not-there.so"));
	/* Another file than the one that is mapped, or the same, changed since. */
	describe(&asked, path_of("marks.so"));
	asked.file.path = path_of("plain.so");
	assert_int_equal(ask_file(&asked.file, NULL, HANG_MS, &layout), -EKEYREJECTED);
	describe(&asked, path_of("marks.so"));
	asked.mapped.st_ctim.tv_nsec ^= 1;
	assert_int_equal(ask_file(&asked.file, NULL, HANG_MS, &layout), -EKEYREJECTED);
}

/* A trusted file can send the loader anywhere: what it finds there must be trusted too. */
static void what_a_trusted_file_brings_along_is_not_run_when_it_is_a_strangers(void **state)
{
	static const char *const programs[] = { "program-strays", "program-strays-far",
						"program-interpreted" };
	struct tsd_layout layout;

	(void)state;
	/* As long as the others' directory is ours, all is well. */
	assert_int_equal(ask_library("strays.so", NULL, &layout), 0);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		assert_int_equal(ask_named_program(programs[i], &layout), 0);
	assert_int_equal(chmod(path_of("strange"), 01777), 0);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		CLEANUP(close_fd) int watch = watch_marker();

		assert_int_equal(ask_named_program(programs[i], &layout), -EKEYREJECTED);
		assert_false(has_run(watch));
	}
	assert_rejected(path_of("strays.so"));
	assert_int_equal(chmod(path_of("strange"), 0755), 0);
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
		int status = ask_program(inspect(cases[i].name), cases[i].name, PATIENCE_MS, &layout);

		if (is_late(cases[i].expected))
			assert_true(is_late(status));
		else
			assert_int_equal(status, cases[i].expected);
		assert_int_equal(layout.allocated, UNTOUCHED);
	}
}

static void addresses_that_lie_are_errors(void **state)
{
	const struct oracle_program right = inspect("pie");
	struct oracle_program wrong;
	struct tsd_layout layout;

	(void)state;
	wrong = right;
	wrong.main = 0;
	assert_int_equal(ask_program(wrong, "pie", HANG_MS, &layout), -EINVAL);
	wrong = right;
	wrong.main = (uint64_t)1 << 60;
	assert_true(ask_program(wrong, "pie", PATIENCE_MS, &layout) < 0);
	wrong = right;
	wrong.mallctl = (uint64_t)1 << 60;
	assert_int_equal(ask_program(wrong, "pie", HANG_MS, &layout), -EPROTO);
	wrong = right;
	wrong.mallctl = right.main; /* the trap: it never comes back from it */
	assert_true(ask_program(wrong, "pie", PATIENCE_MS, &layout) < 0);
	wrong = right;
	wrong.entry ^= 0x1000;
	assert_true(ask_program(wrong, "pie", PATIENCE_MS, &layout) < 0);
}

static void what_is_no_program_is_an_error(void **state)
{
	const struct oracle_program program = { .entry = 1, .main = 1, .mallctl = 1 };
	struct tsd_layout layout;

	(void)state;
	assert_int_equal(ask_program(program, "needed.c", HANG_MS, &layout), -EBADMSG);
	assert_int_equal(ask_program(program, "is-not-there", HANG_MS, &layout), -EKEYREJECTED);
}

static int ask_as(uid_t user, const char *name)
{
	struct tsd_layout layout;
	struct asked asked;

	if (geteuid() == 0 && setresuid(user, user, user) < 0)
		return errno == EINVAL ? 0 : 1; /* no such user in this namespace */
	describe(&asked, path_of(name));
	return -oracle_ask_library(&asked.file, NULL, HANG_MS, &layout);
}

/* Tried by a child that is one: 0 or an errno. */
static int try_as(uid_t user, const char *name)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(ask_as(user, name));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_plain_user_can_ask_about_what_is_roots_or_theirs(void **state)
{
	(void)state;
	assert_int_equal(try_as(PLAIN_USER, "plain.so"), 0);
	if (geteuid() != 0)
		return;
	give_to("deep/er", PLAIN_USER, 0700);
	give_to("deep/er/marks.so", PLAIN_USER, 0600);
	assert_int_equal(try_as(PLAIN_USER, "deep/er/marks.so"), 0);
	assert_int_equal(try_as(PLAIN_USER + 1, "deep/er/marks.so"), EKEYREJECTED);
	give_to("deep/er", PLAIN_USER + 1, 0755);
	assert_int_equal(try_as(PLAIN_USER, "deep/er/marks.so"), EKEYREJECTED);
	/* Who is not known in a namespace has that number, and others have it too. */
	give_to("deep/er", 65534, 0755);
	give_to("deep/er/marks.so", 65534, 0644);
	assert_int_equal(try_as(65534, "deep/er/marks.so"), EKEYREJECTED);
	give_to("deep/er", 0, 0755);
	give_to("deep/er/marks.so", 0, 0644);
}

static void run_program(char *const *arguments)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execvp(arguments[0], arguments);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static bool is_place(const char *made)
{
	CLEANUP(close_fd) int fd = -1;

	snprintf(place, sizeof(place), "%s", made);
	fd = trusted_file_open(path_of("plain.so"), NULL);
	return fd >= 0;
}

/* The files name each other by where they were made: these names keep their length. */
static void name_place_in_files(const char *made)
{
	static const char script[] =
		"cd \"$1\" && new=$1; while [ ${#new} -lt ${#0} ]; do new=$new/; done;"
		"LC_ALL=C exec sed -i \"s,$0,$new,g\" strays.so libbetween.so program-strays"
		" program-strays-far program-interpreted";

	assert_true(strlen(place) <= strlen(made));
	run_program((char *[]){ "sh", "-c", (char *)script, (char *)made, place, NULL });
}

/* A build directory that anybody can write to is no place for code that is to be run. */
static int find_place(void **state)
{
	const char *made = getenv("TASKSCOPE_TEST_ORACLE");

	(void)state;
	if (!is_place(made)) {
		snprintf(place, sizeof(place), "/var/lib/taskscope-test.XXXXXX");
		assert_non_null(mkdtemp(place));
		assert_int_equal(chmod(place, 0755), 0);
		run_program((char *[]){ "cp", "-RT", (char *)made, place, NULL });
		name_place_in_files(made);
	}
	read_marker();
	return 0;
}

static int leave_place(void **state)
{
	(void)state;
	remove(marker);
	if (strncmp(place, "/var/lib/", 9) == 0)
		run_program((char *[]){ "rm", "-r", place, NULL });
	return 0;
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
		cmocka_unit_test(code_that_is_trusted_runs),
		cmocka_unit_test(a_file_that_others_can_write_is_not_run),
		cmocka_unit_test(a_file_in_a_directory_that_others_can_write_is_not_run),
		cmocka_unit_test(a_file_of_another_is_not_run),
		cmocka_unit_test(a_path_that_leads_elsewhere_is_not_run),
		cmocka_unit_test(
			what_a_trusted_file_brings_along_is_not_run_when_it_is_a_strangers),
		cmocka_unit_test(programs_of_every_shape_tell_what_they_use),
		cmocka_unit_test(a_program_that_would_fork_cannot),
		cmocka_unit_test(programs_that_do_not_come_to_main_are_errors),
		cmocka_unit_test(addresses_that_lie_are_errors),
		cmocka_unit_test(what_is_no_program_is_an_error),
		cmocka_unit_test(a_plain_user_can_ask_about_what_is_roots_or_theirs),
	};

	if (geteuid() != 0 && !is_place(getenv("TASKSCOPE_TEST_ORACLE"))) {
		printf("1..0 # SKIP others can write to a directory above the build\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, find_place, leave_place);
}
