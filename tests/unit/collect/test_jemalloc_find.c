/* SPDX-License-Identifier: MIT */
/* Which processes use jemalloc; what a file costs that harms the child which reads it. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "child.h"
#include "collect/capture.h"
#include "collect/jemalloc/jemalloc_find.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"

int __real_elf_inspect(int fd, struct elf_findings *ret);
int __wrap_elf_inspect(int fd, struct elf_findings *ret);

static ino_t deadly;  /* inode of the file that ends the child that reads it */
static int last_word; /* exit status of that child, 0: a signal */
static off_t endless; /* size of files that are read for ever */
static ino_t lying;   /* inode of the file that takes over the child that reads it */

static ino_t counted;		 /* inode of the file of which it is counted how often it is read */
static unsigned int *times_read; /* shared with the children */

int __wrap_elf_inspect(int fd, struct elf_findings *ret)
{
	struct stat file;
	int status;

	assert_int_equal(fstat(fd, &file), 0);
	if (counted && file.st_ino == counted)
		__atomic_add_fetch(times_read, 1, __ATOMIC_RELAXED);
	while (endless && file.st_size == endless)
		continue;
	if (deadly && file.st_ino == deadly && last_word)
		_exit(last_word);
	if (deadly && file.st_ino == deadly)
		__builtin_trap();
	status = __real_elf_inspect(fd, ret);
	if (lying && file.st_ino == lying) { /* no flag is a flag, no text ends */
		memset(&ret->has_symtab, 0xfe, sizeof(ret->has_symtab));
		memset(ret->mallctl_name, 'x', sizeof(ret->mallctl_name));
		ret->build_id_size = UINT32_MAX;
	}
	return status;
}

static struct host *host;

static int open_host(void **state)
{
	(void)state;
	return host_open(&host, NULL, NULL);
}

static int close_host(void **state)
{
	(void)state;
	host_close(host);
	return 0;
}

static const char *library(void)
{
	const char *path = getenv("TASKSCOPE_TEST_JEMALLOC");

	assert_non_null(path);
	return path;
}

static ino_t inode_of(const char *path)
{
	struct stat file;

	assert_int_equal(stat(path, &file), 0);
	return file.st_ino;
}

static struct file_id id_of(const char *path)
{
	struct stat file;

	assert_int_equal(stat(path, &file), 0);
	return (struct file_id){ file.st_dev, file.st_ino };
}

/* What a child says about a file that a process has mapped. */
static int inspect(pid_t pid, const char *path, struct mapped_file *ret,
		   struct elf_findings *ret_findings)
{
	*ret = (struct mapped_file){ .host = host, .tgid = pid, .id = id_of(path) };
	return mapped_file_inspect(ret, 5000, ret_findings);
}

static const struct candidate_module *find_candidate(const struct module_scan *scan,
						     const char *path)
{
	for (size_t i = 0; i < scan->candidates.count; i++)
		if (file_is_same(file_id_of(scan->candidates.data[i].module->mapping), id_of(path)))
			return &scan->candidates.data[i];
	return NULL;
}

static void a_preloaded_library_is_a_candidate_and_the_executable_is_known(void **state)
{
	struct module_scan *scan = NULL;
	pid_t pid = child_start("/bin/sleep", "100", library(), 0);
	const struct candidate_module *candidate;

	(void)state;
	assert_int_equal(module_scan_read(host, pid, 5000, &scan), 0);
	child_end(pid);
	candidate = find_candidate(scan, library());
	assert_non_null(candidate);
	assert_true(candidate->module->elf.findings.tls.present);
	assert_true(candidate->module->elf.findings.build_id_size > 0);
	assert_int_equal(candidate->has_status, geteuid() == 0);
	assert_non_null(scan->executable);
	assert_true(file_is_same(file_id_of(scan->executable->mapping), id_of("/bin/sleep")));
	/* Too little thread-local storage. */
	assert_null(find_candidate(scan, "/bin/sleep"));
	module_scan_free(&scan);
}

static void a_process_that_ended_is_gone(void **state)
{
	struct module_scan *scan = NULL;
	struct elf_findings findings;
	struct mapped_file file;
	pid_t pid = child_start("/bin/sleep", "100", NULL, 0);

	(void)state;
	child_end(pid);
	assert_int_equal(module_scan_read(host, pid, 5000, &scan), -ENOENT);
	assert_int_equal(inspect(pid, "/bin/sleep", &file, &findings), -ESRCH);
	assert_false(file.is_opened);
}

static void a_file_is_opened_and_read_by_a_child(void **state)
{
	struct elf_findings findings;
	struct mapped_file file;
	struct stat status;
	char path[PATH_MAX];
	pid_t pid = child_start("/bin/sleep", "100", library(), 0);

	(void)state;
	assert_int_equal(inspect(pid, library(), &file, &findings), 0);
	assert_true(file.is_opened && findings.exports_mallctl);
	assert_non_null(realpath(library(), path));
	assert_string_equal(file.path, path);
	assert_int_equal(stat(library(), &status), 0);
	assert_int_equal(file.status.st_mtim.tv_nsec, status.st_mtim.tv_nsec);
	child_end(pid);
}

static void check_deadly_file(void)
{
	struct elf_findings findings;
	struct mapped_file file;
	pid_t pid = child_start("/bin/sleep", "100", library(), 0);

	deadly = inode_of(library());
	assert_int_equal(inspect(pid, library(), &file, &findings), -EPROTO);
	assert_true(file.is_opened);
	assert_int_equal(inspect(pid, "/bin/sleep", &file, &findings), 0);
	deadly = 0;
	child_end(pid);
}

static void a_file_that_ends_its_reader_costs_no_other_file(void **state)
{
	(void)state;
	check_deadly_file();
}

/* The exit status is the word of a stranger: it is not our memory that is short. */
static void a_reader_that_says_it_has_no_memory_costs_no_more(void **state)
{
	(void)state;
	last_word = ENOMEM;
	check_deadly_file();
	last_word = 0;
}

static void what_a_reader_says_that_was_taken_over_is_made_safe(void **state)
{
	struct elf_findings findings;
	struct mapped_file file;
	pid_t pid = child_start("/bin/sleep", "100", library(), 0);
	unsigned char byte;

	(void)state;
	lying = inode_of(library());
	assert_int_equal(inspect(pid, library(), &file, &findings), 0);
	lying = 0;
	child_end(pid);
	memcpy(&byte, &findings.has_symtab, 1);
	assert_int_equal(byte, 1);
	assert_int_equal(findings.build_id_size, 0);
	assert_int_equal(strlen(findings.mallctl_name), sizeof(findings.mallctl_name) - 1);
}

#define COPIES 8

static uid_t stranger; /* whose processes they are, where we are root */

/* Processes with a library each that is read for ever. */
struct endless_files {
	char place[PATH_MAX];
	char paths[COPIES][PATH_MAX + 16];
	pid_t pids[COPIES];
};

static void endless_start(struct endless_files *files)
{
	static char bytes[16 << 20];
	int fd = open(library(), O_RDONLY | O_CLOEXEC);
	ssize_t length = read(fd, bytes, sizeof(bytes) - 1);

	assert_true(length > 0);
	close(fd);
	/* Where nobody else can write to, so that it may be asked. */
	snprintf(files->place, sizeof(files->place), "%s/endless.XXXXXX",
		 geteuid() == 0 ? "/var/lib" : getenv("HOME"));
	assert_non_null(mkdtemp(files->place));
	assert_int_equal(chmod(files->place, 0755), 0);
	for (int i = 0; i < COPIES; i++) {
		snprintf(files->paths[i], sizeof(files->paths[i]), "%s/%d.so", files->place, i);
		fd = open(files->paths[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		assert_int_equal(write(fd, bytes, (size_t)length + 1), length + 1);
		close(fd);
		assert_int_equal(stranger ? setresuid(stranger, stranger, 0) : 0, 0);
		files->pids[i] = child_start("/bin/sleep", "100", files->paths[i], 0);
		assert_int_equal(stranger ? setresuid(0, 0, 0) : 0, 0);
	}
	endless = length + 1;
}

static void endless_end(struct endless_files *files)
{
	endless = 0;
	for (int i = 0; i < COPIES; i++) {
		child_end(files->pids[i]);
		unlink(files->paths[i]);
	}
	rmdir(files->place);
}

static uint64_t failures(const struct snapshot *snapshot, const char *name)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_CAPTURE];
	uint64_t number;

	return column_get(sheet_find(sheet, name), 0, &number) == CELL_NUMBER ? number : 0;
}

/* A capture of the whole host, by another test, may have learned about some of the files. */
static void assert_failed_or_known(const struct snapshot *snapshot, uint64_t count)
{
	assert_int_equal(failures(snapshot, "jemalloc walked"), count);
	assert_int_equal(
		failures(snapshot, "jemalloc failed") + failures(snapshot, "jemalloc read"), count);
}

static bool has_counters(const struct snapshot *snapshot, pid_t pid)
{
	uint64_t value;

	for (uint32_t row = 0; row < snapshot->task_count; row++)
		if (snapshot->tasks[row].tid == pid)
			return snapshot_get(snapshot, METRIC_allocated_bytes, row, &value);
	return false;
}

static void a_capture_of_many_such_files_ends_within_seconds(void **state)
{
	struct capture_options options = { .lister = LIST_PROCFS, .pid_count = COPIES };
	struct endless_files files;
	struct snapshot *snapshot;
	struct error error = { 0 };
	uint64_t start_ms;

	(void)state;
	endless_start(&files);
	options.pids = files.pids;
	start_ms = time_budget_now_ms();
	if (capture_take(host, &options, &snapshot, &error) < 0)
		fail_msg("%s", error.message);
	assert_true(time_budget_now_ms() - start_ms < 8000);
	endless_end(&files);
	assert_failed_or_known(snapshot, COPIES);
	snapshot_free(snapshot);
}

static void strangers_do_not_use_up_the_time_for_processes_of_root(void **state)
{
	pid_t pids[COPIES + 1];
	struct capture_options options = { .lister = LIST_PROCFS,
					   .pids = pids,
					   .pid_count = COPIES + 1 };
	struct endless_files files;
	struct snapshot *snapshot;
	struct error error = { 0 };

	(void)state;
	stranger = 65534;
	endless_start(&files);
	stranger = 0;
	memcpy(pids, files.pids, sizeof(files.pids));
	pids[COPIES] = child_start("/bin/sleep", "100", library(), 0);
	if (capture_take(host, &options, &snapshot, &error) < 0)
		fail_msg("%s", error.message);
	endless_end(&files);
	child_end(pids[COPIES]);
	assert_true(has_counters(snapshot, pids[COPIES]));
	assert_failed_or_known(snapshot, COPIES + 1);
	snapshot_free(snapshot);
}

/* A file that ends its reader costs those who use it, and nobody else. */
static void a_file_that_ends_its_reader_costs_only_those_who_use_it(void **state)
{
	struct capture_options options = { .lister = LIST_PROCFS, .pid_count = COPIES };
	struct endless_files files;
	struct snapshot *snapshot;
	struct error error = { 0 };

	(void)state;
	endless_start(&files);
	endless = 0;
	deadly = inode_of(files.paths[0]);
	options.pids = files.pids;
	options.no_jemalloc_oracle = true;
	options.jemalloc_ms = 120 * 1000; /* a busy machine is not what this is about */
	if (capture_take(host, &options, &snapshot, &error) < 0)
		fail_msg("%s", error.message);
	deadly = 0;
	endless_end(&files);
	assert_int_equal(failures(snapshot, "jemalloc failures worker-panic"), 1);
	assert_int_equal(failures(snapshot, "jemalloc failures oracle-off"), COPIES - 1);
	snapshot_free(snapshot);
}

static void a_file_of_several_processes_is_read_once(void **state)
{
	pid_t pids[3];
	struct capture_options options = { .lister = LIST_PROCFS,
					   .pids = pids,
					   .pid_count = ARRAY_SIZE(pids),
					   .no_jemalloc_oracle = true,
					   .jemalloc_ms = 120 * 1000 };
	struct snapshot *snapshot;
	struct error error = { 0 };

	(void)state;
	times_read = mmap(NULL, sizeof(*times_read), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(times_read, MAP_FAILED);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		pids[i] = child_start("/bin/sleep", "100", library(), 0);
	counted = inode_of(library());
	if (capture_take(host, &options, &snapshot, &error) < 0)
		fail_msg("%s", error.message);
	counted = 0;
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		child_end(pids[i]);
	assert_int_equal(failures(snapshot, "jemalloc walked"), ARRAY_SIZE(pids));
	assert_int_equal(*times_read, 1);
	munmap(times_read, sizeof(*times_read));
	snapshot_free(snapshot);
}

static const struct user_time *user_after(struct user_times *users, uint64_t ms, bool was_late)
{
	const struct offset_cache closed = { .dir = -1 };

	user_times_start(users);
	assert_int_equal(user_times_add(users, &closed, 1000), 0);
	assert_int_equal(user_times_add(users, &closed, 1000), 0);
	user_times_charge(users, 1000, ms, was_late);
	user_times_remember(users, &closed);
	return user_times_find(users, 1000);
}

static void users_are_slow_who_take_more_than_their_share_or_do_not_answer(void **state)
{
	struct user_times users = { 0 };

	(void)state;
	assert_false(user_is_slow(user_after(&users, 10, false)));
	assert_int_equal(users.list.count, 1);
	/* More than a third: waits until the others are done, but is not remembered. */
	assert_true(user_is_slow(user_after(&users, 400, false)));
	assert_false(user_is_slow(user_after(&users, 10, false)));
	/* Late: is remembered. */
	assert_true(user_is_slow(user_after(&users, 60, true)));
	assert_true(user_after(&users, 10, false)->was_late_before);
	assert_true(user_is_slow(user_after(&users, 10, false)));
	user_times_clear(&users);
}

static void a_child_has_a_part_of_the_memory_of_the_host(void **state)
{
	uint64_t own = memory_budget_own(host);
	uint64_t total = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t alone = memory_budget(host, UINT64_MAX) - own;

	(void)state;
	assert_true(own > 1 << 20 && own != MEMORY_LEAST);
	assert_true(alone >= MEMORY_LEAST);
	assert_true(alone <= total / MEMORY_SHARE || alone == MEMORY_LEAST);
	assert_int_equal(memory_budget(host, 1 << 20) - own, 1 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_preloaded_library_is_a_candidate_and_the_executable_is_known),
		cmocka_unit_test(a_process_that_ended_is_gone),
		cmocka_unit_test(a_file_is_opened_and_read_by_a_child),
		cmocka_unit_test(a_file_that_ends_its_reader_costs_no_other_file),
		cmocka_unit_test(a_reader_that_says_it_has_no_memory_costs_no_more),
		cmocka_unit_test(what_a_reader_says_that_was_taken_over_is_made_safe),
		cmocka_unit_test(a_file_that_ends_its_reader_costs_only_those_who_use_it),
		cmocka_unit_test(a_file_of_several_processes_is_read_once),
		cmocka_unit_test(a_capture_of_many_such_files_ends_within_seconds),
		cmocka_unit_test(users_are_slow_who_take_more_than_their_share_or_do_not_answer),
		cmocka_unit_test(a_child_has_a_part_of_the_memory_of_the_host),
		cmocka_unit_test(strangers_do_not_use_up_the_time_for_processes_of_root),
	};
	size_t count = sizeof(tests) / sizeof(tests[0]);

	/* Only root can make the strangers of the last one. */
	return _cmocka_run_group_tests("tests", tests, geteuid() == 0 ? count : count - 1,
				       open_host, close_host);
}
