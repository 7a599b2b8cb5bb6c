/* SPDX-License-Identifier: MIT */
#include "analyze/anomaly/scope_figures.h"

#include <stdio.h>
#include <string.h>

#include "analyze/anomaly/host_figures.h"
#include "base/collection/array.h"
#include "model/record/process_totals.h"
#include "model/snapshot/snapshot.h"

static bool read_cell(const struct snapshot *snapshot, int64_t row, const char *name, double *ret)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];
	uint64_t value;

	if (row < 0 || column_get(sheet_find(sheet, name), (uint32_t)row, &value) != CELL_NUMBER)
		return false;
	*ret = (double)value;
	return true;
}

/* The path of the cgroup that is recorded, without slashes at its end; NULL: it is none. */
static const char *cgroup_path(const struct snapshot *snapshot, size_t *ret_length)
{
	const struct fact *filter = &snapshot->facts[FACT_filter];
	const char *path = filter->present ? strstr(filter->text, "cgroup ") : NULL;

	if (!path)
		return NULL;
	path += strlen("cgroup ");
	*ret_length = strlen(path);
	while (*ret_length > 1 && path[*ret_length - 1] == '/')
		--*ret_length;
	return path;
}

static int64_t cgroup_row(const struct snapshot *snapshot, const char *path, size_t length)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];

	for (size_t row = 0; row < sheet->row_count; row++) {
		const char *name = snapshot_text(snapshot, sheet->keys[row]);

		if (strncmp(name, path, length) == 0 && name[length] == '\0')
			return (int64_t)row;
	}
	return -1;
}

/* Readings of the cgroup as they are; PSI counts hundredths of a percent. */
static const struct {
	enum host_value value;
	const char *reading;
	double factor;
} plain_values[] = {
	/* clang-format off */
	{ HOST_VALUE_scope_memory_bytes,                 "memory.current",             1 },
	{ HOST_VALUE_scope_pressure_cpu_some_percent,    "cpu.pressure some avg10",    0.01 },
	{ HOST_VALUE_scope_pressure_memory_some_percent, "memory.pressure some avg10", 0.01 },
	{ HOST_VALUE_scope_pressure_memory_full_percent, "memory.pressure full avg10", 0.01 },
	{ HOST_VALUE_scope_pressure_io_some_percent,     "io.pressure some avg10",     0.01 },
	{ HOST_VALUE_scope_pressure_io_full_percent,     "io.pressure full avg10",     0.01 },
	/* clang-format on */
};

static void set_plain(const struct snapshot *now, int64_t row, struct host_sample *sample)
{
	double number;

	for (size_t i = 0; i < ARRAY_SIZE(plain_values); i++)
		if (read_cell(now, row, plain_values[i].reading, &number))
			host_sample_set(sample, plain_values[i].value,
					number * plain_values[i].factor);
}

/*
 * What is left of the limit of one cgroup.  Files in memory that nobody used for long count as
 * available: the kernel drops them before it runs out.
 */
static void narrow(const struct snapshot *now, int64_t row, struct host_sample *sample)
{
	double limit, used, idle = 0, left, *least, *available;

	if (!read_cell(now, row, "memory.max", &limit) ||
	    !read_cell(now, row, "memory.current", &used))
		return;
	(void)read_cell(now, row, "memory.stat inactive_file", &idle);
	used = used > idle ? used - idle : 0;
	left = limit > used ? limit - used : 0;
	least = &sample->values[HOST_VALUE_scope_memory_limit_bytes];
	available = &sample->values[HOST_VALUE_scope_memory_available_bytes];
	if (!host_sample_has(sample, HOST_VALUE_scope_memory_limit_bytes) || limit < *least)
		host_sample_set(sample, HOST_VALUE_scope_memory_limit_bytes, limit);
	if (!host_sample_has(sample, HOST_VALUE_scope_memory_available_bytes) || left < *available)
		host_sample_set(sample, HOST_VALUE_scope_memory_available_bytes, left);
}

/* The limits of all cgroups above hold as well; a limit above the host's memory is none. */
static void set_limit(const struct snapshot *now, const char *path, size_t length,
		      struct host_sample *sample)
{
	bool has_host = host_sample_has(sample, HOST_VALUE_memory_total_bytes) &&
			host_sample_has(sample, HOST_VALUE_memory_available_bytes);
	double *left = &sample->values[HOST_VALUE_scope_memory_available_bytes];

	for (; length > 1; length--)
		if (path[length] == '/' || path[length] == '\0')
			narrow(now, cgroup_row(now, path, length), sample);
	if (!host_sample_has(sample, HOST_VALUE_scope_memory_limit_bytes) || !has_host)
		return;
	if (sample->values[HOST_VALUE_scope_memory_limit_bytes] >=
	    sample->values[HOST_VALUE_memory_total_bytes])
		sample->present &= ~(UINT64_C(1) << HOST_VALUE_scope_memory_limit_bytes |
				     UINT64_C(1) << HOST_VALUE_scope_memory_available_bytes);
	else if (*left > sample->values[HOST_VALUE_memory_available_bytes])
		*left = sample->values[HOST_VALUE_memory_available_bytes];
}

/* The kernel counts what tasks used that are gone, too. */
static void set_cpu(const struct snapshot *before, int64_t row_before, const struct snapshot *now,
		    int64_t row, double seconds, struct host_sample *sample)
{
	double was, is;

	if (before && read_cell(before, row_before, "cpu.stat usage_usec", &was) &&
	    read_cell(now, row, "cpu.stat usage_usec", &is) && is >= was)
		host_sample_set(sample, HOST_VALUE_scope_cpu_percent,
				(is - was) / 1e6 / seconds * 100);
}

static void set_rss(const struct snapshot *now, struct host_sample *sample)
{
	uint64_t total = 0, value;

	if (now->process_count && !snapshot_measured(now, METRIC_rss_bytes))
		return;
	for (uint32_t row = 0; row < now->process_count; row++)
		if (snapshot_get(now, METRIC_rss_bytes, row, &value))
			total += value;
	host_sample_set(sample, HOST_VALUE_scope_rss_bytes, (double)total);
}

void scope_figures(const struct snapshot *before, const struct snapshot *now, double seconds,
		   struct host_sample *sample)
{
	const struct fact *filter = &now->facts[FACT_filter];
	size_t length = 0;
	const char *path = cgroup_path(now, &length);
	int64_t row;

	if (!filter->present)
		return;
	snprintf(sample->scope, sizeof(sample->scope), "%s", filter->text);
	set_rss(now, sample);
	if (!path)
		return;
	row = cgroup_row(now, path, length);
	set_plain(now, row, sample);
	set_limit(now, path, length, sample);
	set_cpu(before, before ? cgroup_row(before, path, length) : -1, now, row, seconds, sample);
}

void scope_cpu_figure(const struct scope_work *work, struct host_sample *sample)
{
	uint64_t total = work->ended_cpu_ns, grown;
	double seconds;

	if (!sample->scope[0] || host_sample_has(sample, HOST_VALUE_scope_cpu_percent) ||
	    !work->before || !snapshots_seconds_apart(work->before, work->now, &seconds))
		return;
	for (uint32_t row = 0; row < work->now->process_count; row++)
		if (process_total_growth(work->before, work->cpu_before, work->now, work->cpu_now,
					 row, &grown))
			total += grown;
	host_sample_set(sample, HOST_VALUE_scope_cpu_percent, (double)total / 1e9 / seconds * 100);
}
