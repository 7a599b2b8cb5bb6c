/* SPDX-License-Identifier: MIT */
#include "lib/usage/thread_usage.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/usage/process_usage.h"
#include "lib/heartbeat/syscall_names.h"

enum {
	/* The kernel's numbers for "this thread" and "time on a CPU" in a clock's number. */
	CLOCK_OF_THREAD = 4,
	CLOCK_OF_RUNNING = 2,
};

struct amount thread_cpu_ns(pid_t tid)
{
	clockid_t clock = (clockid_t)(~(unsigned int)tid << 3 | CLOCK_OF_THREAD | CLOCK_OF_RUNNING);
	struct timespec time;

	if (clock_gettime(clock, &time) < 0)
		return (struct amount){ 0 };
	return amount_of((uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec);
}

static ssize_t read_file(pid_t tid, const char *name, char *buffer, size_t capacity)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, name);
	return process_read_file(path, buffer, capacity);
}

struct amount thread_delay_ns(pid_t tid)
{
	char text[128];
	const char *second;

	if (read_file(tid, "schedstat", text, sizeof(text)) <= 0)
		return (struct amount){ 0 };
	second = strchr(text, ' ');
	if (!second)
		return (struct amount){ 0 };
	return process_find_number(second + 1, "");
}

char thread_state(pid_t tid)
{
	char text[512];
	const char *end;

	if (read_file(tid, "stat", text, sizeof(text)) <= 0)
		return 0;
	/* The name before it may contain any character. */
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

/* The first thread stays in the list until the process ends, alive or not. */
bool thread_is_last(void)
{
	struct amount threads;

	if (thread_state(getpid()) != 'Z')
		return false;
	threads = process_usage_read().threads;
	return threads.is_known && threads.value == 2;
}

static void read_word(pid_t tid, const char *name, char word[static THREAD_WORD_SIZE])
{
	if (read_file(tid, name, word, THREAD_WORD_SIZE) <= 0)
		*word = '\0';
	word[strcspn(word, "\n")] = '\0';
}

void thread_wait_channel(pid_t tid, char word[static THREAD_WORD_SIZE])
{
	read_word(tid, "wchan", word);
	if (!strcmp(word, "0"))
		*word = '\0';
}

void thread_name(pid_t tid, char word[static THREAD_WORD_SIZE])
{
	read_word(tid, "comm", word);
}

void thread_system_call(pid_t tid, char word[static THREAD_WORD_SIZE])
{
	char text[256];
	const char *name;
	char *end;
	long number;

	*word = '\0';
	if (read_file(tid, "syscall", text, sizeof(text)) <= 0)
		return;
	/* The file has "running", or -1 when the thread waits outside a system call. */
	number = strtol(text, &end, 10);
	if (end == text || number < 0)
		return;
	name = syscall_name(number);
	if (name)
		snprintf(word, THREAD_WORD_SIZE, "%s", name);
	else
		snprintf(word, THREAD_WORD_SIZE, "%ld", number);
}
