/* SPDX-License-Identifier: MIT */
#include "host/oracle/oracle_run.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "host/deadline_run.h"
#include "host/elf/elf_inspect.h"
#include "host/elf/process_maps.h"
#include "host/oracle/oracle.h"
#include "host/oracle/oracle_helper.h"
#include "host/oracle/tracee.h"
#include "host/confine/trusted_file.h"
#include "host/oracle_helper_bytes.h"
#include "host/proc/task_text.h"

#define CHUNK ((size_t)1 << 20)
#define MEMORY_LIMIT ((uint64_t)2 << 30) /* address space: a large program and what it loads */
#define CPU_SECONDS 1
#define STARVED_PART                                                                               \
	4 /* of its time in the run queue: then a late answer does not tell against it */

/*
 * Keeps jemalloc from starting background threads: they are refused here, and jemalloc aborts when
 * it cannot start the thread of a further arena.  The variable's name has the same prefix as
 * jemalloc's functions.
 */
#define ENVIRONMENT                                                                                \
	"MALLOC_CONF=background_thread:false", "JE_MALLOC_CONF=background_thread:false",           \
		"_RJEM_MALLOC_CONF=background_thread:false"

#define IS_MAPPING(state) ((state) >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8))

static bool is_own(const struct oracle_run *run, uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < ARRAY_SIZE(run->own); i++)
		if (run->own[i].st_ino == inode && run->own[i].st_dev == device)
			return true;
	return false;
}

/* Opening by pid is safe: the pid cannot be reused before we have reaped the child. */
static int open_process(const struct oracle_run *run)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld", (long)run->job.pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Checks the file that the child has open: its path must lead to the same file for us, and be
 * trusted.
 */
static int check_fd(const struct oracle_run *run, int process, int number)
{
	CLEANUP(close_fd) int place = -1;
	CLEANUP(close_fd) int trusted = -1;
	char link[32], path[PATH_MAX];
	struct stat file;
	ssize_t length;

	snprintf(link, sizeof(link), "fd/%d", number);
	place = openat(process, link, O_PATH | O_CLOEXEC);
	if (place < 0 || fstat(place, &file) < 0)
		return -errno;
	if (is_own(run, file.st_dev, file.st_ino))
		return 0;
	length = readlinkat(process, link, path, sizeof(path) - 1);
	if (length < 0)
		return -errno;
	path[length] = '\0';
	trusted = trusted_file_open(path, &file);
	return trusted < 0 ? trusted : 0;
}

/* The device is not compared: maps and stat() may name it differently (btrfs, overlayfs). */
static int check_loaded(const struct oracle_run *run, const struct process_mapping *mapping)
{
	CLEANUP(close_fd) int trusted = -1;
	struct stat file;

	if (is_own(run, mapping->device, mapping->inode))
		return 0;
	trusted = trusted_file_open(mapping->name, NULL);
	if (trusted < 0)
		return trusted;
	if (fstat(trusted, &file) < 0 || file.st_ino != mapping->inode)
		return -EKEYREJECTED;
	return 0;
}

/* Checks what the kernel loaded: the program and its interpreter. */
static int check_all_loaded(const struct oracle_run *run)
{
	CLEANUP(close_fd) int process = open_process(run);
	CLEANUP(process_maps_clear) struct process_maps maps = { 0 };
	int status = process < 0 ? process : process_maps_read(process, &maps);

	for (size_t i = 0; i < maps.mappings.count && status == 0; i++)
		status = check_loaded(run, &maps.mappings.data[i]);
	return status;
}

static int check_mapping(const struct oracle_run *run)
{
	CLEANUP(close_fd) int process = open_process(run);
	struct user_regs_struct registers;
	int status = process < 0 ? process : tracee_get_registers(run->job.pid, &registers);

	return status < 0 ? status : check_fd(run, process, tracee_mapped_fd(&registers));
}

/* How long a task (a pid, or "thread-self") has waited for a CPU; 0 where the kernel does not say. */
static uint64_t time_in_queue(const char *task)
{
	char path[64], line[128];
	struct task_schedstat times;
	CLEANUP(close_fd) int fd = -1;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%s/schedstat", task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (length < 0)
		return 0;
	line[length] = '\0';
	return task_schedstat_parse(line, &times) ? times.queue_ns : 0;
}

/* Whether the child, or we who let it go on, waited for a CPU for much of its time. */
static bool was_starved(const struct oracle_run *run)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%ld", (long)run->job.pid);
	return time_in_queue(pid) + time_in_queue("thread-self") - run->own_queue_ns >=
	       (monotonic_ns() - run->begin_ns) / STARVED_PART;
}

static int wait_for_change(struct oracle_run *run, int *ret_state)
{
	int status = deadline_wait(run->job.pid, run->job.deadline_ns, ret_state);

	run->ended = status == -ECHILD || (status == 0 && !WIFSTOPPED(*ret_state));
	return status == -ETIMEDOUT && was_starved(run) ? -EBUSY : status;
}

int oracle_go_on(struct oracle_run *run, int signal, int *ret_state)
{
	for (;;) {
		int status = 0;

		if (ptrace(PTRACE_CONT, run->job.pid, 0, (void *)(intptr_t)signal) < 0)
			return -errno;
		status = wait_for_change(run, ret_state);
		if (status < 0 || !WIFSTOPPED(*ret_state) || !IS_MAPPING(*ret_state))
			return status;
		status = check_mapping(run);
		if (status < 0)
			return status;
		signal = 0;
	}
}

/* Waits for the first stop: the program is loaded, and none of its instructions has run. */
static int wait_for_execution(struct oracle_run *run)
{
	int options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP;
	int state;
	int status = wait_for_change(run, &state);

	if (status < 0)
		return status;
	if (WIFEXITED(state))
		return WEXITSTATUS(state) ? -WEXITSTATUS(state) : -EPROTO;
	if (!WIFSTOPPED(state) || WSTOPSIG(state) != SIGTRAP)
		return -EPROTO;
	if (ptrace(PTRACE_SETOPTIONS, run->job.pid, 0, options) < 0)
		return -errno;
	return check_all_loaded(run);
}

/* ---- in the child ---- */

/* Checks that it is an ELF file of this machine: 0, -EBADMSG, or the error of reading. */
static int check_file(int fd)
{
	Elf64_Ehdr header;
	ssize_t got = pread(fd, &header, sizeof(header), 0);

	if (got < 0)
		return -errno;
	return got == sizeof(header) && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
			       elf_is_native(&header) ?
		       0 :
		       -EBADMSG;
}

/* Checks the size while copying, since a file can grow meanwhile. */
static int copy_file(int from, int to)
{
	uint64_t copied = 0;
	ssize_t got;

	while ((got = sendfile(to, from, NULL, CHUNK)) != 0) {
		if (got < 0 && errno != EINTR)
			return -errno;
		copied += got > 0 ? (uint64_t)got : 0;
		if (copied > ORACLE_FILE_MAX)
			return -EFBIG;
	}
	if (fcntl(to, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return -errno;
	return 0;
}

/*
 * Opens the file to be asked, if it is trusted, and puts it in the place of `fd`, which is from
 * confined_make_file().  It is run later without any rights.  So unless everybody has the rights `needed`
 * to it, it is copied into the file of `fd`, which is then sealed.
 */
static int open_file(const struct oracle_file *file, mode_t needed, int fd)
{
	CLEANUP(close_fd) int trusted = trusted_file_open(file->path, file->mapped);
	struct stat status;
	int checked = trusted < 0 ? trusted : check_file(trusted);

	if (checked < 0)
		return checked;
	if (fstat(trusted, &status) < 0)
		return -errno;
	if ((status.st_mode & needed) == needed)
		return dup3(trusted, fd, O_CLOEXEC) < 0 ? -errno : 0;
	return (uint64_t)status.st_size > ORACLE_FILE_MAX ? -EFBIG : copy_file(trusted, fd);
}

static int write_helper(int fd)
{
	ssize_t written = write(fd, oracle_helper_bytes, sizeof(oracle_helper_bytes));

	if (written < 0)
		return -errno;
	return written == (ssize_t)sizeof(oracle_helper_bytes) ? 0 : -EIO;
}

/*
 * Opens the file in the child, so that a file system that does not answer delays us only until the
 * deadline.  Asks to be traced at the end, while the child still has the rights that this needs.
 */
static int prepare(void *argument)
{
	const struct oracle_run *run = argument;
	const struct oracle_question *question = run->question;
	mode_t needed = question->is_library ? S_IROTH : S_IROTH | S_IXOTH;
	int status = open_file(question->file, needed, run->file);

	if (status == 0 && question->is_library)
		status = write_helper(run->helper);
	if (status < 0)
		return status;
	return ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 ? -errno : 0;
}

/* Executes `program`, which must be that of the limits.  Returns only on failure. */
static int execute_fd(int program, char *const *arguments, char *const *environment)
{
	syscall(SYS_execveat, program, "", arguments, environment, AT_EMPTY_PATH);
	return -errno;
}

/* The fds of the library and the answer must stay open across execve. */
static int execute_helper(const struct oracle_run *run, int answer)
{
	char preload[64], number[16];
	char *path = preload + strlen("LD_PRELOAD=");
	char *arguments[ORACLE_ARGUMENTS + 1] = { "taskscope-oracle", path,
						  (char *)run->question->mallctl, number, NULL };
	char *environment[] = { preload, ENVIRONMENT, NULL };

	snprintf(preload, sizeof(preload), "LD_PRELOAD=/proc/self/fd/%d", run->file);
	snprintf(number, sizeof(number), "%d", answer);
	if (fcntl(run->file, F_SETFD, 0) < 0 || fcntl(answer, F_SETFD, 0) < 0)
		return -errno;
	return execute_fd(run->helper, arguments, environment);
}

static int execute(void *argument, int answer)
{
	const struct oracle_run *run = argument;
	char *arguments[] = { "taskscope-oracle", NULL };
	char *environment[] = { ENVIRONMENT, NULL };

	return run->question->is_library ? execute_helper(run, answer) :
					   execute_fd(run->file, arguments, environment);
}

/* ---- a run ---- */

static int make_files(struct oracle_run *run)
{
	int *const fds[] = { &run->file, &run->helper };
	size_t count = run->question->is_library ? 2 : 1;

	for (size_t i = 0; i < count; i++) {
		*fds[i] = confined_make_file("taskscope-oracle");
		if (*fds[i] < 0)
			return *fds[i];
		if (fstat(*fds[i], &run->own[i]) < 0)
			return -errno;
	}
	return 0;
}

int oracle_begin(const struct oracle_question *question, unsigned timeout_ms,
		 struct oracle_run *run)
{
	struct confine_limits limits = {
		.rules = CONFINE_PROGRAM,
		.memory_bytes = MEMORY_LIMIT,
		.cpu_seconds = CPU_SECONDS,
		.keep = &run->file,
		.keep_count = 1,
		.prepare = prepare,
	};
	int status;

	*run = (struct oracle_run){ .question = question, .file = -1, .helper = -1, .ended = true };
	run->job.answer = -1;
	run->begin_ns = monotonic_ns();
	run->own_queue_ns = time_in_queue("thread-self");
	status = make_files(run);
	limits.program_fd = question->is_library ? run->helper : run->file;
	if (status == 0)
		status = confined_start(&run->job, &limits, timeout_ms, execute, run);
	if (status == 0) {
		run->ended = false;
		status = wait_for_execution(run);
	}
	if (status < 0)
		oracle_end(run);
	return status;
}

int oracle_find_entry(const struct oracle_run *run, uint64_t *ret)
{
	CLEANUP(close_fd) int process = open_process(run);
	struct program_image image;
	int status = process < 0 ? process : program_image_read(process, &image);

	if (status == 0)
		*ret = image.entry;
	return status;
}

void oracle_end(struct oracle_run *run)
{
	if (!run->ended)
		confined_kill(run->job.pid);
	close_fd(&run->job.answer);
	close_fd(&run->file);
	close_fd(&run->helper);
}
