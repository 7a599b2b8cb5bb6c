/* SPDX-License-Identifier: MIT */
#include "lib/usage/process_usage.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

ssize_t process_read_file(const char *path, char *buffer, size_t capacity)
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

struct amount process_find_number(const char *text, const char *key)
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
	if (process_read_file("/proc/thread-self/status", text, sizeof(text)) > 0) {
		usage.rss = kilobytes(process_find_number(text, "VmRSS:"));
		usage.peak_rss = kilobytes(process_find_number(text, "VmHWM:"));
		usage.threads = process_find_number(text, "Threads:");
	}
	if (process_read_file("/proc/self/io", text, sizeof(text)) > 0) {
		usage.read_bytes = process_find_number(text, "read_bytes:");
		usage.written_bytes = process_find_number(text, "write_bytes:");
	}
	return usage;
}

struct amount process_cpu_ns(void)
{
	struct timespec time;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) < 0)
		return (struct amount){ 0 };
	return amount_of((uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec);
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
