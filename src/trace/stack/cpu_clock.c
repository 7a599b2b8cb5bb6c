/* SPDX-License-Identifier: MIT */
#include "trace/stack/cpu_clock.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

uint64_t cpu_clock_period_ns(uint32_t frequency_hz)
{
	return frequency_hz ? NS_PER_SECOND / frequency_hz : 0;
}

/* A period, not a frequency, which the kernel would approach by and by: each sample weighs the same. */
static int open_clock(int cpu, uint64_t period_ns)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.exclude_idle = 1,
		.disabled = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int start_clock(struct cpu_clocks *clocks, int cpu, int program_fd, uint64_t period_ns)
{
	CLEANUP(close_fd) int fd = open_clock(cpu, period_ns);

	if (fd == -ENODEV) /* not online */
		return 0;
	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0 ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return -errno;
	if (array_append(&clocks->fds, fd) < 0)
		return -ENOMEM;
	TAKE_FD(fd);
	return 0;
}

int cpu_clocks_start(struct cpu_clocks *clocks, int program_fd, uint32_t frequency_hz)
{
	uint64_t period_ns = cpu_clock_period_ns(frequency_hz);
	int count = libbpf_num_possible_cpus(), status = count < 0 ? count : 0;

	for (int cpu = 0; cpu < count && status == 0; cpu++)
		status = start_clock(clocks, cpu, program_fd, period_ns);
	if (status < 0)
		cpu_clocks_stop(clocks);
	return status;
}

void cpu_clocks_stop(struct cpu_clocks *clocks)
{
	for (size_t i = 0; i < clocks->fds.count; i++)
		close(clocks->fds.data[i]);
	array_free(&clocks->fds);
}
