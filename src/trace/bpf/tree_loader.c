/* SPDX-License-Identifier: MIT */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "bpf/tree/tree_stack.h"
#include "host/bpf.h"
#include "host/host.h"
#include "model/syscall/syscall.h"
#include "trace/bpf/bpf_tracer.h"
#include "trace/calls/call_rules.h"
#include "trace/bpf/tree_program.h"

/* Calls on a socket whose result says how much was received or sent. */
static const struct {
	const char *name;
	uint8_t rule;
} traffic_calls[] = {
	{ "preadv2", TREE_TRAFFIC_RECEIVED },
	{ "pwritev2", TREE_TRAFFIC_SENT },
	{ "read", TREE_TRAFFIC_RECEIVED },
	{ "readv", TREE_TRAFFIC_RECEIVED },
	{ "recv", TREE_TRAFFIC_RECEIVED | TREE_TRAFFIC_FLAGS_4 },
	{ "recvfrom", TREE_TRAFFIC_RECEIVED | TREE_TRAFFIC_FLAGS_4 },
	{ "recvmmsg", TREE_TRAFFIC_RECEIVED | TREE_TRAFFIC_MESSAGES | TREE_TRAFFIC_FLAGS_4 },
	{ "recvmmsg_time64", TREE_TRAFFIC_RECEIVED | TREE_TRAFFIC_MESSAGES | TREE_TRAFFIC_FLAGS_4 },
	{ "recvmsg", TREE_TRAFFIC_RECEIVED | TREE_TRAFFIC_FLAGS_3 },
	{ "send", TREE_TRAFFIC_SENT },
	{ "sendfile", TREE_TRAFFIC_SENT },
	{ "sendfile64", TREE_TRAFFIC_SENT },
	{ "sendmmsg", TREE_TRAFFIC_SENT | TREE_TRAFFIC_MESSAGES },
	{ "sendmsg", TREE_TRAFFIC_SENT },
	{ "sendto", TREE_TRAFFIC_SENT },
	{ "write", TREE_TRAFFIC_SENT },
	{ "writev", TREE_TRAFFIC_SENT },
};

static uint8_t traffic_rule(enum syscall_abi abi, uint32_t number)
{
	char buffer[SYSCALL_NAME_SIZE];
	const char *name = syscall_name(abi, number, buffer);

	for (size_t i = 0; i < sizeof(traffic_calls) / sizeof(traffic_calls[0]); i++)
		if (strcmp(name, traffic_calls[i].name) == 0)
			return traffic_calls[i].rule;
	return 0;
}

static bool has_stacks(const struct tracer_options *options)
{
	return options->stacks.frequency_hz || options->stacks.off_cpu_min_ns;
}

/* Each CPU has buffers for stacks; where none are wanted, no memory goes to them. */
static void configure_maps(struct tree_program *program, const struct host *host, uint32_t cpus,
			   bool is_wanted)
{
	program->maps.stack_buffers.max_entries = is_wanted ? cpus * TREE_STACK_USERS : 1;
	if (!is_wanted)
		program->maps.stack_ring.max_entries = (uint32_t)host->page_bytes;
}

static void configure(struct tree_program *program, const struct host *host,
		      const struct tracer_options *options)
{
	int cpus = libbpf_num_possible_cpus();

	call_rules_fill((uint8_t *)program->rodata->rules);
	call_table_fill((uint8_t *)program->rodata->traffic_rules, traffic_rule);
	program->rodata->want_calls = options->syscalls;
	program->rodata->want_waits = options->waits;
	program->rodata->preempt_distance = options->waits || options->stacks.off_cpu_min_ns ?
						    host_bpf_preempt_distance(host) :
						    0;
	program->rodata->since_start = options->since_start;
	program->rodata->sample_period_ns = cpu_clock_period_ns(options->stacks.frequency_hz);
	program->rodata->off_cpu_min_ns = options->stacks.off_cpu_min_ns;
	program->rodata->has_call_ends = options->syscalls;
	configure_maps(program, host, cpus > 0 ? (uint32_t)cpus : 1, has_stacks(options));
	program->rodata->cpu_count = cpus > 0 ? (uint32_t)cpus : 0;
}

/* What to attach: the rest was loaded, but is not wanted or is run as a walk. */
static int attach(struct tree_program *program, const struct tracer_options *options)
{
	const struct {
		int (*attach)(struct tree_program *program);
		bool is_wanted;
	} programs[] = {
		{ tree_program__tree_fork__attach, true },
		{ tree_program__tree_worker__attach, true },
		{ tree_program__tree_exec__attach, true },
		{ tree_program__tree_rename__attach, true },
		{ tree_program__tree_exit__attach, true },
		{ tree_program__tree_signal__attach, true },
		{ tree_program__tree_signal_deliver__attach, true },
		{ tree_program__tree_switch__attach, true },
		{ tree_program__tree_waking__attach, true },
		{ tree_program__tree_sys_enter__attach, options->syscalls },
		{ tree_program__tree_sys_exit__attach, options->syscalls },
	};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (programs[i].is_wanted && programs[i].attach(program) < 0)
			return -errno;
	return 0;
}

void tree_loader_close(struct tree_program *program)
{
	tree_program__destroy(program);
}

CLEANUP_POINTER(tree_loader_close, struct tree_program)

int tree_loader_open(const struct host *host, const struct tracer_options *options,
		     struct tree_program **ret, struct error *error)
{
	CLEANUP(tree_loader_close_pointer) struct tree_program *program = NULL;
	int status = host_bpf_check(host, error);

	if (status < 0)
		return status;
	program = tree_program__open();
	if (!program)
		return host_bpf_explain(-ENOMEM, error);
	configure(program, host, options);
	status = tree_program__load(program);
	if (status == 0)
		status = attach(program, options);
	if (status < 0)
		return host_bpf_explain(status, error);
	*ret = TAKE_PTR(program);
	return 0;
}
