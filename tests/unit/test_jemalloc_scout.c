/* SPDX-License-Identifier: MIT */
/* Which processes use jemalloc; what a file that ends its reader costs. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "child.h"
#include "collect/capture.h"
#include "collect/jemalloc_scout.h"
#include "host/host.h"
#include "model/snapshot.h"

int __real_elf_inspect(int fd, struct elf_findings *ret);
int __wrap_elf_inspect(int fd, struct elf_findings *ret);

static ino_t deadly;	/* inode of the file that ends whoever reads it */
static int last_word;	/* exit status of who read it, 0: a signal */
static off_t slandered; /* size of files that a reader of several tells lies about */
static off_t endless;	/* size of files that are read for ever */
static ino_t lying;	/* inode of the file whose reader was taken over: no flag is a flag */

/* Whether its reader also has other files, one of which may have taken it over. */
static bool is_in_company(int fd)
{
	struct stat file;

	for (int other = 0; other < 64; other++)
		if (other != fd && fstat(other, &file) == 0 && S_ISREG(file.st_mode))
			return true;
	return false;
}

int __wrap_elf_inspect(int fd, struct elf_findings *ret)
{
	struct stat file;

	int status;

	assert_int_equal(fstat(fd, &file), 0);
	while (endless && file.st_size == endless)
		continue;
	if (deadly && file.st_ino == deadly && last_word)
		_exit(last_word);
	if (deadly && file.st_ino == deadly)
		__builtin_trap();
	status = __real_elf_inspect(fd, ret);
	if (lying && file.st_ino == lying)
		memset(&ret->has_symtab, 0xfe, sizeof(ret->has_symtab));
	if (slandered && file.st_size == slandered && is_in_company(fd))
		memcpy(ret->mallctl_name, "nonsense", sizeof("nonsense"));
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

static void add(struct scout *scout, pid_t pid)
{
	struct scouted_process process = { .tgid = pid, .row = (uint32_t)scout->processes.count };

	assert_int_equal(array_append(&scout->processes, process), 0);
}

static const struct scouted_process *find(const struct scout *scout, pid_t pid)
{
	for (size_t i = 0; i < scout->processes.count; i++)
		if (scout->processes.data[i].tgid == pid)
			return &scout->processes.data[i];
	fail_msg("process %d is lost", pid);
	return NULL;
}

static void a_preloaded_library_is_found_and_the_libc_beside_it(void **state)
{
	struct scout scout = { 0 };
	pid_t pid = child_start("/bin/sleep", "100", library(), 0);
	const struct scouted_process *process;

	(void)state;
	add(&scout, getpid());
	add(&scout, pid);
	assert_int_equal(scout_run(&scout, host), 0);
	child_end(pid);
	assert_int_equal(scout.processes.data[0].state, SCOUT_LOOKED);
	assert_int_equal(scout.processes.data[0].parts[PART_HOLDER], SCOUT_NONE);
	process = &scout.processes.data[1];
	assert_int_equal(process->state, SCOUT_LOOKED);
	assert_true(process->parts[PART_HOLDER] != SCOUT_NONE &&
		    process->parts[PART_HOLDER] != process->parts[PART_EXECUTABLE]);
	assert_true(scout.files.data[process->parts[PART_HOLDER]].findings.exports_mallctl);
	assert_true(process->parts[PART_LIBRARY] != SCOUT_NONE &&
		    process->parts[PART_LOADER] != SCOUT_NONE);
	assert_true(process->parts[PART_EXECUTABLE] != SCOUT_NONE);
	scout_clear(&scout);
}

static void a_process_that_ended_is_told_as_gone(void **state)
{
	struct scout scout = { 0 };
	pid_t pid = child_start("/bin/sleep", "100", NULL, 0);

	(void)state;
	child_end(pid);
	add(&scout, pid);
	assert_int_equal(scout_run(&scout, host), 0);
	assert_int_equal(scout.processes.data[0].state, SCOUT_GONE);
	scout_clear(&scout);
}

/* The file is left out, and everybody else gets an answer. */
static void check_deadly_file(void)
{
	struct scout scout = { 0 };
	pid_t victim = child_start("/bin/sleep", "100", library(), 0);
	pid_t other = child_start("/bin/sleep", "100", NULL, 0);

	add(&scout, other);
	add(&scout, victim);
	add(&scout, getpid());
	deadly = inode_of(library());
	assert_int_equal(scout_run(&scout, host), 0);
	deadly = 0;
	child_end(victim);
	child_end(other);
	assert_int_equal(find(&scout, other)->state, SCOUT_LOOKED);
	assert_int_equal(find(&scout, victim)->state, SCOUT_DAMAGED);
	assert_int_equal(find(&scout, victim)->parts[PART_HOLDER], SCOUT_NONE);
	assert_int_equal(find(&scout, getpid())->state, SCOUT_LOOKED);
	scout_clear(&scout);
}

static void a_file_that_ends_its_reader_costs_only_those_who_use_it(void **state)
{
	(void)state;
	check_deadly_file();
}

/* Its exit status is the word of a stranger: it is not our memory that is short. */
static void a_reader_that_says_it_has_no_memory_costs_no_more(void **state)
{
	(void)state;
	last_word = ENOMEM;
	check_deadly_file();
	last_word = 0;
}

static void a_flag_from_a_reader_that_was_taken_over_is_a_flag(void **state)
{
	struct scout scout = { 0 };
	pid_t pid = child_start("/bin/sleep", "100", library(), 0);
	uint32_t holder;
	unsigned char byte;

	(void)state;
	add(&scout, pid);
	lying = inode_of(library());
	assert_int_equal(scout_run(&scout, host), 0);
	lying = 0;
	child_end(pid);
	holder = scout.processes.data[0].parts[PART_HOLDER];
	assert_true(holder < scout.files.count);
	memcpy(&byte, &scout.files.data[holder].findings.has_symtab, 1);
	assert_int_equal(byte, 1);
	scout_clear(&scout);
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

static void files_that_are_read_for_ever_cost_no_more_than_the_budget(void **state)
{
	struct scout scout = { 0 };
	struct endless_files files;
	uint64_t start_ms;

	(void)state;
	endless_start(&files);
	for (int i = 0; i < COPIES; i++)
		add(&scout, files.pids[i]);
	start_ms = time_budget_now_ms();
	scout.budget = time_budget_start(500);
	assert_int_equal(scout_run(&scout, host), 0);
	assert_true(time_budget_now_ms() - start_ms < 2000);
	endless_end(&files);
	for (int i = 0; i < COPIES; i++)
		assert_int_equal(scout.processes.data[i].state, SCOUT_OUT_OF_TIME);
	scout_clear(&scout);
}

/* One that is harmless gets its turn while there is time, wherever it is in the list. */
static void files_that_are_read_for_ever_do_not_hide_others(void **state)
{
	struct scout scout = { 0 };
	struct endless_files files;
	pid_t pid = child_start("/bin/sleep", "100", library(), 0);

	(void)state;
	endless_start(&files);
	for (int i = 0; i < COPIES; i++)
		add(&scout, files.pids[i]);
	add(&scout, pid);
	scout.budget = time_budget_start(6000);
	assert_int_equal(scout_run(&scout, host), 0);
	endless_end(&files);
	child_end(pid);
	assert_int_equal(find(&scout, pid)->state, SCOUT_LOOKED);
	assert_true(find(&scout, pid)->parts[PART_HOLDER] != SCOUT_NONE);
	scout_clear(&scout);
}

static uint64_t failures(const struct snapshot *snapshot, const char *name)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_CAPTURE];
	uint64_t number;

	return sheet_get(sheet_find(sheet, name), 0, &number) == CELL_NUMBER ? number : 0;
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
	assert_int_equal(failures(snapshot, "jemalloc walked"), COPIES);
	assert_int_equal(failures(snapshot, "jemalloc failed"), COPIES);
	assert_int_equal(failures(snapshot, "jemalloc failures out-of-time") +
				 failures(snapshot, "jemalloc failures worker-panic"),
			 COPIES);
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
	assert_int_equal(failures(snapshot, "jemalloc read"), 1);
	assert_int_equal(failures(snapshot, "jemalloc failed"), COPIES);
	snapshot_free(snapshot);
}

/* What is learned of a file, and kept, is by a reader of that file alone. */
static void a_reader_of_many_files_cannot_lie_about_where_counters_are(void **state)
{
	struct capture_options options = { .lister = LIST_PROCFS, .pid_count = 1 };
	struct endless_files files;
	struct snapshot *snapshot;
	struct error error = { 0 };
	uint64_t text = 0;

	(void)state;
	endless_start(&files);
	slandered = endless;
	endless = 0;
	options.pids = files.pids;
	if (capture_take(host, &options, &snapshot, &error) < 0)
		fail_msg("%s", error.message);
	slandered = 0;
	endless_end(&files);
	assert_int_equal(
		sheet_get(sheet_find(&snapshot->sheets[SHEET_PROCESSES], "jemalloc"), 0, &text),
		CELL_TEXT);
	assert_string_equal(snapshot_text(snapshot, (uint32_t)text),
			    "library, oracle, thread-list");
	snapshot_free(snapshot);
}

static void children_have_a_part_of_the_memory_of_the_host(void **state)
{
	uint64_t own = memory_budget_own(host);
	uint64_t total = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t alone = memory_budget(host, UINT64_MAX, 1) - own;

	(void)state;
	assert_true(own > 1 << 20 && own != MEMORY_LEAST);
	assert_true(alone >= MEMORY_LEAST);
	assert_true(alone <= total / MEMORY_SHARE || alone == MEMORY_LEAST);
	assert_int_equal(memory_budget(host, UINT64_MAX, 1 << 20) - own, MEMORY_LEAST);
	assert_int_equal(memory_budget(host, 1 << 20, 1) - own, 1 << 20);
}

static void nobody_to_look_at_is_no_failure(void **state)
{
	struct scout scout = { 0 };

	(void)state;
	assert_int_equal(scout_run(&scout, host), 0);
	assert_int_equal(scout.files.count, 0);
	scout_clear(&scout);
}

/* More than one child takes: each gets a share, and the order stays. */
static void many_processes_are_shared_among_children(void **state)
{
	struct scout scout = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++)
		add(&scout, i % 2 ? getpid() : 1);
	assert_int_equal(scout_run(&scout, host), 0);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(scout.processes.data[i].row, i);
		assert_int_equal(scout.processes.data[i].parts[PART_HOLDER], SCOUT_NONE);
	}
	scout_clear(&scout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_preloaded_library_is_found_and_the_libc_beside_it),
		cmocka_unit_test(a_process_that_ended_is_told_as_gone),
		cmocka_unit_test(a_file_that_ends_its_reader_costs_only_those_who_use_it),
		cmocka_unit_test(a_reader_that_says_it_has_no_memory_costs_no_more),
		cmocka_unit_test(a_flag_from_a_reader_that_was_taken_over_is_a_flag),
		cmocka_unit_test(files_that_are_read_for_ever_cost_no_more_than_the_budget),
		cmocka_unit_test(files_that_are_read_for_ever_do_not_hide_others),
		cmocka_unit_test(a_capture_of_many_such_files_ends_within_seconds),
		cmocka_unit_test(a_reader_of_many_files_cannot_lie_about_where_counters_are),
		cmocka_unit_test(children_have_a_part_of_the_memory_of_the_host),
		cmocka_unit_test(nobody_to_look_at_is_no_failure),
		cmocka_unit_test(many_processes_are_shared_among_children),
		cmocka_unit_test(strangers_do_not_use_up_the_time_for_processes_of_root),
	};
	size_t count = sizeof(tests) / sizeof(tests[0]);

	/* Only root can make the strangers of the last one. */
	return _cmocka_run_group_tests("tests", tests, geteuid() == 0 ? count : count - 1, open_host,
				       close_host);
}
