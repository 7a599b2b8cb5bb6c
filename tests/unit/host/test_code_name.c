/* SPDX-License-Identifier: MIT */
/* Names of code in real processes: while they live, and after their end. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "host/code/code.h"
#include "host/code/name/code_name.h"
#include "host/code/code_state.h"
#include "host/code/name/jit_names.h"
#include "host/code/mapped_code.h"
#include "host/code/unwind.h"
#include "host/host.h"
#include "named_programs.h"

#define PLACES_MAX 16
#define PATH_BYTES 512

/* What a sleeper said. */
struct place {
	char kind[32], name[64];
	uint64_t address;
};

struct room {
	struct host *host;
	struct code *code;
	struct address_space *space;
	char directory[64];
	pid_t pid;
	FILE *output;
	struct place places[PLACES_MAX];
	size_t count;
};

static void start(struct room *room, const char *program, const char *library)
{
	int output[2], input[2];

	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	room->pid = fork();
	assert_true(room->pid >= 0);
	if (room->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(input[0], STDIN_FILENO);
		dup2(output[1], STDOUT_FILENO);
		close(input[1]);
		execl(program, program, library, NULL);
		_exit(127);
	}
	close(output[1]);
	close(input[0]); /* the other end stays open: it must not see an end */
	room->output = fdopen(output[0], "r");
	assert_non_null(room->output);
}

static void listen(struct room *room)
{
	char line[256];

	while (fgets(line, sizeof(line), room->output) && strcmp(line, "ready\n") != 0) {
		struct place *place = &room->places[room->count++];

		assert_true(room->count <= PLACES_MAX);
		assert_int_equal(sscanf(line, "%31s %lx %63[^\n]", place->kind, &place->address,
					place->name),
				 3);
	}
	assert_true(room->count > 0);
}

static void end(struct room *room)
{
	char path[64];

	if (!room->pid)
		return;
	kill(room->pid, SIGKILL);
	assert_int_equal(waitpid(room->pid, NULL, 0), room->pid);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)room->pid);
	unlink(path);
	room->pid = 0;
}

static int set_up(void **state)
{
	struct room *room = calloc(1, sizeof(*room));

	assert_int_equal(host_open(&room->host, NULL, NULL), 0);
	assert_int_equal(code_open(room->host, NULL, &room->code), 0);
	snprintf(room->directory, sizeof(room->directory), "/tmp/taskscope-names-XXXXXX");
	assert_non_null(mkdtemp(room->directory));
	*state = room;
	return 0;
}

static void remove_copy(const struct room *room, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", room->directory, name);
	unlink(path);
}

static int tear_down(void **state)
{
	struct room *room = *state;

	end(room);
	if (room->output)
		fclose(room->output);
	remove_copy(room, "sleeper");
	remove_copy(room, "sleeper_stripped");
	remove_copy(room, "sleeper_stripped.debug");
	rmdir(room->directory);
	address_space_free(room->space);
	code_close(room->code);
	host_close(room->host);
	free(room);
	return 0;
}

static const char *made_path(const char *name, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s", getenv("TASKSCOPE_TEST_NAMES"), name);
	return path;
}

/* A copy of a program in a directory of its own. */
static void copy(const struct room *room, const char *name, char path[PATH_BYTES])
{
	char from[PATH_BYTES], buffer[65536];
	int source = open(made_path(name, from), O_RDONLY | O_CLOEXEC), target;
	ssize_t length;

	snprintf(path, PATH_BYTES, "%s/%s", room->directory, name);
	target = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	assert_true(source >= 0 && target >= 0);
	while ((length = read(source, buffer, sizeof(buffer))) > 0)
		assert_int_equal(write(target, buffer, (size_t)length), length);
	close(source);
	close(target);
}

static void run(struct room *room, const char *program, const char *library)
{
	start(room, program, library);
	listen(room);
	room->space = address_space_new(room->code, room->pid, 0);
	assert_non_null(room->space);
	assert_int_equal(address_space_read(room->space), 0);
}

static const struct place *place_of(const struct room *room, const char *kind)
{
	for (size_t i = 0; i < room->count; i++)
		if (strcmp(room->places[i].kind, kind) == 0)
			return &room->places[i];
	fail_msg("the program has no %s", kind);
	return NULL;
}

static struct code_frame frame_at(const struct room *room, uint64_t address)
{
	struct mapped_code *mapped = mapped_code_at(room->space, address);

	assert_non_null(mapped);
	return mapped_code_frame(room->space, mapped, address);
}

static struct code_name name_of(const struct room *room, const char *kind)
{
	struct code_frame frame = frame_at(room, place_of(room, kind)->address);
	struct code_name names[CODE_INLINES_MAX];
	size_t count = code_name(room->code, room->space, &frame, names);

	assert_in_range(count, 1, CODE_INLINES_MAX);
	return names[count - 1];
}

static void assert_named(const struct room *room, const char *kind, const char *module)
{
	struct code_name name = name_of(room, kind);

	assert_non_null(name.function);
	assert_string_equal(name.function, place_of(room, kind)->name);
	assert_non_null(strstr(name.module, module));
}

static void a_process_has_names_for_all_its_code(void **state)
{
	struct room *room = *state;
	char program[PATH_BYTES], library[PATH_BYTES];

	run(room, made_path("sleeper", program), made_path("stripped_library", library));
	assert_named(room, "program", "/sleeper");
	assert_named(room, "library", "/stripped_library");
	assert_named(room, "libc", "libc.so");
	assert_int_equal(strlen(name_of(room, "program").build_id), 40);
	assert_true(name_of(room, "program").start != 0);
}

static void the_vdso_has_names(void **state)
{
	struct room *room = *state;
	char program[PATH_BYTES];
	struct code_name name;

	run(room, made_path("sleeper", program), NULL);
	name = name_of(room, "vdso");
	assert_non_null(name.function);
	assert_non_null(strstr(name.function, "clock_gettime"));
	assert_string_equal(name.module, "[vdso]");
}

static void code_of_a_jit_compiler_keeps_its_name_after_the_end(void **state)
{
	struct room *room = *state;
	struct code_name names[CODE_INLINES_MAX];
	char program[PATH_BYTES];
	struct code_frame frame;

	run(room, made_path("sleeper", program), NULL);
	frame = frame_at(room, place_of(room, "jit")->address);
	assert_null(frame.file);
	assert_int_equal(code_name(room->code, room->space, &frame, names), 1);
	end(room);
	assert_int_equal(code_name(room->code, room->space, &frame, names), 1);
	assert_string_equal(names[0].function, place_of(room, "jit")->name);
	assert_string_equal(names[0].module, "[jit]");
	frame = frame_at(room, place_of(room, "unknown")->address);
	assert_int_equal(code_name(room->code, room->space, &frame, names), 1);
	assert_null(names[0].function);
}

/* What processes run that are gone. */
static void find_in_gone(struct room *room, struct jit_names *names)
{
	static uint64_t number = 1000000;

	for (int32_t i = 0; i < 2 * JIT_PROCESSES_MAX; i++) {
		struct address_space space = { .code = room->code,
					       .pid = INT32_MAX - i,
					       .number = number++ };

		assert_null(jit_names_find(names, &space, 0x1000));
	}
}

/* Most processes have no map: these do not take the places of those that do. */
static void many_processes_without_a_map_leave_room_for_one_with_a_map(void **state)
{
	struct room *room = *state;
	struct jit_names *names = jit_names_new(room->code);
	char program[PATH_BYTES];
	const struct place *place;

	run(room, made_path("sleeper", program), NULL);
	place = place_of(room, "jit");
	find_in_gone(room, names);
	assert_string_equal(jit_names_find(names, room->space, place->address), place->name);
	find_in_gone(room, names);
	assert_string_equal(jit_names_find(names, room->space, place->address), place->name);
	jit_names_free(names);
}

/* An exec leaves the number of the process and the file in /tmp as they were. */
static void a_program_has_no_names_of_the_one_before_it_in_its_process(void **state)
{
	const struct timespec long_ago[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	struct room *room = *state;
	struct jit_names *names = jit_names_new(room->code);
	char program[PATH_BYTES], path[64];
	struct address_space *later;
	const struct place *place;

	run(room, made_path("sleeper", program), NULL);
	place = place_of(room, "jit");
	assert_string_equal(jit_names_find(names, room->space, place->address), place->name);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)room->pid);
	assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	later = address_space_copy(room->space, room->pid, 0);
	address_space_begin(later, monotonic_ns());
	assert_null(jit_names_find(names, later, place->address));
	assert_string_equal(jit_names_find(names, room->space, place->address), place->name);
	address_space_free(later);
	jit_names_free(names);
}

/* A process of another user with a map, which is written when this returns. */
static pid_t start_stranger(void)
{
	int ready[2];
	char byte, path[64];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		FILE *map;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(1);
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
		map = fopen(path, "w");
		if (!map || fputs("1000 10 theirs\n", map) < 0 || fclose(map) != 0)
			_exit(1);
		close(ready[0]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return pid;
}

static void end_stranger(pid_t pid)
{
	char path[64];

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	unlink(path);
}

static void maps_of_strangers_take_no_room_of_others(void **state)
{
	struct room *room = *state;
	struct jit_names *names;
	const char *ours;
	char program[PATH_BYTES];

	if (geteuid() != 0)
		return; /* only root can be another user */
	names = jit_names_new(room->code);
	run(room, made_path("sleeper", program), NULL);
	for (size_t i = 0; i < JIT_PROCESSES_MAX; i++) {
		pid_t stranger = start_stranger();
		struct address_space *space = address_space_new(room->code, stranger, 0);
		bool is_named = jit_names_find(names, space, 0x1000);

		address_space_free(space);
		end_stranger(stranger);
		assert_int_equal(is_named, i < JIT_PROCESSES_SHARE);
	}
	ours = jit_names_find(names, room->space, place_of(room, "jit")->address);
	assert_non_null(ours);
	assert_string_equal(ours, place_of(room, "jit")->name);
	jit_names_free(names);
}

/* A sparse file costs its owner nothing, however large it is. */
static void a_map_is_not_read_for_ever(void **state)
{
	const off_t line_bytes = (4 << 20) - 4096, size = (off_t)128 << 20;
	const char last[] = "\n1000 10 far\n";
	struct room *room = *state;
	struct jit_names *names = jit_names_new(room->code);
	char program[PATH_BYTES], path[64];
	FILE *map;

	run(room, made_path("sleeper", program), NULL);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)room->pid);
	map = fopen(path, "w");
	assert_non_null(map);
	for (off_t place = line_bytes; place < size; place += line_bytes)
		assert_int_equal(pwrite(fileno(map), "\n", 1, place), 1);
	assert_int_equal(pwrite(fileno(map), last, strlen(last), size), strlen(last));
	fclose(map);
	assert_null(jit_names_find(names, room->space, 0x1000));
	jit_names_free(names);
}

static void a_deleted_program_is_named_also_after_its_end(void **state)
{
	struct room *room = *state;
	char program[PATH_BYTES];

	if (geteuid() != 0)
		return; /* only root may open a mapped file that has no name any more */
	copy(room, "sleeper", program);
	start(room, program, NULL);
	listen(room);
	unlink(program);
	room->space = address_space_new(room->code, room->pid, 0);
	assert_int_equal(address_space_read(room->space), 0);
	frame_at(room, place_of(room, "program")->address);
	end(room);
	assert_named(room, "program", "/sleeper");
}

static void a_stripped_program_is_named_by_its_debug_file(void **state)
{
	struct room *room = *state;
	char program[PATH_BYTES], debug[PATH_BYTES];

	copy(room, "sleeper_stripped", program);
	copy(room, "sleeper_stripped.debug", debug);
	run(room, program, NULL);
	assert_named(room, "program", "/sleeper_stripped");
}

static void a_stripped_program_without_one_has_its_module_and_start(void **state)
{
	struct room *room = *state;
	char program[PATH_BYTES];
	struct code_name name;

	copy(room, "sleeper_stripped", program);
	run(room, program, NULL);
	name = name_of(room, "program");
	assert_null(name.function);
	assert_string_equal(name.module, program);
	assert_int_equal(strlen(name.build_id), 40);
	assert_int_equal(name.start,
			 frame_at(room, place_of(room, "program")->address).address - 1);
}

/* The service is asked once for a function, and not again. */
static void a_warm_name_takes_no_question(void **state)
{
	struct room *room = *state;
	struct code_name names[CODE_INLINES_MAX];
	char program[PATH_BYTES];
	struct code_frame frame;
	uint32_t questions;

	run(room, made_path("sleeper", program), NULL);
	assert_named(room, "program", "/sleeper");
	questions = room->code->service.questions;
	frame = frame_at(room, place_of(room, "program")->address);
	frame.address++; /* another address of the same function */
	assert_int_equal(code_name(room->code, room->space, &frame, names), 1);
	assert_string_equal(names[0].function, "own_function");
	assert_int_equal(room->code->service.questions, questions);
}

/* A service that was ended lost its names; what is asked next is named by another. */
static void names_survive_the_end_of_the_service(void **state)
{
	struct room *room = *state;
	char program[PATH_BYTES];

	run(room, made_path("sleeper", program), NULL);
	assert_named(room, "program", "/sleeper");
	code_service_end(&room->code->service);
	assert_named(room, "program", "/sleeper");
	assert_named(room, "libc", "libc.so");
}

/* Where a section of a program is in its file. */
static GElf_Shdr section_of(const char *name, const char *section)
{
	struct program program = program_open(name);
	GElf_Shdr header;

	program_section(&program, section, &header);
	program_close(&program);
	return header;
}

/* Changes every 13th byte of a section of the file, beginning with the given one. */
static void corrupt(const char *path, const GElf_Shdr *section, size_t first)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	uint8_t byte;

	assert_true(fd >= 0);
	for (size_t i = first; i < section->sh_size; i += 13) {
		off_t offset = (off_t)(section->sh_offset + i);

		assert_int_equal(pread(fd, &byte, 1, offset), 1);
		byte ^= (uint8_t)(0x11 * (first + 1));
		assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
	}
	close(fd);
}

/* A file as a process that is gone had it mapped. */
static struct code_file *file_at(struct code *code, const char *path)
{
	struct code_mapping mapping = { .start = 0x1000, .end = 0x2000, .path = path };
	struct code_file *file;
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	mapping.inode = status.st_ino;
	mapping.device = status.st_dev;
	file = code_file_find(code, &mapping, 0, 0);
	assert_non_null(file);
	file = code_file_learn(code, file);
	assert_int_equal(file->state, CODE_FILE_KNOWN);
	return file;
}

/* Names a place of a broken file, whatever comes of it, and one of a whole file. */
static void name_broken_and_whole(const struct room *room, const char *broken, uint64_t address)
{
	struct code_name names[CODE_INLINES_MAX];
	struct code_frame frame = { .address = address };
	char whole[PATH_BYTES];
	struct program_mark mark;
	struct code *code;

	assert_int_equal(code_open(room->host, NULL, &code), 0);
	frame.file = file_at(code, broken);
	assert_in_range(code_name(code, NULL, &frame, names), 1, CODE_INLINES_MAX);
	frame.file = file_at(code, made_path("plain", whole));
	frame.address = program_mark("plain", MARK_STATIC, &mark);
	assert_int_equal(code_name(code, NULL, &frame, names), 1);
	assert_string_equal(names[0].function, "static_function");
	code_close(code);
}

static void broken_debug_information_costs_its_own_names_alone(void **state)
{
	static const char *const sections[] = { ".debug_info", ".debug_abbrev", ".debug_line",
						".debug_str" };
	struct room *room = *state;
	char path[PATH_BYTES];
	struct program_mark mark;
	uint64_t address = program_mark("pie", MARK_CHAIN, &mark);

	for (size_t i = 0; i < 4 * 6; i++) {
		GElf_Shdr section = section_of("pie", sections[i % 4]);

		copy(room, "pie", path);
		corrupt(path, &section, i / 4);
		name_broken_and_whole(room, path, address);
		unlink(path);
	}
}

static void an_address_of_the_kernel_has_a_name_or_a_reason(void **state)
{
	struct room *room = *state;
	struct code_name name;

	assert_null(code_kernel_reason(room->code));
	code_kernel_name(room->code, 1, &name);
	assert_null(name.function);
	assert_string_equal(name.module, "[kernel]");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_process_has_names_for_all_its_code),
		TEST(the_vdso_has_names),
		TEST(code_of_a_jit_compiler_keeps_its_name_after_the_end),
		TEST(many_processes_without_a_map_leave_room_for_one_with_a_map),
		TEST(maps_of_strangers_take_no_room_of_others),
		TEST(a_program_has_no_names_of_the_one_before_it_in_its_process),
		TEST(a_map_is_not_read_for_ever),
		TEST(a_deleted_program_is_named_also_after_its_end),
		TEST(a_stripped_program_is_named_by_its_debug_file),
		TEST(a_stripped_program_without_one_has_its_module_and_start),
		TEST(a_warm_name_takes_no_question),
		TEST(names_survive_the_end_of_the_service),
		TEST(broken_debug_information_costs_its_own_names_alone),
		TEST(an_address_of_the_kernel_has_a_name_or_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
