/* SPDX-License-Identifier: MIT */
#include "collect/hardware/hardware_counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "host/host.h"
#include "model/tree/run_numbers.h"

#define PMU_SHIFT 32 /* PERF_PMU_TYPE_SHIFT, which older headers lack */
#define READING_HEAD 3

/* clang-format off */
const struct hardware_kind hardware_kinds[HARDWARE_EVENT_COUNT] = {
	[HARDWARE_CYCLES] =           { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0 },
	[HARDWARE_INSTRUCTIONS] =     { PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0 },
	[HARDWARE_STALLED_FRONTEND] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 0 },
	[HARDWARE_STALLED_BACKEND] =  { PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 0 },
	[HARDWARE_CACHE_REFERENCES] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, 1 },
	[HARDWARE_CACHE_MISSES] =     { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 1 },
	[HARDWARE_BRANCH_MISSES] =    { PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, 1 },
};
/* clang-format on */

#define GROUPS 2

bool hardware_parse(const void *bytes, size_t length, size_t count, struct hardware_reading *ret)
{
	uint64_t words[READING_HEAD + HARDWARE_GROUP_MAX];

	if (count > HARDWARE_GROUP_MAX || length != (READING_HEAD + count) * sizeof(words[0]))
		return false;
	memcpy(words, bytes, length);
	if (words[0] != count)
		return false;
	*ret = (struct hardware_reading){ .enabled_ns = words[1], .running_ns = words[2] };
	memcpy(ret->values, words + READING_HEAD, count * sizeof(words[0]));
	return true;
}

bool hardware_scale(const struct hardware_reading *pmus, size_t count, size_t place, uint64_t *ret)
{
	uint64_t enabled = 0;
	__uint128_t value = 0, running = 0;

	for (size_t i = 0; i < count; i++) {
		value += pmus[i].values[place];
		running += pmus[i].running_ns;
		if (pmus[i].enabled_ns > enabled)
			enabled = pmus[i].enabled_ns;
	}
	if (!running && enabled)
		return false;
	if (running && running < enabled)
		value = value * enabled / running;
	*ret = value > UINT64_MAX ? UINT64_MAX : (uint64_t)value;
	return true;
}

static void find_pmus(struct hardware_counters *counters, const struct host *host)
{
	static const char *const hybrid[HARDWARE_PMUS_MAX] = {
		"bus/event_source/devices/cpu_core/type", "bus/event_source/devices/cpu_atom/type"
	};
	char line[32];
	uint64_t type;

	for (size_t i = 0; i < HARDWARE_PMUS_MAX && host->sys >= 0; i++) {
		if (file_read(host->sys, hybrid[i], line, sizeof(line)) <= 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (parse_u64(line, &type) && type <= UINT32_MAX)
			counters->pmus[counters->pmu_count++] = (uint32_t)type;
	}
	if (!counters->pmu_count)
		counters->pmus[counters->pmu_count++] = 0;
}

void hardware_open(struct hardware_counters *counters, const struct host *host,
		   const struct hardware_kind kinds[HARDWARE_EVENT_COUNT], bool own_only)
{
	*counters = (struct hardware_counters){ .kinds = kinds, .own_only = own_only };
	find_pmus(counters, host);
}

static int open_event(struct hardware_counters *counters, enum hardware_event event, uint32_t pmu,
		      pid_t tid, bool at_exec, int leader)
{
	const struct hardware_kind *kind = &counters->kinds[event];
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = kind->type,
		.config = kind->config | (uint64_t)pmu << PMU_SHIFT,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.inherit = 1,
		.inherit_thread = counters->own_only,
		.disabled = at_exec && leader < 0,
		.enable_on_exec = at_exec && leader < 0,
		.exclude_kernel = counters->only_user,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attributes, tid, -1, leader, PERF_FLAG_FD_CLOEXEC);
	bool is_refused = fd < 0 && (errno == EACCES || errno == EPERM);

	if (fd >= 0)
		return (int)fd;
	if (!is_refused || counters->only_user)
		return -errno;
	/* A plain user may count in user mode, unless the administrator forbids that as well. */
	counters->only_user = true;
	fd = open_event(counters, event, pmu, tid, at_exec, leader);
	if (fd < 0 && !counters->groups.count)
		counters->only_user = false;
	return (int)fd;
}

static int add_group(struct hardware_counters *counters, unsigned number, uint32_t pmu, pid_t tid,
		     bool at_exec)
{
	struct hardware_group group = { .tid = tid, .group = number };

	for (int event = 0; event < HARDWARE_EVENT_COUNT; event++) {
		int fd;

		if (counters->kinds[event].group != number || group.count == HARDWARE_GROUP_MAX)
			continue;
		fd = open_event(counters, event, pmu, tid, at_exec,
				group.count ? group.fds[0] : -1);
		if (fd < 0) {
			/* A task that ended meanwhile has nothing to count. */
			if (fd != -ESRCH)
				counters->errors[event] = fd;
			continue;
		}
		group.events[group.count] = event;
		group.fds[group.count++] = fd;
	}
	if (!group.count)
		return 0;
	if (array_append(&counters->groups, group) == 0)
		return 0;
	for (size_t i = 0; i < group.count; i++)
		close(group.fds[i]);
	return -ENOMEM;
}

int hardware_add(struct hardware_counters *counters, pid_t tid, bool at_exec)
{
	int status = 0;

	if (counters->task_count == HARDWARE_TASKS_MAX) {
		counters->has_more_tasks = true;
		return 0;
	}
	counters->task_count++;
	for (unsigned number = 0; number < GROUPS; number++)
		for (size_t i = 0; i < counters->pmu_count && status == 0; i++)
			status = add_group(counters, number, counters->pmus[i], tid, at_exec);
	return status;
}

static bool read_group(const struct hardware_group *group, struct hardware_reading *ret)
{
	uint64_t words[READING_HEAD + HARDWARE_GROUP_MAX];
	ssize_t length = read(group->fds[0], words, sizeof(words));

	return length > 0 && hardware_parse(words, (size_t)length, group->count, ret);
}

static struct run_number *number_of(struct run_hardware *hardware, enum hardware_event event)
{
	struct run_number *const numbers[HARDWARE_EVENT_COUNT] = {
		[HARDWARE_CYCLES] = &hardware->cycles,
		[HARDWARE_INSTRUCTIONS] = &hardware->instructions,
		[HARDWARE_CACHE_REFERENCES] = &hardware->cache_references,
		[HARDWARE_CACHE_MISSES] = &hardware->cache_misses,
		[HARDWARE_BRANCH_MISSES] = &hardware->branch_misses,
		[HARDWARE_STALLED_FRONTEND] = &hardware->stalled_frontend,
		[HARDWARE_STALLED_BACKEND] = &hardware->stalled_backend,
	};

	return numbers[event];
}

/* Groups of one task for several PMUs follow each other, with the same events. */
static size_t count_pmus(const struct hardware_counters *counters, size_t first)
{
	const struct hardware_group *group = &counters->groups.data[first];
	size_t count = 1;

	while (count < counters->pmu_count && first + count < counters->groups.count &&
	       group[count].tid == group->tid && group[count].group == group->group &&
	       group[count].count == group->count)
		count++;
	return count;
}

static void add_times(const struct hardware_reading *pmus, size_t count, struct run_hardware *ret)
{
	uint64_t enabled = 0;

	ret->enabled_ns.present = ret->running_ns.present = true;
	for (size_t i = 0; i < count; i++) {
		ret->running_ns.value += pmus[i].running_ns;
		if (pmus[i].enabled_ns > enabled)
			enabled = pmus[i].enabled_ns;
	}
	ret->enabled_ns.value += enabled;
}

static void add_values(const struct hardware_group *group, const struct hardware_reading *pmus,
		       size_t count, struct run_hardware *ret, bool failed[HARDWARE_EVENT_COUNT])
{
	for (size_t place = 0; place < group->count; place++) {
		struct run_number *number = number_of(ret, group->events[place]);
		uint64_t value = 0;

		if (!hardware_scale(pmus, count, place, &value))
			failed[group->events[place]] = true;
		number->present = true;
		number->value += value;
	}
	if (group->group == 0)
		add_times(pmus, count, ret);
}

void hardware_result(const struct hardware_counters *counters, struct run_hardware *ret)
{
	bool failed[HARDWARE_EVENT_COUNT] = { 0 };

	for (size_t i = 0; i < counters->groups.count;) {
		const struct hardware_group *group = &counters->groups.data[i];
		struct hardware_reading pmus[HARDWARE_PMUS_MAX] = { 0 };
		size_t count = count_pmus(counters, i);
		bool is_read = true;

		for (size_t n = 0; n < count; n++)
			is_read &= read_group(&group[n], &pmus[n]);
		if (is_read)
			add_values(group, pmus, count, ret, failed);
		for (size_t n = 0; n < group->count && !is_read; n++)
			failed[group->events[n]] = true;
		i += count;
	}
	for (int event = 0; event < HARDWARE_EVENT_COUNT; event++)
		if (failed[event] || counters->errors[event] || counters->has_more_tasks)
			number_of(ret, event)->present = false;
}

bool hardware_counts_any(const struct hardware_counters *counters)
{
	return counters->groups.count > 0 && !counters->has_more_tasks;
}

static const char *refusal(const struct host *host, char *buffer, size_t size)
{
	char line[16] = "";

	if (file_read(host->proc, "sys/kernel/perf_event_paranoid", line, sizeof(line)) < 0)
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	snprintf(buffer, size, "it needs CAP_PERFMON (kernel.perf_event_paranoid is %s)",
		 line[0] ? line : "not known");
	return buffer;
}

static const char *explain(int error, const struct host *host, char *buffer, size_t size)
{
	switch (error) {
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENODEV:
		return "this machine has no hardware counters, or its hypervisor hides them";
	case -ENOSYS:
		return "this kernel was built without CONFIG_PERF_EVENTS";
	case -EACCES:
	case -EPERM:
		return refusal(host, buffer, size);
	default:
		snprintf(buffer, size, "the kernel refuses them: %s", strerror(-error));
		return buffer;
	}
}

const char *hardware_reason(const struct hardware_counters *counters, const struct host *host,
			    char *buffer, size_t size)
{
	if (counters->has_more_tasks)
		return "the tree has too many threads to attach to each";
	if (!counters->groups.count)
		return explain(counters->errors[HARDWARE_CYCLES], host, buffer, size);
	for (int event = 0; event < HARDWARE_EVENT_COUNT; event++)
		if (counters->errors[event] && counters->errors[event] != -ENOENT &&
		    counters->errors[event] != -EOPNOTSUPP)
			return explain(counters->errors[event], host, buffer, size);
	return counters->only_user ? "only user mode is counted: the kernel needs CAP_PERFMON" :
				     NULL;
}

void hardware_close(struct hardware_counters *counters)
{
	for (size_t i = 0; i < counters->groups.count; i++)
		for (size_t n = 0; n < counters->groups.data[i].count; n++)
			close(counters->groups.data[i].fds[n]);
	array_free(&counters->groups);
}
