/* SPDX-License-Identifier: MIT */
#include "cli/parts/job/machine_room.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "analyze/anomaly/host_figures.h"
#include "analyze/outcome/estimate.h"
#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/error.h"
#include "collect/capture.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"

/* Long enough for clock ticks to say how idle CPUs are. */
#define LOOK_NS 200000000

/* Our own cgroup, whose limits hold for what we would start; "" when there is none. */
static int find_cgroup(const struct host *host, const int32_t *own, char *path, size_t size,
		       struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	struct capture_options options = { .lister = LIST_PROCFS, .pids = own, .pid_count = 1 };
	int status = capture_take(host, &options, &snapshot, error);

	if (status < 0)
		return status;
	if (snprintf(path, size, "%s",
		     snapshot->task_count ? snapshot_text(snapshot, snapshot->tasks[0].cgroup) :
					    "") >= (int)size)
		path[0] = '\0';
	return 0;
}

static void set_cpus(const struct snapshot *snapshot, const struct host_sample *sample,
		     struct estimate_room *ret)
{
	const struct fact *online = &snapshot->facts[FACT_online_cpus];
	struct cpuset set = { 0 };

	if (!online->present || !host_sample_has(sample, HOST_VALUE_cpu_busy_percent) ||
	    cpulist_parse(online->text, &set) < 0)
		return;
	ret->has_cpus = true;
	ret->cpus = cpuset_count(&set);
	ret->idle_cpus = ret->cpus * (1 - sample->values[HOST_VALUE_cpu_busy_percent] / 100);
	cpuset_clear(&set);
}

static int look_twice(const struct host *host, const struct capture_options *options,
		      struct estimate_room *ret, struct error *error)
{
	CLEANUP(sampling_close_pointer) struct sampling *sampling = NULL;
	CLEANUP(snapshot_free_pointer) struct snapshot *first = NULL, *second = NULL;
	struct host_sample sample = { 0 };
	enum host_value memory;
	int status = sampling_open(host, options, &sampling, error);

	if (status == 0)
		status = sampling_take(sampling, &first, error);
	if (status == 0)
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
	if (status == 0)
		status = sampling_take(sampling, &second, error);
	if (status < 0)
		return status;
	host_figures(first, second, &sample);
	memory = host_sample_narrowest(&sample, HOST_VALUE_scope_memory_available_bytes,
				       HOST_VALUE_memory_available_bytes);
	if (!host_sample_has(&sample, memory))
		return error_set(error, -ENODATA,
				 "cannot read how much memory is available on this machine");
	ret->memory_bytes = sample.values[memory];
	ret->is_limit = ret->memory_bytes < sample.values[HOST_VALUE_memory_available_bytes];
	set_cpus(second, &sample, ret);
	return 0;
}

int machine_room_read(struct estimate_room *ret, struct error *error)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	char cgroup[4096];
	int32_t own = (int32_t)getpid();
	struct capture_options options = { .lister = LIST_PROCFS, .pids = &own, .pid_count = 1 };
	int status = host_open(&host, NULL, error);

	*ret = (struct estimate_room){ 0 };
	if (status == 0)
		status = find_cgroup(host, &own, cgroup, sizeof(cgroup), error);
	if (status == 0 && cgroup[0])
		options.cgroup = cgroup;
	return status < 0 ? status : look_twice(host, &options, ret, error);
}
