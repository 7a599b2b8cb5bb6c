/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "collect/scope/scope_reader.h"
#include "host/host.h"
#include "host/scope_file.h"
#include "model/scope/scopes.h"
#include "scope_memory.h"

static struct host *host;

static int setup(void **state)
{
	struct error error = { 0 };

	(void)state;
	return host_open(&host, NULL, &error);
}

static int teardown(void **state)
{
	(void)state;
	host_close(host);
	return 0;
}

/* The sample as this process's own, in a memfd at a descriptor of at least `at`. */
static int make_file(const char *name, int at)
{
	char *memory = memory_sample();
	int fd = memfd_create(name, MFD_CLOEXEC);
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, at);

	assert_true(fd >= 0 && moved >= at);
	memory_header(memory)->pid = getpid();
	memory_thread(memory, 0)->tid = getpid();
	assert_int_equal(pwrite(moved, memory, MEMORY_SIZE, 0), MEMORY_SIZE);
	close(fd);
	free(memory);
	return moved;
}

static int open_own(enum scope_search search, struct scope_reader **ret)
{
	struct error error;
	int status;

	/* On a busy machine a search can take longer than it may. */
	do {
		error = (struct error){ 0 };
		status = scope_reader_open(host, getpid(), search, ret, &error);
	} while (status == -ETIMEDOUT);
	/* That there is nothing is no sentence's matter; all else is. */
	if (status < 0)
		assert_int_equal(error.message[0] != '\0', status != -ENOENT);
	return status;
}

static void the_memory_is_found_where_the_library_keeps_it(void **state)
{
	int fd = make_file(SCOPE_MEMORY_NAME, SCOPE_FD);
	struct scope_reader *reader = NULL;
	struct scopes scopes = { 0 };
	struct error error = { 0 };

	(void)state;
	assert_int_equal(open_own(SCOPE_SEARCH_QUICK, &reader), 0);
	close(fd); /* a reader has one of its own */
	assert_int_equal(scope_reader_read(reader, true, &scopes, &error), 0);
	assert_int_equal(scopes.pid, getpid());
	assert_int_equal(scopes.tasks.count, 2);
	assert_int_equal(scopes.tasks.data[0].tid, getpid());
	assert_string_equal(scopes.list.data[1].label, "solve");
	scopes_free(&scopes);
	scope_reader_close(reader);
}

static void a_descriptor_that_is_taken_does_not_hide_it(void **state)
{
	int other = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, SCOPE_FD);
	int fd = make_file(SCOPE_MEMORY_NAME, SCOPE_FD);
	struct scope_reader *reader = NULL;

	(void)state;
	assert_int_equal(other, SCOPE_FD);
	assert_int_equal(fd, SCOPE_FD + 1);
	assert_int_equal(open_own(SCOPE_SEARCH_QUICK, &reader), 0);
	scope_reader_close(reader);
	close(other); /* a gap ends a quick look */
	assert_int_equal(open_own(SCOPE_SEARCH_QUICK, &reader), -ENOENT);
	assert_int_equal(open_own(SCOPE_SEARCH_ALL, &reader), 0);
	scope_reader_close(reader);
	close(fd);
}

static void anywhere_else_it_is_found_when_asked_for(void **state)
{
	int fd = make_file(SCOPE_MEMORY_NAME, SCOPE_FD + SCOPE_FD_TRIES + 20);
	struct scope_reader *reader = NULL;

	(void)state;
	assert_int_equal(open_own(SCOPE_SEARCH_QUICK, &reader), -ENOENT);
	assert_null(reader);
	assert_int_equal(open_own(SCOPE_SEARCH_ALL, &reader), 0);
	scope_reader_close(reader);
	close(fd);
}

/* Which takes a capability: without it, the answer is that. */
static void a_mapping_is_enough(void **state)
{
	int fd = make_file(SCOPE_MEMORY_NAME, SCOPE_FD);
	void *mapping = mmap(NULL, MEMORY_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	struct scope_reader *reader = NULL;
	int status;

	(void)state;
	close(fd);
	status = open_own(SCOPE_SEARCH_ALL, &reader);
	assert_true(status == 0 || (status == -EPERM && geteuid() != 0));
	scope_reader_close(reader);
	munmap(mapping, MEMORY_SIZE);
	assert_int_equal(open_own(SCOPE_SEARCH_ALL, &reader), -ENOENT);
}

/* No thread can be started with a stack of this size. */
static void without_a_thread_the_map_cannot_be_searched(void **state)
{
	struct scope_reader *reader;
	pthread_attr_t usual, huge;

	(void)state;
	assert_int_equal(pthread_getattr_default_np(&usual), 0);
	assert_int_equal(pthread_getattr_default_np(&huge), 0);
	assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 50), 0);
	assert_int_equal(pthread_setattr_default_np(&huge), 0);
	assert_int_equal(open_own(SCOPE_SEARCH_ALL, &reader), -EAGAIN);
	assert_int_equal(pthread_setattr_default_np(&usual), 0);
	pthread_attr_destroy(&usual);
	pthread_attr_destroy(&huge);
}

static void a_private_mapping_is_nobodys(void **state)
{
	int fd = make_file(SCOPE_MEMORY_NAME, SCOPE_FD);
	void *mapping = mmap(NULL, MEMORY_SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	struct scope_reader *reader = NULL;

	(void)state;
	close(fd);
	assert_int_equal(open_own(SCOPE_SEARCH_ALL, &reader), -ENOENT);
	munmap(mapping, MEMORY_SIZE);
}

static void the_memory_of_another_process_is_not_its_own(void **state)
{
	int fd = make_file(SCOPE_MEMORY_NAME, SCOPE_FD);
	int32_t parent = getppid();
	struct scope_reader *reader = NULL;

	(void)state;
	assert_int_equal(pwrite(fd, &parent, sizeof(parent), offsetof(struct scope_header, pid)),
			 sizeof(parent));
	assert_int_equal(open_own(SCOPE_SEARCH_QUICK, &reader), -ENOENT);
	assert_int_equal(open_own(SCOPE_SEARCH_ALL, &reader), -ENOENT);
	close(fd);
}

static void its_own_is_found_behind_that_of_another(void **state)
{
	int first = make_file(SCOPE_MEMORY_NAME, SCOPE_FD);
	int second = make_file(SCOPE_MEMORY_NAME, SCOPE_FD);
	int32_t parent = getppid();
	struct scope_reader *reader = NULL;

	(void)state;
	assert_int_equal(pwrite(first, &parent, sizeof(parent), offsetof(struct scope_header, pid)),
			 sizeof(parent));
	assert_int_equal(open_own(SCOPE_SEARCH_QUICK, &reader), 0);
	scope_reader_close(reader);
	close(first);
	close(second);
}

/* Counts those that it refuses. */
static int refuse(void *context, int fd)
{
	unsigned *count = context;

	(void)fd;
	(*count)++;
	return -EPROTO;
}

static void a_search_gives_up_after_many_of_the_name(void **state)
{
	int fd = make_file(SCOPE_MEMORY_NAME, SCOPE_FD + SCOPE_FD_TRIES);
	CLEANUP(close_fd) int process = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned count = 0;
	struct scope_file_judge judge = { .accept = refuse, .context = &count };
	void *mapping = mmap(NULL, MEMORY_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	int copies[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(copies); i++)
		copies[i] = fcntl(fd, F_DUPFD_CLOEXEC, SCOPE_FD + SCOPE_FD_TRIES);
	assert_int_equal(scope_file_open(process, true, &judge), -EPROTO);
	assert_int_equal(count, 64);
	for (size_t i = 0; i < ARRAY_SIZE(copies); i++)
		close(copies[i]);
	munmap(mapping, MEMORY_SIZE);
	close(fd);
}

static void a_memory_of_another_name_is_none(void **state)
{
	int fd = make_file(SCOPE_MEMORY_NAME "2", SCOPE_FD);
	int other = make_file("askscope", SCOPE_FD);
	struct scope_reader *reader = NULL;

	(void)state;
	assert_int_equal(open_own(SCOPE_SEARCH_ALL, &reader), -ENOENT);
	close(fd);
	close(other);
}

static void nonsense_is_refused_with_a_sentence(void **state)
{
	int fd = make_file(SCOPE_MEMORY_NAME, SCOPE_FD);
	struct scope_reader *reader = NULL;
	uint32_t version = SCOPE_VERSION + 1;

	(void)state;
	assert_int_equal(
		pwrite(fd, &version, sizeof(version), offsetof(struct scope_header, version)),
		sizeof(version));
	assert_int_equal(open_own(SCOPE_SEARCH_QUICK, &reader), -ENOTSUP);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(open_own(SCOPE_SEARCH_QUICK, &reader), -EPROTO);
	close(fd);
}

/* A mapping of it, which a plain user may not open, is not searched for then. */
static void a_memory_that_is_being_made_is_not_there_yet(void **state)
{
	int fd = make_file(SCOPE_MEMORY_NAME, SCOPE_FD);
	void *mapping = mmap(NULL, MEMORY_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	struct scope_header header = { .magic = SCOPE_MAGIC };
	struct scope_reader *reader = NULL;

	(void)state;
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(open_own(SCOPE_SEARCH_ALL, &reader), -ENOENT);
	header.magic = 0;
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(open_own(SCOPE_SEARCH_ALL, &reader), -ENOENT);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(open_own(SCOPE_SEARCH_ALL, &reader), -ENOENT);
	munmap(mapping, MEMORY_SIZE);
	close(fd);
}

static void a_process_that_is_not_there_is_told_apart(void **state)
{
	struct scope_reader *reader = NULL;
	struct error error = { 0 };
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(scope_reader_open(host, child, SCOPE_SEARCH_QUICK, &reader, &error),
			 -ESRCH);
	assert_int_equal(scope_reader_open(host, child, SCOPE_SEARCH_ALL, &reader, &error), -ESRCH);
	assert_non_null(strstr(error.message, "there is no process"));
}

static void the_last_words_of_a_process_can_be_read(void **state)
{
	struct scope_reader *reader = NULL;
	struct scopes scopes = { 0 };
	struct error error = { 0 };
	int ready[2];
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		make_file(SCOPE_MEMORY_NAME, SCOPE_FD);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(scope_reader_open(host, child, SCOPE_SEARCH_QUICK, &reader, &error), 0);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(scope_reader_read(reader, false, &scopes, &error), 0);
	assert_int_equal(scopes.tasks.count, 2);
	assert_int_equal(scopes.tasks.data[0].tid, child);
	scopes_free(&scopes);
	scope_reader_close(reader);
	close(ready[0]);
	close(ready[1]);
}

static void labels_that_came_later_are_read(void **state)
{
	int fd = make_file(SCOPE_MEMORY_NAME, SCOPE_FD);
	struct scope_reader *reader = NULL;
	struct scopes scopes = { 0 };
	struct error error = { 0 };
	uint32_t count = 4, label = 3;
	off_t frame = MEMORY_THREAD_OFFSET + MEMORY_FRAME_OFFSET;

	(void)state;
	assert_int_equal(open_own(SCOPE_SEARCH_QUICK, &reader), 0);
	assert_int_equal(scope_reader_read(reader, false, &scopes, &error), 0);
	assert_string_equal(scopes.list.data[0].label, "load matrix");
	(void)!pwrite(fd, "later", 6, MEMORY_LABEL_OFFSET + 3 * MEMORY_LABEL_SIZE);
	(void)!pwrite(fd, &count, 4, offsetof(struct scope_header, label_count));
	(void)!pwrite(fd, &label, 4, frame + (off_t)offsetof(struct scope_frame, label));
	assert_int_equal(scope_reader_read(reader, false, &scopes, &error), 0);
	assert_string_equal(scopes.list.data[0].label, "later");
	assert_string_equal(scopes.list.data[1].label, "solve");
	scopes_free(&scopes);
	scope_reader_close(reader);
	close(fd);
}

/* Cuts the file and makes it whole again, as fast as it can. */
struct cutter {
	int fd;
	bool is_done;
	char *memory;
};

static void *cut(void *context)
{
	struct cutter *cutter = context;

	for (unsigned i = 0; !__atomic_load_n(&cutter->is_done, __ATOMIC_RELAXED); i++) {
		(void)!ftruncate(cutter->fd, (off_t)(i * 617 % MEMORY_SIZE));
		(void)!pwrite(cutter->fd, cutter->memory, MEMORY_SIZE, 0);
	}
	return NULL;
}

static void a_file_that_is_cut_meanwhile_harms_nobody(void **state)
{
	struct cutter cutter = { .fd = make_file(SCOPE_MEMORY_NAME, SCOPE_FD),
				 .memory = memory_sample() };
	struct scope_reader *reader = NULL;
	struct scopes scopes = { 0 };
	unsigned good = 0, bad = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(open_own(SCOPE_SEARCH_QUICK, &reader), 0);
	assert_int_equal(pthread_create(&thread, NULL, cut, &cutter), 0);
	for (unsigned i = 0; i < 200000 && (i < 2000 || good < 10 || bad < 10); i++) {
		struct error error = { 0 };
		int status = scope_reader_read(reader, true, &scopes, &error);

		assert_true(status == 0 || (status == -EPROTO && error.message[0]) ||
			    status == -ENOENT);
		assert_true(scopes.tasks.count <= MEMORY_THREADS);
		good += status == 0;
		bad += status != 0;
	}
	__atomic_store_n(&cutter.is_done, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_true(good > 0 && bad > 0);
	scopes_free(&scopes);
	scope_reader_close(reader);
	close(cutter.fd);
	free(cutter.memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first: a thread that was started is used again */
		cmocka_unit_test(without_a_thread_the_map_cannot_be_searched),
		cmocka_unit_test(the_memory_is_found_where_the_library_keeps_it),
		cmocka_unit_test(a_descriptor_that_is_taken_does_not_hide_it),
		cmocka_unit_test(anywhere_else_it_is_found_when_asked_for),
		cmocka_unit_test(a_mapping_is_enough),
		cmocka_unit_test(a_private_mapping_is_nobodys),
		cmocka_unit_test(the_memory_of_another_process_is_not_its_own),
		cmocka_unit_test(its_own_is_found_behind_that_of_another),
		cmocka_unit_test(a_search_gives_up_after_many_of_the_name),
		cmocka_unit_test(a_memory_of_another_name_is_none),
		cmocka_unit_test(nonsense_is_refused_with_a_sentence),
		cmocka_unit_test(a_memory_that_is_being_made_is_not_there_yet),
		cmocka_unit_test(a_process_that_is_not_there_is_told_apart),
		cmocka_unit_test(the_last_words_of_a_process_can_be_read),
		cmocka_unit_test(labels_that_came_later_are_read),
		cmocka_unit_test(a_file_that_is_cut_meanwhile_harms_nobody),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
