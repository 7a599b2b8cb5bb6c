/* SPDX-License-Identifier: MIT */
#include "collect/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "host/host.h"

static struct gate gate_open(void)
{
	return (struct gate){ .open = true };
}

static struct gate gate_closed(const char *reason)
{
	return (struct gate){ .reason = reason };
}

bool proc_has_only_processes(const struct host *host)
{
	return host->live && faccessat(host->proc, "sys/kernel", F_OK, 0) < 0;
}

const char *missing_reason(const struct host *host, const char *reason)
{
	if (!host->live)
		return NOT_RECORDED;
	if (proc_has_only_processes(host))
		return "proc shows only processes here (is it mounted with subset=pid?)";
	return reason;
}

static struct gate gate_missing(const struct host *host, const char *reason)
{
	return gate_closed(missing_reason(host, reason));
}

/*
 * A file that the kernel has for every process if it was built with the option.  On a recorded
 * root, and on a proc mount that does not show us, the tasks' own files decide.
 */
static struct gate file_gate(const struct host *host, const char *path, const char *reason)
{
	if (!host->live || faccessat(host->proc, path, F_OK, 0) == 0 ||
	    faccessat(host->proc, "self/stat", F_OK, 0) < 0)
		return gate_open();
	return gate_closed(reason);
}

static struct gate schedstats_gate(const struct host *host)
{
	uint64_t on;

	if (!host_read_number(host->proc, "sys/kernel/sched_schedstats", &on))
		return gate_missing(host, "this kernel was built without CONFIG_SCHEDSTATS");
	if (!on)
		return gate_closed("scheduler statistics are off (kernel.sched_schedstats is 0); "
				   "`sysctl kernel.sched_schedstats=1` turns them on while you "
				   "measure");
	return gate_open();
}

static struct gate sched_ext_gate(const struct host *host)
{
	if (host->sys >= 0 && faccessat(host->sys, "kernel/sched_ext", F_OK, 0) == 0)
		return gate_open();
	if (!host->live)
		return gate_closed(NOT_RECORDED);
	if (host->sys < 0 || faccessat(host->sys, "kernel", F_OK, 0) < 0)
		return gate_closed("no sysfs is mounted, which would say so");
	return gate_closed("this kernel was built without CONFIG_SCHED_CLASS_EXT");
}

/*
 * Each task remembers whether accounting was on when it was started.  While accounting is off, no
 * task's record grows, so the records are not correct.
 */
static struct gate delay_gate(const struct host *host)
{
	struct gate gate = gate_open();
	uint64_t on;
	bool built;

	if (!host_read_number(host->proc, "sys/kernel/task_delayacct", &on)) {
		if (host_kernel_option(host, "CONFIG_TASK_DELAY_ACCT", &built) && !built)
			return gate_closed("this kernel was built without CONFIG_TASK_DELAY_ACCT");
		return gate_missing(host, "there is no kernel.task_delayacct, which would say "
					  "whether this kernel counts delays");
	}
	if (!on)
		return gate_closed("delay accounting is off (kernel.task_delayacct is 0); "
				   "`sysctl kernel.task_delayacct=1` turns it on for tasks started "
				   "afterwards");
	gate.lacking = "delay accounting was off when the task was started";
	return gate;
}

/*
 * Whether the kernel counts the time of interrupts, which is optional.  If it does, the pressure
 * file of interrupts is there; if it was switched off, reading that file fails.  Where there is no
 * pressure at all, only the kernel's options say.  Returns NULL, or why it does not count.
 */
static const char *irq_time_refusal(const struct host *host)
{
	static const char not_counted[] = "this kernel does not count the time of interrupts "
					  "(CONFIG_IRQ_TIME_ACCOUNTING)";
	char pressure[256];
	ssize_t status = file_read(host->proc, "pressure/irq", pressure, sizeof(pressure));
	bool built;

	if (status >= 0)
		return NULL;
	if (status == -EOPNOTSUPP)
		return not_counted;
	if (host_kernel_option(host, "CONFIG_IRQ_TIME_ACCOUNTING", &built))
		return built ? NULL : "this kernel was built without CONFIG_IRQ_TIME_ACCOUNTING";
	if (host->live && status == -ENOENT && faccessat(host->proc, "pressure/cpu", F_OK, 0) == 0)
		return not_counted;
	return missing_reason(host, "it is not known whether this kernel counts the time of "
				    "interrupts (CONFIG_IRQ_TIME_ACCOUNTING)");
}

static struct gate irq_delay_gate(const struct host *host, struct gate delay)
{
	const char *refusal = delay.open ? irq_time_refusal(host) : NULL;

	return refusal ? gate_closed(refusal) : delay;
}

void gates_read(const struct host *host, struct gate gates[GATE_COUNT])
{
	gates[GATE_NONE] = gate_open();
	gates[GATE_SCHED_INFO] = file_gate(host, "self/schedstat",
					   "this kernel was built without CONFIG_SCHED_INFO");
	gates[GATE_SCHEDSTATS] = schedstats_gate(host);
	gates[GATE_SCHED_CORE] = schedstats_gate(host);
	gates[GATE_SCHED_CLASS_EXT] = sched_ext_gate(host);
	gates[GATE_TASK_IO_ACCOUNTING] = file_gate(
		host, "self/io", "this kernel was built without CONFIG_TASK_IO_ACCOUNTING");
	gates[GATE_TASK_DELAY_ACCT] = delay_gate(host);
	gates[GATE_IRQ_DELAY] = irq_delay_gate(host, gates[GATE_TASK_DELAY_ACCT]);
}
