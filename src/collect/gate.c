#include "collect/gate.h"

#include <fcntl.h>
#include <unistd.h>

#include "host/host.h"

static struct gate gate_open(void)
{
	return (struct gate){ .open = true };
}

static struct gate gate_closed(const char *reason)
{
	return (struct gate){ .reason = reason };
}

/* A setting that is not there: a kernel without it, unless it was not recorded or is not shown. */
static struct gate gate_missing(const struct host *host, const char *reason)
{
	if (!host->live)
		return gate_closed(NOT_RECORDED);
	if (faccessat(host->proc, "sys/kernel", F_OK, 0) < 0)
		return gate_closed("proc shows no settings here (is it mounted with subset=pid?)");
	return gate_closed(reason);
}

/*
 * A file that the kernel has for every process when it was built with the
 * option.  A recorded root tells by the tasks' own files.
 */
static struct gate file_gate(const struct host *host, const char *path, const char *reason)
{
	if (!host->live || faccessat(host->proc, path, F_OK, 0) == 0)
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
	return gate_missing(host, "this kernel was built without CONFIG_SCHED_CLASS_EXT");
}

/*
 * Each task remembers whether accounting was on when it was started.  While it is
 * off nothing is added to any record, so what a record says is not what happened.
 */
static struct gate delay_gate(const struct host *host)
{
	struct gate gate = gate_open();
	uint64_t on;

	if (!host_read_number(host->proc, "sys/kernel/task_delayacct", &on))
		return gate_missing(host,
				    "this kernel was built without CONFIG_TASK_DELAY_ACCT, or has "
				    "no kernel.task_delayacct");
	if (!on)
		return gate_closed("delay accounting is off (kernel.task_delayacct is 0); "
				   "`sysctl kernel.task_delayacct=1` turns it on for tasks started "
				   "afterwards");
	gate.reason = "delay accounting was off when the task was started";
	return gate;
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
}
