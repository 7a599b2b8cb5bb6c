/* SPDX-License-Identifier: MIT */
/* Which files are opened and believed, and what becomes of a service that fails. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "host/code/code_state.h"
#include "host/code/mount_trust.h"
#include "host/elf/elf_inspect.h"
#include "host/elf/process_maps.h"
#include "host/host.h"
#include "objects.h"
#include "patience.h"

struct room {
	struct host *host;
	struct code *code;
};

static int set_up(void **state)
{
	struct room *room = calloc(1, sizeof(*room));

	assert_int_equal(host_open(&room->host, NULL, NULL), 0);
	assert_int_equal(code_open(room->host, NULL, &room->code), 0);
	*state = room;
	return 0;
}

static int tear_down(void **state)
{
	struct room *room = *state;

	code_close(room->code);
	host_close(room->host);
	free(room);
	return 0;
}

static struct code_counts counts(const struct room *room)
{
	struct code_counts found;

	code_counts(room->code, &found);
	return found;
}

static const char *object_path(const char *name, char buffer[4096])
{
	snprintf(buffer, 4096, "%s/%s", getenv("TASKSCOPE_TEST_OBJECTS"), name);
	return buffer;
}

static struct elf_findings inspect(const char *name)
{
	struct elf_findings findings;
	int fd = object_open(name);

	assert_int_equal(elf_inspect(fd, &findings), 0);
	close(fd);
	return findings;
}

/* A file of our own tests, as a process that is gone had it mapped. */
static struct code_file *find(struct room *room, const char *name, const char *with_id_of)
{
	char path[4096];
	struct code_mapping mapping = { .start = 0x1000,
					.end = 0x2000,
					.path = object_path(name, path) };

	if (with_id_of) {
		struct elf_findings findings = inspect(with_id_of);

		mapping.build_id_size = (uint8_t)findings.build_id_size;
		memcpy(mapping.build_id, findings.build_id, findings.build_id_size);
	}
	return code_file_find(room->code, &mapping, 0, 0);
}

static void a_file_is_found_by_its_build_id_after_its_process_ended(void **state)
{
	struct elf_findings findings = inspect("plain");
	struct code_file *file = find(*state, "plain", "plain");

	assert_non_null(file);
	assert_ptr_equal(code_file_learn(((struct room *)*state)->code, file), file);
	assert_int_equal(file->state, CODE_FILE_KNOWN);
	assert_true(file->entry == findings.entry);
	assert_int_equal(file->segment_count, 1);
	assert_ptr_equal(find(*state, "stripped", "plain"), file);
	assert_int_equal(counts(*state).files, 1);
	assert_int_equal(counts(*state).bad_files, 0);
	assert_true(counts(*state).service_cpu_ns > 0);
	assert_true(counts(*state).service_peak_rss_bytes > 0);
}

static void a_file_with_another_build_id_is_not_believed(void **state)
{
	struct code_file *file = find(*state, "plain", "large");

	assert_int_equal(code_file_learn(((struct room *)*state)->code, file)->state,
			 CODE_FILE_MISSING);
	assert_int_equal(counts(*state).bad_files, 1);
	/* The next process that maps it may have the right one. */
	assert_ptr_equal(find(*state, "large", "large"), file);
	assert_int_equal(code_file_learn(((struct room *)*state)->code, file)->state,
			 CODE_FILE_KNOWN);
	assert_int_equal(counts(*state).bad_files, 1);
}

static void a_path_alone_is_not_believed(void **state)
{
	struct code_file *file = find(*state, "plain", NULL);

	assert_int_equal(file->state, CODE_FILE_MISSING);
	assert_int_equal(counts(*state).files, 0);
}

/* A file without a build id, whose process is gone: the same inode is the same file. */
static void a_path_to_the_mapped_inode_is_believed(void **state)
{
	struct room *room = *state;
	char path[4096];
	struct code_mapping mapping = { .path = object_path("plain", path) };
	struct stat file;

	assert_int_equal(stat(path, &file), 0);
	mapping.device = file.st_dev;
	mapping.inode = file.st_ino + 1;
	assert_int_equal(code_file_find(room->code, &mapping, 0, 0)->state, CODE_FILE_MISSING);
	mapping.inode = file.st_ino;
	assert_int_equal(code_file_find(room->code, &mapping, 0, 0)->state, CODE_FILE_NEW);
}

static void a_file_that_was_written_to_is_another(void **state)
{
	struct room *room = *state;
	int fd = object_copy("plain");
	void *mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	struct code_mapping mapping = { .start = (uint64_t)mapped,
					.end = (uint64_t)mapped + 4096,
					.path = "/memfd:plain (deleted)" };
	struct code_file *file;
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	mapping.device = status.st_dev;
	mapping.inode = status.st_ino;
	file = code_file_find(room->code, &mapping, getpid(), 0);
	assert_ptr_equal(code_file_find(room->code, &mapping, getpid(), 0), file);
	assert_int_equal(ftruncate(fd, 2 * status.st_size), 0);
	/* Only who has the right to ask the kernel can know. */
	if (code_stat_mapping(room->code, &mapping, getpid(), 0, &status) != CODE_OWNER_UNKNOWN)
		assert_ptr_not_equal(code_file_find(room->code, &mapping, getpid(), 0), file);
	munmap(mapped, 4096);
	close(fd);
}

/* A stranger can write any build id into a file of his. */
static void a_strangers_file_is_used_for_nobody_else(void **state)
{
	struct elf_findings findings = inspect("plain");
	struct room *room = *state;
	char path[] = "/tmp/taskscope-XXXXXX";
	struct code_mapping mapping = { .path = path,
					.build_id_size = (uint8_t)findings.build_id_size };
	int fd = mkostemp(path, O_CLOEXEC), content = object_copy("plain");
	struct code_file *stranger, *trusted;

	if (geteuid() == 0)
		assert_int_equal(fchown(fd, 12345, 12345), 0);
	lseek(content, 0, SEEK_SET);
	assert_true(sendfile(fd, content, NULL, 1 << 20) > 0);
	memcpy(mapping.build_id, findings.build_id, findings.build_id_size);
	stranger = code_file_find(room->code, &mapping, 0, 0);
	assert_int_equal(code_file_learn(room->code, stranger)->state, CODE_FILE_KNOWN);
	trusted = find(room, "plain", "plain");
	assert_int_equal(code_file_learn(room->code, trusted)->state, CODE_FILE_KNOWN);
	if (geteuid() == 0) {
		assert_int_equal(stranger->owner, 12345);
		assert_ptr_not_equal(stranger, trusted);
		assert_ptr_equal(stranger->service, &room->code->strangers);
	}
	if (trusted->owner == CODE_OWNER_TRUSTED) {
		assert_ptr_equal(trusted->service, &room->code->service);
		/* From now on everyone has the file that is trusted. */
		assert_ptr_equal(code_file_find(room->code, &mapping, 0, 0), trusted);
	}
	unlink(path);
	close(content);
	close(fd);
}

/* Stands in for a file system that does not answer, until a byte is there to be read. */
static int silence = -1;

int __real_process_mapping_open(int process, const struct process_mapping *mapping);
int __wrap_process_mapping_open(int process, const struct process_mapping *mapping);

int __wrap_process_mapping_open(int process, const struct process_mapping *mapping)
{
	char byte;

	if (silence >= 0 && read(silence, &byte, 1) < 0)
		return -errno;
	return __real_process_mapping_open(process, mapping);
}

static struct code_file *find_own(struct room *room, uint64_t inode)
{
	const struct code_mapping mapping = { .path = "/silent", .inode = inode };

	return code_file_find(room->code, &mapping, getpid(), 0);
}

static void a_file_system_that_does_not_answer_costs_few_threads(void **state)
{
	struct room *room = *state;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	room->code->limits.answer_ms = 1;
	silence = ends[0];
	for (uint64_t inode = 1; inode < 100; inode++)
		assert_int_equal(find_own(room, inode)->state, CODE_FILE_MISSING);
	assert_int_equal(code_user_find(room->code, CODE_OWNER_TRUSTED)->late_opens, 8);
	assert_int_equal(counts(room).files, 0);
	silence = -1;
	/* The threads end when the file system is there again. */
	close(ends[1]);
}

/* A process of a user who is not ours; 0 when we may not make one. */
static pid_t start_stranger(void)
{
	int ends[2];
	pid_t pid;
	char byte;

	if (geteuid() != 0)
		return 0;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(ends[0]);
		if (setresuid(65534, 65534, 65534) == 0 && write(ends[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(ends[0]);
	return pid;
}

static void strangers_who_do_not_answer_do_not_keep_others_from_being_read(void **state)
{
	struct room *room = *state;
	struct code_mapping mapping = { .path = "/silent" };
	pid_t stranger = start_stranger();
	int ends[2];

	if (!stranger)
		return; /* only root can be somebody else */
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	room->code->limits.answer_ms = 1;
	silence = ends[0];
	for (mapping.inode = 1; mapping.inode < 100; mapping.inode++)
		code_file_find(room->code, &mapping, stranger, 0);
	silence = -1;
	close(ends[1]);
	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
	room->code->limits.answer_ms = 10000;
	mapping = (struct code_mapping){ .path = "/etc/passwd", .build_id_size = 1 };
	assert_int_equal(code_file_find(room->code, &mapping, getpid(), 0)->state, CODE_FILE_NEW);
}

static void what_is_no_program_is_not_bad(void **state)
{
	struct room *room = *state;
	struct code_mapping mapping = { .path = "/x", .inode = 1 };
	struct code_file *file = code_file_find(room->code, &mapping, 0, 0);

	file->fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	file->state = CODE_FILE_NEW;
	assert_int_equal(code_file_learn(room->code, file)->state, CODE_FILE_OTHER);
	assert_int_equal(counts(room).bad_files, 0);
}

static void a_pipe_is_not_opened(void **state)
{
	char directory[] = "/tmp/taskscope-XXXXXX", path[64];
	struct code_mapping mapping = { .path = path, .build_id_size = 4 };
	struct code_file *file;

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/pipe", directory);
	assert_int_equal(mkfifo(path, 0600), 0);
	file = code_file_find(((struct room *)*state)->code, &mapping, getpid(), 0);
	assert_int_equal(file->state, CODE_FILE_MISSING);
	unlink(path);
	rmdir(directory);
}

static void the_kernels_own_code_is_known(void **state)
{
	struct room *room = *state;
	struct code_mapping mapping = { .path = "[vdso]" };
	struct code_file *file = code_file_find(room->code, &mapping, 0, 0);

	assert_int_equal(code_file_learn(room->code, file)->state, CODE_FILE_KNOWN);
	assert_true(file->build_id_size > 0);
	assert_int_equal(file->segment_count, 1);
	mapping.path = "//anon";
	assert_null(code_file_find(room->code, &mapping, 0, 0));
	mapping.path = "[heap]";
	assert_null(code_file_find(room->code, &mapping, 0, 0));
}

/* Asks about some file, so that the service surely runs. */
static void signal_service(struct room *room, int number)
{
	struct code_file *file = code_file_learn(room->code, find(room, "static", "static"));

	assert_int_equal(file->state, CODE_FILE_KNOWN);
	assert_true(file->service->pid > 0);
	kill(file->service->pid, number);
}

/* Confined before it answers, it has its limits when it has answered. */
static void a_service_that_was_taken_over_does_not_compute_for_ever(void **state)
{
	struct room *room = *state;
	char path[64], line[256] = "";
	FILE *limits;

	signal_service(room, 0);
	snprintf(path, sizeof(path), "/proc/%d/limits", (int)room->code->service.pid);
	limits = fopen(path, "re");
	assert_non_null(limits);
	while (fgets(line, sizeof(line), limits) && strncmp(line, "Max cpu time", 12) != 0)
		continue;
	fclose(limits);
	assert_int_equal(strncmp(line, "Max cpu time", 12), 0);
	assert_null(strstr(line, "unlimited"));
}

/* Ends the service, which is stopped, as soon as it was asked something. */
static void *end_when_asked(void *argument)
{
	const struct code_service *service = argument;

	while (__atomic_load_n(&service->questions, __ATOMIC_RELAXED) == 0)
		sched_yield();
	kill(service->pid, SIGKILL);
	return NULL;
}

static void the_file_in_work_is_bad_when_the_service_dies(void **state)
{
	struct room *room = *state;
	struct code_file *first = find(room, "plain", "plain");
	struct code_file *second = find(room, "large", "large");
	pthread_t ender;

	signal_service(room, SIGSTOP);
	first->service->questions = 0;
	assert_int_equal(pthread_create(&ender, NULL, end_when_asked, first->service), 0);
	first->service->answer_ms = HANG_MS;
	assert_int_equal(code_file_learn(room->code, first)->state, CODE_FILE_BAD);
	assert_int_equal(pthread_join(ender, NULL), 0);
	assert_int_equal(code_file_learn(room->code, second)->state, CODE_FILE_KNOWN);
	assert_int_equal(counts(room).restarts, 1);
	assert_int_equal(counts(room).bad_files, 1);
	/* It is not tried again. */
	assert_ptr_equal(find(room, "plain", "plain"), first);
	assert_int_equal(code_file_learn(room->code, first)->state, CODE_FILE_BAD);
	assert_int_equal(counts(room).restarts, 1);
}

static void nobody_is_blamed_for_a_service_that_died_idle(void **state)
{
	struct room *room = *state;
	struct code_file *file = find(room, "plain", "plain");

	signal_service(room, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)file->service->pid, NULL, WEXITED | WNOWAIT), 0);
	assert_int_equal(code_file_learn(room->code, file)->state, CODE_FILE_KNOWN);
	assert_int_equal(counts(room).restarts, 1);
	assert_int_equal(counts(room).bad_files, 0);
}

static void a_file_is_sent_again_to_the_next_service(void **state)
{
	struct room *room = *state;
	struct code_question question = { .kind = CODE_ASK_FILE };
	struct code_file *first = code_file_learn(room->code, find(room, "plain", "plain"));
	struct code_file *second = code_file_learn(room->code, find(room, "large", "large"));

	code_file_distrust(room->code, second);
	assert_int_equal(code_file_ask(room->code, second, &question), -ENODATA);
	assert_int_equal(code_file_ask(room->code, first, &question),
			 sizeof(struct code_file_answer));
	assert_int_equal(counts(room).restarts, 1);
}

static void a_service_that_does_not_answer_is_ended(void **state)
{
	struct room *room = *state;
	struct code_file *file = find(room, "plain", "plain");

	signal_service(room, SIGSTOP);
	file->service->answer_ms = 1;
	assert_int_equal(code_file_learn(room->code, file)->state, CODE_FILE_BAD);
	assert_int_equal(file->service->pid, 0);
}

static void a_service_that_always_fails_is_not_started_for_ever(void **state)
{
	struct room *room = *state;
	struct code_file *file = code_file_learn(room->code, find(room, "plain", "plain"));
	struct code_question question = { .kind = CODE_ASK_FILE };

	for (unsigned i = 0; i < 2 * CODE_STARTS_MAX; i++) {
		code_file_ask(room->code, file, &question);
		code_service_end(file->service);
	}
	assert_int_equal(code_file_ask(room->code, file, &question), -ENODATA);
	assert_int_equal(counts(room).restarts, CODE_STARTS_MAX - 1);
}

/* A file as if it belonged to that user. */
static struct code_file *find_of(struct room *room, const char *name, uint32_t uid)
{
	struct code_file *file = find(room, name, name);

	file->user = code_user_find(room->code, uid);
	return file;
}

static void a_slow_file_is_given_up_before_the_others_of_its_user(void **state)
{
	struct room *room = *state;
	struct code_file *slow = find_of(room, "plain", 1000);
	struct code_file *other = find_of(room, "large", 1000);
	struct code_file *trusted = find(room, "static", "static");
	const uint64_t answer_ns = room->code->limits.answer_ms * NS_PER_MS;
	struct code_question question = { .kind = CODE_ASK_FILE };

	/* Each of its answers comes just in time. */
	code_user_charge(slow, monotonic_ns() - answer_ns * 9 / 10, 0);
	assert_int_equal(code_file_learn(room->code, slow)->state, CODE_FILE_KNOWN);
	code_user_charge(slow, monotonic_ns() - answer_ns * 9 / 10, 0);
	code_user_charge(trusted, monotonic_ns() - 100 * answer_ns, 0);
	assert_int_equal(code_file_ask(room->code, slow, &question), -EBUSY);
	assert_int_equal(counts(room).refused, 1);
	assert_int_equal(code_file_learn(room->code, other)->state, CODE_FILE_KNOWN);
	assert_int_equal(code_file_learn(room->code, trusted)->state, CODE_FILE_KNOWN);
}

static void a_user_who_took_his_share_waits_and_others_do_not(void **state)
{
	struct room *room = *state;
	struct code_file *his = find_of(room, "plain", 1000);
	struct code_file *of_other = find_of(room, "large", 1001);

	his->user->waited_ns = 3 * room->code->limits.answer_ms * NS_PER_MS;
	assert_int_equal(code_file_learn(room->code, his)->state, CODE_FILE_NEW);
	assert_int_equal(code_file_learn(room->code, of_other)->state, CODE_FILE_KNOWN);
	/* With time, there is a new share: then it is asked. */
	room->code->users.begin_ns = monotonic_ns() - 60 * NS_PER_SECOND;
	assert_int_equal(code_file_learn(room->code, his)->state, CODE_FILE_KNOWN);
	assert_int_equal(counts(room).bad_files, 0);
}

static void whose_files_end_the_service_cannot_end_it_for_others(void **state)
{
	struct room *room = *state;
	struct code_file *his = find_of(room, "plain", 1000);
	struct code_file *of_other = find_of(room, "large", 1001);

	for (int i = 0; i < 3; i++)
		code_user_charge(his, monotonic_ns(), -EPROTO);
	assert_true(code_user_may_ask(room->code, his));
	code_user_charge(his, monotonic_ns(), -ETIMEDOUT);
	assert_int_equal(code_file_learn(room->code, his)->state, CODE_FILE_NEW);
	assert_int_equal(code_file_learn(room->code, of_other)->state, CODE_FILE_KNOWN);
}

/* Of a process that is gone, nobody knows whose it was. */
static void a_user_can_only_fill_his_part_of_the_list(void **state)
{
	struct room *room = *state;
	struct code_mapping mapping = { .path = "/none" };

	for (mapping.inode = 1; mapping.inode <= CODE_FILES_MAX; mapping.inode++)
		if (!code_file_find(room->code, &mapping, INT32_MAX, 0))
			break;
	assert_int_equal(mapping.inode, CODE_FILES_MAX / 8 + 1);
	mapping = (struct code_mapping){ .path = "/etc/passwd", .build_id_size = 1 };
	assert_int_equal(code_file_find(room->code, &mapping, getpid(), 0)->state, CODE_FILE_NEW);
}

/* In namespaces of its own, as that user: an overlay of folders of root.  0 when that is not allowed here. */
static pid_t start_overlay(uid_t uid, const char *place)
{
	const int flags = uid ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS;
	int ends[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(ends[0]);
		if (setresuid(uid, uid, uid) == 0 && unshare(flags) == 0 &&
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		    mount("overlay", place, "overlay", 0, "lowerdir=/usr/bin:/usr/sbin") == 0 &&
		    write(ends[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(ends[0]);
	return pid;
}

/* Whether a file of root below the overlay of the process is believed to be root's; -1: there is no overlay. */
static int overlay_is_believed(uid_t uid)
{
	char place[] = "/tmp/taskscope-XXXXXX", path[128];
	struct stat status;
	int process, fd, is_believed = -1, is_believed_without = 0;
	pid_t pid;

	assert_non_null(mkdtemp(place));
	assert_int_equal(chmod(place, 0755), 0);
	pid = start_overlay(uid, place);
	if (pid) {
		snprintf(path, sizeof(path), "/proc/%d", (int)pid);
		process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/%d/root%s/env", (int)pid, place);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(process >= 0 && fd >= 0);
		assert_int_equal(fstat(fd, &status), 0);
		assert_int_equal(status.st_uid, 0);
		is_believed = mount_is_believed(fd, process);
		is_believed_without = mount_is_believed(fd, -1);
		close(fd);
		close(process);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	rmdir(place);
	assert_false(is_believed_without); /* it is in another mount namespace than ours */
	return is_believed;
}

static void an_overlay_is_believed_where_root_mounted_it(void **state)
{
	(void)state;
	if (geteuid() != 0)
		return; /* only root can be somebody else */
	assert_int_not_equal(overlay_is_believed(65534), 1);
	assert_int_not_equal(overlay_is_believed(0), 0);
}

static void strangers_beyond_the_table_share_a_row(void **state)
{
	struct room *room = *state;
	struct code_user *last = NULL;

	for (uint32_t uid = 1000; uid < 1000 + 2 * CODE_USERS_MAX; uid++)
		last = code_user_find(room->code, uid);
	assert_ptr_equal(last, code_user_find(room->code, 999999));
	assert_ptr_not_equal(last, code_user_find(room->code, 1000));
	assert_int_equal(code_user_find(room->code, CODE_OWNER_TRUSTED)->uid, CODE_OWNER_TRUSTED);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_file_is_found_by_its_build_id_after_its_process_ended),
		CASE(a_file_with_another_build_id_is_not_believed),
		CASE(a_path_alone_is_not_believed),
		CASE(a_path_to_the_mapped_inode_is_believed),
		CASE(a_file_that_was_written_to_is_another),
		CASE(a_strangers_file_is_used_for_nobody_else),
		CASE(a_file_system_that_does_not_answer_costs_few_threads),
		CASE(strangers_who_do_not_answer_do_not_keep_others_from_being_read),
		CASE(a_slow_file_is_given_up_before_the_others_of_its_user),
		CASE(a_user_who_took_his_share_waits_and_others_do_not),
		CASE(whose_files_end_the_service_cannot_end_it_for_others),
		CASE(a_user_can_only_fill_his_part_of_the_list),
		CASE(an_overlay_is_believed_where_root_mounted_it),
		CASE(strangers_beyond_the_table_share_a_row),
		CASE(what_is_no_program_is_not_bad),
		CASE(a_pipe_is_not_opened),
		CASE(the_kernels_own_code_is_known),
		CASE(a_service_that_was_taken_over_does_not_compute_for_ever),
		CASE(the_file_in_work_is_bad_when_the_service_dies),
		CASE(nobody_is_blamed_for_a_service_that_died_idle),
		CASE(a_file_is_sent_again_to_the_next_service),
		CASE(a_service_that_does_not_answer_is_ended),
		CASE(a_service_that_always_fails_is_not_started_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
