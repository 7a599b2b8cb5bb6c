/* SPDX-License-Identifier: MIT */
/*
 * A process whose memory map is locked for as long as a file system is silent: map_holder FILE.
 *
 * Maps a page of the file, prints "ready" and waits for a byte.  Then a child reads the page through
 * the parent's mem file, and waits with the parent's map locked; a thread that wants the map to itself
 * waits for the child; everybody else waits for that thread.  Prints "held" and waits for the end of
 * its input.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

static volatile pid_t writer;
static volatile bool is_locked;

static void *write_map(void *unused)
{
	writer = (pid_t)syscall(SYS_gettid);
	while (!is_locked)
		usleep(1000);
	for (;;)
		munmap(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), PAGE);
	return unused;
}

/* Nothing here may need memory. */
static void await_state(const char *stat, const char *states)
{
	char text[512];
	const char *end = NULL;

	while (!end || !strchr(states, end[2])) {
		int fd = open(stat, O_RDONLY | O_CLOEXEC);
		ssize_t length = read(fd, text, sizeof(text) - 1);

		text[length > 0 ? length : 0] = '\0';
		end = strrchr(text, ')');
		close(fd);
	}
}

int main(int count, char **arguments)
{
	int fd = open(count > 1 ? arguments[1] : "", O_RDONLY | O_CLOEXEC);
	const char *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	char path[64], byte;
	pthread_t thread;
	pid_t child;

	if (page == MAP_FAILED || write(1, "ready\n", 6) != 6 || read(0, &byte, 1) != 1)
		return 1;
	if (pthread_create(&thread, NULL, write_map, NULL) != 0)
		return 1;
	while (!writer)
		usleep(1000);
	child = fork();
	if (child == 0) {
		snprintf(path, sizeof(path), "/proc/%d/mem", getppid());
		fd = open(path, O_RDONLY | O_CLOEXEC);
		return pread(fd, &byte, 1, (off_t)(intptr_t)page) < 0;
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	await_state(path, "SD");
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", writer);
	is_locked = true;
	await_state(path, "D");
	return write(1, "held\n", 5) != 5 || read(0, &byte, 1) < 0;
}
