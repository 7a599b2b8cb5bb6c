/* SPDX-License-Identifier: MIT */
/* Counts what the processors did for the tree, and the energy that the host used meanwhile. */
#include "session/session.h"
#include "session/watch/watch.h"

#define REASON_SIZE 160

void watch_open_hardware(struct watch *watch)
{
	if (!watch->options->since_start)
		energy_open(&watch->energy, watch->host, monotonic_ns());
	hardware_open(&watch->counters, watch->host, hardware_kinds,
		      watch->options->exclude_children);
}

static bool are_counted(const struct watch *watch)
{
	return watch->options->hardware_counters && !watch->options->since_start;
}

int watch_count_command(struct watch *watch, int32_t pid)
{
	return are_counted(watch) ? hardware_add(&watch->counters, pid, true) : 0;
}

static int count_thread(void *context, const struct tree_process *process,
			const struct tree_thread *thread)
{
	struct watch *watch = context;

	(void)process;
	return thread->ended ? 0 : hardware_add(&watch->counters, thread->key.tid, false);
}

int watch_count_members(struct watch *watch)
{
	return are_counted(watch) ? tree_visit_threads(watch->run->tree, count_thread, watch) : 0;
}

static int report_counters(struct watch *watch)
{
	const struct hardware_counters *counters = &watch->counters;
	char buffer[REASON_SIZE];
	const char *reason;

	if (!watch->options->hardware_counters)
		return run_set_source(watch->run, "hardware_counters", SOURCE_OFF,
				      "not asked for: see --hardware-counters");
	if (watch->options->since_start)
		return run_set_source(watch->run, "hardware_counters", SOURCE_OFF,
				      WATCH_UNKNOWN_PAST);
	reason = hardware_reason(counters, watch->host, buffer, sizeof(buffer));
	return run_set_source(watch->run, "hardware_counters",
			      !hardware_counts_any(counters) ? SOURCE_UNAVAILABLE :
			      reason			     ? SOURCE_PARTIAL :
							       SOURCE_OK,
			      reason);
}

static int report_energy(struct watch *watch)
{
	const struct energy *energy = &watch->energy;

	if (watch->options->since_start)
		return run_set_source(watch->run, "energy", SOURCE_OFF, WATCH_UNKNOWN_PAST);
	return run_set_source(watch->run, "energy",
			      !energy->count ? SOURCE_UNAVAILABLE :
			      energy->reason ? SOURCE_PARTIAL :
					       SOURCE_OK,
			      energy->reason);
}

int watch_report_hardware(struct watch *watch)
{
	int status = report_counters(watch);

	return status < 0 ? status : report_energy(watch);
}

int watch_finish_hardware(struct watch *watch)
{
	watch->run->hardware = (struct run_hardware){ 0 };
	if (are_counted(watch))
		hardware_result(&watch->counters, &watch->run->hardware);
	if (!watch->options->since_start)
		energy_result(&watch->energy, watch->host, &watch->run->hardware);
	return watch_report_hardware(watch);
}
