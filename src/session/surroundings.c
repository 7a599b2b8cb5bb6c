/* SPDX-License-Identifier: MIT */
#include "session/surroundings.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "collect/pressure.h"
#include "host/host.h"
#include "session/cgroup_look.h"
#include "session/stat_line.h"

#define PLACES_LIMIT 65536

#define NUMBER(member) offsetof(struct run_surroundings, member)

static struct run_number *number_at(struct run_surroundings *in, size_t offset)
{
	return (struct run_number *)((char *)in + offset);
}

/* Pressure files of the host, and the lines of them that are kept. */
static const struct {
	const char *path;
	enum pressure_line line;
	size_t offset;
} host_pressure[] = {
	{ "pressure/cpu", PRESSURE_SOME, NUMBER(host_cpu_some_us) },
	{ "pressure/memory", PRESSURE_SOME, NUMBER(host_memory_some_us) },
	{ "pressure/memory", PRESSURE_FULL, NUMBER(host_memory_full_us) },
	{ "pressure/io", PRESSURE_SOME, NUMBER(host_io_some_us) },
	{ "pressure/io", PRESSURE_FULL, NUMBER(host_io_full_us) },
};

/* Told as differences; the others as they are at the end. */
static const size_t counters[] = {
	NUMBER(host_cpu_some_us),	  NUMBER(host_memory_some_us),
	NUMBER(host_memory_full_us),	  NUMBER(host_io_some_us),
	NUMBER(host_io_full_us),	  NUMBER(cgroup_periods),
	NUMBER(cgroup_throttled_periods), NUMBER(cgroup_throttled_ns),
	NUMBER(cgroup_memory_max_hits),	  NUMBER(cgroup_memory_high_hits),
	NUMBER(cgroup_oom_kills),	  NUMBER(cgroup_cpu_some_us),
	NUMBER(cgroup_memory_some_us),	  NUMBER(cgroup_io_some_us),
};

static void read_host(const struct host *host, struct run_surroundings *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(host_pressure); i++)
		cgroup_look_pressure(host->proc, host_pressure[i].path, host_pressure[i].line,
				     number_at(ret, host_pressure[i].offset));
	ret->online_cpus = (uint32_t)cpuset_count(&host->online);
}

static void read_all(const struct surroundings *surroundings, struct run_surroundings *ret)
{
	*ret = (struct run_surroundings){ 0 };
	read_host(surroundings->host, ret);
	if (surroundings->open && surroundings->places)
		cgroup_look(&surroundings->trees, surroundings->places, ret);
}

static int open_process(const struct host *host, int32_t pid)
{
	char path[16];

	snprintf(path, sizeof(path), "%" PRId32, pid);
	return host_open_directory(host->proc, path);
}

static int read_places(int process, struct text *ret)
{
	return process < 0 ? process : file_read_text(process, "cgroup", PLACES_LIMIT, ret);
}

/* When it began, in ticks; 0 when that is not known, or it is on its way out. */
static int64_t read_start(int process)
{
	struct stat_line line;

	if (process < 0 || stat_line_read(process, "stat", &line) < 0 ||
	    stat_line_is_ending(&line) || line.count <= STAT_START)
		return 0;
	return line.fields[STAT_START];
}

int surroundings_begin(struct surroundings *surroundings, const struct host *host, int32_t pid)
{
	CLEANUP(text_free) struct text places = { 0 };
	CLEANUP(close_fd) int process = open_process(host, pid);
	int status;

	*surroundings = (struct surroundings){ .host = host };
	status = hierarchies_open(host, &surroundings->trees);
	if (status < 0)
		return status;
	surroundings->open = true;
	surroundings->start_ticks = read_start(process);
	status = read_places(process, &places);
	if (status == 0)
		surroundings->places = TAKE_PTR(places.data);
	read_all(surroundings, &surroundings->begin);
	return status == -ENOMEM ? status : 0;
}

/* In another cgroup; of the host the beginning stays. */
static void begin_again(struct surroundings *surroundings)
{
	struct run_surroundings before = surroundings->begin;

	read_all(surroundings, &surroundings->begin);
	for (size_t i = 0; i < ARRAY_SIZE(host_pressure); i++)
		*number_at(&surroundings->begin, host_pressure[i].offset) =
			*number_at(&before, host_pressure[i].offset);
}

int surroundings_follow(struct surroundings *surroundings, int32_t pid)
{
	CLEANUP(text_free) struct text places = { 0 };
	CLEANUP(close_fd) int process = open_process(surroundings->host, pid);
	int status = read_places(process, &places);
	int64_t start;

	if (status < 0 || !places.data)
		return status == -ENOMEM ? status : 0;
	if (surroundings->places && strcmp(places.data, surroundings->places) == 0)
		return 0;
	/* A process that ends is shown at the root of version 1 hierarchies. */
	start = read_start(process);
	if (start == 0 || start != surroundings->start_ticks)
		return 0;
	free(surroundings->places);
	surroundings->places = TAKE_PTR(places.data);
	begin_again(surroundings);
	return 0;
}

/* Counters only grow; one that is smaller than before is of another cgroup with the same name. */
static struct run_number difference(struct run_number end, struct run_number begin)
{
	if (!end.present || !begin.present || end.value < begin.value)
		return (struct run_number){ 0 };
	return (struct run_number){ true, end.value - begin.value };
}

static int keep_path(const struct surroundings *surroundings, struct run *run)
{
	const char *path;
	size_t length;

	if (!surroundings->places)
		return 0;
	path = cgroup_path(surroundings->places, &surroundings->host->cgroup, &length);
	if (!path)
		return 0;
	run->surroundings.cgroup = arena_copy(&run->arena, path, length);
	return run->surroundings.cgroup ? 0 : -ENOMEM;
}

int surroundings_end(struct surroundings *surroundings, struct run *run)
{
	read_all(surroundings, &run->surroundings);
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		struct run_number *number = number_at(&run->surroundings, counters[i]);

		*number = difference(*number, *number_at(&surroundings->begin, counters[i]));
	}
	return keep_path(surroundings, run);
}

static const char *state_name(size_t present, size_t count)
{
	return present == count ? "ok" : present ? "partial" : "unavailable";
}

int surroundings_report(const struct surroundings *surroundings, struct run *run)
{
	struct run_surroundings begin = surroundings->begin;
	size_t count = ARRAY_SIZE(host_pressure);
	size_t present = 0;
	bool has_cpu = begin.cgroup_periods.present || begin.cgroup_throttled_ns.present;
	bool has_memory = begin.cgroup_memory_max_hits.present || begin.cgroup_oom_kills.present;
	int status;

	for (size_t i = 0; i < count; i++)
		present += number_at(&begin, host_pressure[i].offset)->present;
	status = run_add_source(
		run, "pressure", state_name(present, count),
		present == count ?
			NULL :
			"proc/pressure lacks values: it needs a kernel with CONFIG_PSI, and psi=1");
	if (status < 0)
		return status;
	present = (size_t)has_cpu + has_memory;
	return run_add_source(
		run, "cgroup", state_name(present, 2),
		present == 2 ? NULL :
		has_cpu	     ? "its cgroup has no counters of memory" :
		has_memory   ? "its cgroup has no counters of CPU quota" :
		surroundings->places ?
			     "its cgroup has no counters: it is the root, or has no controllers" :
			     "the cgroup of the process could not be read");
}

void surroundings_close(struct surroundings *surroundings)
{
	if (surroundings->open)
		hierarchies_close(&surroundings->trees);
	free(surroundings->places);
	*surroundings = (struct surroundings){ 0 };
}
