/* SPDX-License-Identifier: MIT */
#include "lib/usage/own_usage.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/heartbeat/syscall_names.h"

enum {
	/* The kernel's numbers for "this thread" and "time on a CPU" in a clock's number. */
	CLOCK_OF_THREAD = 4,
	CLOCK_OF_RUNNING = 2,
};

ssize_t usage_read_file(const char *path, char *buffer, size_t capacity)
{
	size_t length = 0;
	ssize_t got = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error;

	if (fd < 0)
		return -errno;
	while (length < capacity - 1) {
		got = read(fd, buffer + length, capacity - 1 - length);
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	error = errno;
	close(fd);
	if (got < 0)
		return -error;
	buffer[length] = '\0';
	return (ssize_t)length;
}

struct amount usage_find_number(const char *text, const char *key)
{
	size_t length = strlen(key);

	while (text) {
		if (!strncmp(text, key, length)) {
			const char *digits = text + length + strspn(text + length, " \t");
			char *end;
			unsigned long long value = strtoull(digits, &end, 10);

			return (struct amount){ .is_known = end != digits, .value = value };
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return (struct amount){ 0 };
}

static struct amount kilobytes(struct amount amount)
{
	amount.value *= 1024;
	return amount;
}

struct process_usage process_usage_read(void)
{
	struct process_usage usage = { 0 };
	char text[4096];

	/* Not /proc/self: the first thread may have ended, and then has no memory to show. */
	if (usage_read_file("/proc/thread-self/status", text, sizeof(text)) > 0) {
		usage.rss = kilobytes(usage_find_number(text, "VmRSS:"));
		usage.peak_rss = kilobytes(usage_find_number(text, "VmHWM:"));
		usage.threads = usage_find_number(text, "Threads:");
	}
	if (usage_read_file("/proc/self/io", text, sizeof(text)) > 0) {
		usage.read_bytes = usage_find_number(text, "read_bytes:");
		usage.written_bytes = usage_find_number(text, "write_bytes:");
	}
	return usage;
}

static struct amount read_clock(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time) < 0)
		return (struct amount){ 0 };
	return amount_of((uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec);
}

struct amount process_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

struct amount process_cpus(void)
{
	cpu_set_t allowed;
	long online;

	if (!sched_getaffinity(0, sizeof(allowed), &allowed))
		return amount_of((uint64_t)CPU_COUNT(&allowed));
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return (struct amount){ .is_known = online > 0, .value = (uint64_t)online };
}

struct amount thread_cpu_ns(pid_t tid)
{
	return read_clock(
		(clockid_t)(~(unsigned int)tid << 3 | CLOCK_OF_THREAD | CLOCK_OF_RUNNING));
}

static ssize_t read_thread_file(pid_t tid, const char *name, char *buffer, size_t capacity)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, name);
	return usage_read_file(path, buffer, capacity);
}

struct amount thread_delay_ns(pid_t tid)
{
	char text[128];
	const char *second;

	if (read_thread_file(tid, "schedstat", text, sizeof(text)) <= 0)
		return (struct amount){ 0 };
	second = strchr(text, ' ');
	if (!second)
		return (struct amount){ 0 };
	return usage_find_number(second + 1, "");
}

char thread_state(pid_t tid)
{
	char text[512];
	const char *end;

	if (read_thread_file(tid, "stat", text, sizeof(text)) <= 0)
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
	if (read_thread_file(tid, name, word, THREAD_WORD_SIZE) <= 0)
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
	if (read_thread_file(tid, "syscall", text, sizeof(text)) <= 0)
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
