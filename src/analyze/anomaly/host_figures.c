/* SPDX-License-Identifier: MIT */
#include "analyze/anomaly/host_figures.h"

#include <string.h>

#include "analyze/anomaly/scope_figures.h"
#include "base/collection/array.h"
#include "model/snapshot/snapshot.h"

/* Two snapshots of one boot, and the time between them. */
struct interval {
	const struct snapshot *before; /* NULL: there are no rates */
	const struct snapshot *now;
	double seconds;
	struct host_sample *sample;
};

static bool read_cell(const struct sheet *sheet, const char *name, uint32_t row, double *ret)
{
	uint64_t value;

	if (row >= sheet->row_count ||
	    column_get(sheet_find(sheet, name), row, &value) != CELL_NUMBER)
		return false;
	*ret = (double)value;
	return true;
}

static bool read_host(const struct snapshot *snapshot, const char *name, double *ret)
{
	return read_cell(&snapshot->sheets[SHEET_HOST], name, 0, ret);
}

/* How much a counter grew; false when it was not there before, or began again. */
static bool read_growth(const struct interval *interval, const char *name, double *ret)
{
	double before, now;

	if (!interval->before || !read_host(interval->before, name, &before) ||
	    !read_host(interval->now, name, &now) || now < before)
		return false;
	*ret = now - before;
	return true;
}

/* Values that are one reading: as they are, or by how much they grew in a second. */
static const struct {
	enum host_value value;
	const char *reading;
	bool is_rate;
	double factor;
} plain_values[] = {
	/* clang-format off */
	{ HOST_VALUE_load1,                        "load 1min",                 false, 0.01 },
	{ HOST_VALUE_load5,                        "load 5min",                 false, 0.01 },
	{ HOST_VALUE_load15,                       "load 15min",                false, 0.01 },
	{ HOST_VALUE_pressure_cpu_some_percent,    "pressure cpu some avg10",    false, 0.01 },
	{ HOST_VALUE_pressure_memory_some_percent, "pressure memory some avg10", false, 0.01 },
	{ HOST_VALUE_pressure_memory_full_percent, "pressure memory full avg10", false, 0.01 },
	{ HOST_VALUE_pressure_io_some_percent,     "pressure io some avg10",     false, 0.01 },
	{ HOST_VALUE_pressure_io_full_percent,     "pressure io full avg10",     false, 0.01 },
	{ HOST_VALUE_forks_per_second,             "stat processes",             true,  1 },
	{ HOST_VALUE_context_switches_per_second,  "stat ctxt",                  true,  1 },
	{ HOST_VALUE_interrupts_per_second,        "stat intr",                  true,  1 },
	{ HOST_VALUE_page_faults_disk_per_second,  "vmstat pgmajfault",          true,  1 },
	/* clang-format on */
};

static void set_plain(const struct interval *interval)
{
	double number;

	for (size_t i = 0; i < ARRAY_SIZE(plain_values); i++) {
		const char *name = plain_values[i].reading;

		if (plain_values[i].is_rate) {
			if (!read_growth(interval, name, &number))
				continue;
			number /= interval->seconds;
		} else if (!read_host(interval->now, name, &number)) {
			continue;
		}
		host_sample_set(interval->sample, plain_values[i].value,
				number * plain_values[i].factor);
	}
}

/* Swap is counted in pages. */
static void set_swap_rates(const struct interval *interval)
{
	const struct fact *page = &interval->now->facts[FACT_page_size];
	double pages;

	if (!page->present)
		return;
	if (read_growth(interval, "vmstat pswpin", &pages))
		host_sample_set(interval->sample, HOST_VALUE_swap_in_bytes_per_second,
				pages * (double)page->number / interval->seconds);
	if (read_growth(interval, "vmstat pswpout", &pages))
		host_sample_set(interval->sample, HOST_VALUE_swap_out_bytes_per_second,
				pages * (double)page->number / interval->seconds);
}

/* Parts of the time of all CPUs.  Guests are part of user and nice. */
static const struct {
	const char *reading;
	int value; /* of enum host_value, or -1 */
	bool is_busy;
} modes[] = {
	{ "stat cpu user", HOST_VALUE_cpu_user_percent, true },
	{ "stat cpu nice", HOST_VALUE_cpu_user_percent, true },
	{ "stat cpu system", HOST_VALUE_cpu_system_percent, true },
	{ "stat cpu irq", HOST_VALUE_cpu_system_percent, true },
	{ "stat cpu softirq", HOST_VALUE_cpu_system_percent, true },
	{ "stat cpu iowait", HOST_VALUE_cpu_iowait_percent, false },
	{ "stat cpu steal", HOST_VALUE_cpu_steal_percent, false },
	{ "stat cpu idle", -1, false },
};

/* All or none: without one of them the others are not shares of a whole. */
static void set_cpu(const struct interval *interval)
{
	double grown[ARRAY_SIZE(modes)], total = 0;
	double shares[HOST_VALUE_COUNT] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (!read_growth(interval, modes[i].reading, &grown[i]))
			return;
		total += grown[i];
	}
	if (total <= 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		double percent = grown[i] / total * 100;

		if (modes[i].is_busy)
			shares[HOST_VALUE_cpu_busy_percent] += percent;
		if (modes[i].value >= 0)
			shares[modes[i].value] += percent;
	}
	for (int value = HOST_VALUE_cpu_busy_percent; value <= HOST_VALUE_cpu_steal_percent;
	     value++)
		host_sample_set(interval->sample, (enum host_value)value, shares[value]);
}

/* Devices on top of others, whose requests are counted again below, or in memory. */
static bool is_stacked(const char *name)
{
	static const char *const kinds[] = { "dm-", "md", "loop", "zram", "ram", "bcache", "drbd" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strncmp(name, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

static bool is_loopback(const char *name)
{
	return strncmp(name, "lo ", 3) == 0;
}

/* Sums over all devices of a file, but for some; a device that came or went does not count. */
static const struct {
	enum host_value value;
	const char *file;
	const char *key;
	bool (*is_left_out)(const char *name);
	bool is_largest; /* the share of time of the busiest one, not a sum */
} device_values[] = {
	/* clang-format off */
	{ HOST_VALUE_disk_read_bytes_per_second,  "diskstats ", " read_bytes",  is_stacked,  false },
	{ HOST_VALUE_disk_write_bytes_per_second, "diskstats ", " write_bytes", is_stacked,  false },
	{ HOST_VALUE_disk_busy_percent,           "diskstats ", " busy_ns",     is_stacked,  true },
	{ HOST_VALUE_net_rx_bytes_per_second,     "net/dev ",   " rx_bytes",    is_loopback, false },
	{ HOST_VALUE_net_tx_bytes_per_second,     "net/dev ",   " tx_bytes",    is_loopback, false },
	/* clang-format on */
};

static bool is_for(const char *name, size_t value)
{
	size_t file = strlen(device_values[value].file), key = strlen(device_values[value].key);
	size_t length = strlen(name);

	return length > file + key && strncmp(name, device_values[value].file, file) == 0 &&
	       strcmp(name + length - key, device_values[value].key) == 0 &&
	       !device_values[value].is_left_out(name + file);
}

static void set_devices(const struct interval *interval)
{
	const struct sheet *sheet = &interval->now->sheets[SHEET_HOST];
	double totals[ARRAY_SIZE(device_values)] = { 0 }, grown;
	bool known[ARRAY_SIZE(device_values)] = { false };

	for (size_t i = 0; i < sheet->columns.count; i++) {
		const char *name = sheet->columns.data[i].metric->name;

		for (size_t value = 0; value < ARRAY_SIZE(device_values); value++) {
			if (!is_for(name, value) || !read_growth(interval, name, &grown))
				continue;
			known[value] = true;
			if (!device_values[value].is_largest)
				totals[value] += grown;
			else if (grown > totals[value])
				totals[value] = grown;
		}
	}
	for (size_t value = 0; value < ARRAY_SIZE(device_values); value++) {
		double rate = totals[value] / interval->seconds;

		if (device_values[value].is_largest) /* ns in a second, as a percentage */
			rate = rate / 1e7 > 100 ? 100 : rate / 1e7;
		if (known[value])
			host_sample_set(interval->sample, device_values[value].value, rate);
	}
}

/* How one figure of the host is made from those of its GPUs: their sum, or the largest. */
static const struct {
	enum host_value value;
	const char *key;
	bool is_largest;
	double factor;
} gpu_values[] = {
	/* clang-format off */
	{ HOST_VALUE_gpu_busy_percent,        " busy",                true,  0.01 },
	{ HOST_VALUE_gpu_memory_used_bytes,   " memory_used_bytes",   false, 1 },
	{ HOST_VALUE_gpu_memory_total_bytes,  " memory_total_bytes",  false, 1 },
	{ HOST_VALUE_gpu_temperature_celsius, " temperature_celsius", true,  1 },
	{ HOST_VALUE_gpu_power_watts,         " power_milliwatts",    false, 0.001 },
	/* clang-format on */
};

static void add_gpu(struct host_sample *sample, size_t i, double number)
{
	enum host_value value = gpu_values[i].value;
	double before = host_sample_has(sample, value) ? sample->values[value] : 0;

	number *= gpu_values[i].factor;
	host_sample_set(sample, value,
			!gpu_values[i].is_largest ? before + number :
			number > before		  ? number :
						    before);
}

static void set_gpus(const struct interval *interval)
{
	const struct sheet *sheet = &interval->now->sheets[SHEET_HOST];
	double number;

	for (size_t column = 0; column < sheet->columns.count; column++) {
		const char *name = sheet->columns.data[column].metric->name;
		const char *key = strncmp(name, "gpu ", 4) == 0 ? strrchr(name, ' ') : NULL;

		for (size_t i = 0; key && i < ARRAY_SIZE(gpu_values); i++)
			if (strcmp(key, gpu_values[i].key) == 0 &&
			    read_host(interval->now, name, &number))
				add_gpu(interval->sample, i, number);
	}
}

static void set_memory(const struct interval *interval)
{
	double total, available, swap, unused;

	if (read_host(interval->now, "meminfo MemTotal", &total) &&
	    read_host(interval->now, "meminfo MemAvailable", &available)) {
		host_sample_set(interval->sample, HOST_VALUE_memory_total_bytes, total);
		host_sample_set(interval->sample, HOST_VALUE_memory_available_bytes, available);
		host_sample_set(interval->sample, HOST_VALUE_memory_used_bytes,
				total > available ? total - available : 0);
	}
	if (read_host(interval->now, "meminfo SwapTotal", &swap) &&
	    read_host(interval->now, "meminfo SwapFree", &unused) && unused <= swap)
		host_sample_set(interval->sample, HOST_VALUE_swap_used_bytes, swap - unused);
}

/* A leader may have ended before its threads: only when none of them lives is it a zombie. */
bool process_is_zombie(const struct snapshot *snapshot, uint32_t process)
{
	uint64_t state;
	bool has_zombie = false;

	for (size_t row = snapshot->processes[process].first_task; row < snapshot->task_count;
	     row++) {
		if (snapshot->tasks[row].process != process)
			break;
		if (!snapshot_get(snapshot, METRIC_state, (uint32_t)row, &state) ||
		    (state != 'Z' && state != 'X'))
			return false;
		has_zombie |= state == 'Z';
	}
	return has_zombie;
}

/* What is counted are the tasks of the snapshot: those of the scope, if there is one. */
static void set_count(const struct interval *interval, enum host_value host, enum host_value scope,
		      size_t count)
{
	bool has_scope = interval->now->facts[FACT_filter].present;

	host_sample_set(interval->sample, has_scope ? scope : host, (double)count);
}

static void set_zombies(const struct interval *interval)
{
	const struct snapshot *snapshot = interval->now;
	struct host_sample *sample = interval->sample;
	size_t count = 0;

	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		if (!process_is_zombie(snapshot, row))
			continue;
		count++;
		if (sample->zombie_pid_count < HOST_SAMPLE_ZOMBIES)
			sample->zombie_pids[sample->zombie_pid_count++] =
				snapshot->processes[row].tgid;
	}
	set_count(interval, HOST_VALUE_zombies, HOST_VALUE_scope_zombies, count);
}

static void set_tasks(const struct interval *interval)
{
	const struct snapshot *snapshot = interval->now;
	size_t running = 0, blocked = 0;
	uint64_t state;

	set_count(interval, HOST_VALUE_processes, HOST_VALUE_scope_processes,
		  snapshot->process_count);
	set_count(interval, HOST_VALUE_threads, HOST_VALUE_scope_threads, snapshot->task_count);
	if (snapshot->task_count && !snapshot_measured(snapshot, METRIC_state))
		return;
	for (uint32_t row = 0; row < snapshot->task_count; row++) {
		if (!snapshot_get(snapshot, METRIC_state, row, &state))
			continue;
		running += state == 'R';
		blocked += state == 'D';
	}
	set_count(interval, HOST_VALUE_running_threads, HOST_VALUE_scope_running_threads, running);
	set_count(interval, HOST_VALUE_blocked_threads, HOST_VALUE_scope_blocked_threads, blocked);
	set_zombies(interval);
}

/* From the worst on; what reaches one of the bounds has the level. */
static const struct {
	enum pressure_level level;
	double some, full; /* percent, at least; above 100: not by this */
	double available;  /* percent, below */
} levels[] = {
	{ PRESSURE_CRITICAL, 101, 20, 5 },
	{ PRESSURE_HIGH, 20, 101, 10 },
	{ PRESSURE_MEDIUM, 5, 101, 20 },
	{ PRESSURE_LOW, 1, 101, 30 },
};

/* By which figures a level is found. */
struct level_figures {
	enum host_value some, full, total, available;
};

static enum pressure_level level_of(const struct host_sample *sample,
				    const struct level_figures *by)
{
	const double *values = sample->values;
	bool has_some = host_sample_has(sample, by->some);
	bool has_full = host_sample_has(sample, by->full);
	bool has_memory = host_sample_has(sample, by->total) && values[by->total] > 0;
	double available = has_memory ? values[by->available] / values[by->total] * 100 : 100;

	if (!has_some && !has_full && !has_memory)
		return PRESSURE_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		if ((has_some && values[by->some] >= levels[i].some) ||
		    (has_full && values[by->full] >= levels[i].full) ||
		    available < levels[i].available)
			return levels[i].level;
	}
	return PRESSURE_NONE;
}

/* A cgroup without a limit has what the host has; one that says nothing of itself has no level. */
static void set_levels(struct host_sample *sample)
{
	const struct level_figures host = {
		.some = HOST_VALUE_pressure_memory_some_percent,
		.full = HOST_VALUE_pressure_memory_full_percent,
		.total = HOST_VALUE_memory_total_bytes,
		.available = HOST_VALUE_memory_available_bytes,
	};
	const struct level_figures scope = {
		.some = HOST_VALUE_scope_pressure_memory_some_percent,
		.full = HOST_VALUE_scope_pressure_memory_full_percent,
		.total = host_sample_narrowest(sample, HOST_VALUE_scope_memory_limit_bytes,
					       host.total),
		.available = host_sample_narrowest(sample, HOST_VALUE_scope_memory_available_bytes,
						   host.available),
	};

	sample->pressure_level = level_of(sample, &host);
	sample->scope_pressure_level = host_sample_has(sample, HOST_VALUE_scope_memory_bytes) ||
						       host_sample_has(sample, scope.some) ?
					       level_of(sample, &scope) :
					       PRESSURE_UNKNOWN;
}

bool snapshots_seconds_apart(const struct snapshot *before, const struct snapshot *now, double *ret)
{
	const struct fact *boots[] = { &before->facts[FACT_boot_id], &now->facts[FACT_boot_id] };
	const struct fact *times[] = { &before->facts[FACT_monotonic_ns],
				       &now->facts[FACT_monotonic_ns] };

	if (!boots[0]->present || !boots[1]->present || !times[0]->present || !times[1]->present ||
	    strcmp(boots[0]->text, boots[1]->text) != 0 || times[1]->number <= times[0]->number)
		return false;
	*ret = (double)(times[1]->number - times[0]->number) / 1e9;
	return true;
}

void host_figures(const struct snapshot *before, const struct snapshot *now,
		  struct host_sample *ret)
{
	struct interval interval = { .now = now, .sample = ret };

	*ret = (struct host_sample){ .unix_ns = now->facts[FACT_captured_at_unix_ns].number };
	if (before && snapshots_seconds_apart(before, now, &interval.seconds))
		interval.before = before;
	set_plain(&interval);
	set_swap_rates(&interval);
	set_cpu(&interval);
	set_devices(&interval);
	set_gpus(&interval);
	set_memory(&interval);
	set_tasks(&interval);
	scope_figures(interval.before, now, interval.seconds, ret);
	set_levels(ret);
}
