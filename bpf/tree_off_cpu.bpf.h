/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reports times off the CPU one by one: what a thread waited for, who woke it, and who had the CPU
 * until it ran.
 *
 * When there are many, short ones are only added up.  The threshold begins at 0 and is raised
 * whenever more than RECORDS_MAX are sent within RECORDS_NS.
 */
#ifndef BPF_TREE_OFF_CPU_BPF_H
#define BPF_TREE_OFF_CPU_BPF_H

#include "tree_wait.bpf.h"

#define RECORDS_NS 1000000000
#define RECORDS_MAX 5000
#define THRESHOLD_FIRST_NS 10000
#define THRESHOLD_MOST_NS 10000000
#define THRESHOLD_FACTOR 10

#define CPU_SLICES 16 /* a power of two, so that an index can be masked to fit */

struct interval {
	__u32 reason;
	__u32 is_open; /* it is not over, or may not be */
	__u64 off_ns;
	__u64 queued_ns;
};

__u64 threshold_ns = 0;
__u64 records_begin_ns = 0;
__u64 records_sent = 0;

static __always_inline void threshold_raise(void)
{
	__u64 next = threshold_ns ? threshold_ns * THRESHOLD_FACTOR : THRESHOLD_FIRST_NS;

	records_sent = 0;
	if (next <= THRESHOLD_MOST_NS)
		threshold_ns = next;
}

/* Two CPUs may count at the same time and lose a count, which does no harm. */
static __always_inline void records_count(__u64 now)
{
	if (now - records_begin_ns > RECORDS_NS) {
		records_begin_ns = now;
		records_sent = 0;
	}
	if (++records_sent > RECORDS_MAX)
		threshold_raise();
}

static __always_inline void shorts_add(struct short_waits *shorts, const struct interval *interval)
{
	__u64 blocked_ns = interval->off_ns - interval->queued_ns;

	shorts->count++;
	shorts->queued_ns += interval->queued_ns;
	if (interval->reason == RUNNABLE)
		return;
	shorts->blocked_ns += blocked_ns;
	if (blocked_ns >= shorts->longest_ns) {
		shorts->longest_ns = blocked_ns;
		shorts->reason = interval->reason;
	}
}

/*
 * The verifier checks a function that is not static once and separately.  That keeps the number of
 * paths through its callers small.
 */
__noinline int off_cpu_fill(struct thread_state *state, struct interval *interval, __u64 run_ns,
			    struct tree_off_cpu_record *record)
{
	if (!state || !interval || !record)
		return 0;
	record->head.size = sizeof(*record);
	record->head.type = TREE_RECORD_WAIT;
	record->head.pid = state->pid;
	record->head.tid = state->tid;
	record->head.start_ns = state->start_ns;
	record->head.time_ns = record->run_ns = run_ns;
	record->serial = state->serial;
	record->sequence = state->off_sequence + 1;
	record->block_ns = state->out_ns;
	record->wake_ns = run_ns - interval->queued_ns;
	record->object = interval->reason == RUNNABLE ? 0 : state->object;
	record->reason = interval->reason == RUNNABLE ? TREE_WAIT_OTHER : interval->reason;
	record->open = 0;
	record->threshold_ns = threshold_ns;
	record->queued_tree_ns = state->queued.tree_ns;
	record->queued_outside_ns = state->queued.outside_ns;
	record->queued_pid = state->queued.pid;
	name_copy(record->queued_comm, state->queued.comm);
	record->waker_class = state->waker.class;
	record->waker = state->waker.serial;
	record->waker_pid = state->waker.pid;
	record->waker_tid = state->waker.tid;
	name_copy(record->waker_comm, state->waker.comm);
	record->short_queued_ns = state->shorts.queued_ns;
	record->short_blocked_ns = state->shorts.blocked_ns;
	record->short_count = state->shorts.count;
	record->short_reason = state->shorts.reason;
	record->forks = state->forks;
	return 0;
}

/* The sequence steps on also for a record that is lost, so that its reader sees a gap. */
__noinline int off_cpu_report(struct thread_state *state, struct interval *interval)
{
	struct tree_off_cpu_record *record;

	if (!state || !interval)
		return 0;
	if (interval->off_ns < threshold_ns) {
		shorts_add(&state->shorts, interval);
		return 0;
	}
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (record) {
		off_cpu_fill(state, interval, state->in_ns, record);
		bpf_ringbuf_submit(record, ring_flags());
	} else {
		loss_count(TREE_LOSS_WAITS);
	}
	records_count(state->in_ns);
	state->off_sequence++;
	state->forks = 0;
	__builtin_memset(&state->shorts, 0, sizeof(state->shorts));
	return 0;
}

/* Forgets what belongs to the time off the CPU before this one. */
static __always_inline void off_cpu_begin(struct thread_state *state)
{
	state->object = 0;
	if (!want_waits)
		return;
	if (state->waker.time_ns < state->in_ns)
		state->waker.class = TREE_WAKER_UNKNOWN;
	__builtin_memset(&state->queued, 0, sizeof(state->queued));
}

/* Which task had a CPU, and since when. */
struct cpu_slice {
	__u64 since_ns;
	__u64 comm[2];
	__s32 pid;    /* of the thread, in the initial namespace; 0: the idle task */
	__s32 number; /* of the process, for the reader */
	__u32 is_member;
	__u32 reserved;
};

struct cpu_past {
	__u64 clock_offset; /* from the scheduler's clock to ours */
	__u64 count;	    /* of slices so far */
	struct cpu_slice slices[CPU_SLICES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_past);
} cpus SEC(".maps");

static __always_inline struct cpu_slice *slice_at(struct cpu_past *cpu, __u64 place)
{
	place &= CPU_SLICES - 1;
	barrier_var(place);
	return &cpu->slices[place & (CPU_SLICES - 1)];
}

static __always_inline void slice_add(struct cpu_past *cpu, struct task_struct *task,
				      bool is_member, __u64 since_ns)
{
	struct cpu_slice *slice = slice_at(cpu, cpu->count);

	slice->since_ns = since_ns;
	slice->pid = task->pid;
	slice->number = process_number(task);
	slice->is_member = is_member;
	comm_copy(task, slice->comm);
	cpu->count++;
}

/*
 * Some kernels do not report switches from certain idle tasks.  Then the task that now leaves came
 * without a slice; the scheduler knows when.
 */
static __always_inline void slice_check(struct cpu_past *cpu, struct task_struct *prev,
					bool is_member, __u64 now)
{
	struct cpu_slice *last = slice_at(cpu, cpu->count - 1);
	__u64 since_ns;

	if (!bpf_core_field_exists(prev->sched_info.last_arrival))
		return;
	if (last->pid == prev->pid) {
		cpu->clock_offset = last->since_ns - prev->sched_info.last_arrival;
		return;
	}
	since_ns = prev->sched_info.last_arrival + cpu->clock_offset;
	if (since_ns > last->since_ns && since_ns < now)
		slice_add(cpu, prev, is_member, since_ns);
}

static __always_inline void queued_add(struct queued *queued, const struct cpu_slice *slice,
				       __u64 ns)
{
	if (!slice->pid)
		return;
	if (slice->is_member) {
		queued->tree_ns += ns;
		return;
	}
	queued->outside_ns += ns;
	if (ns <= queued->longest_ns)
		return;
	queued->longest_ns = ns;
	queued->pid = slice->number;
	name_copy(queued->comm, slice->comm);
}

/* Who had this CPU from `from` on, as far as the slices go back. */
__noinline int queued_find(struct thread_state *state, struct cpu_past *cpu, __u64 from, __u64 now)
{
	__u64 end = now;

	if (!state || !cpu)
		return 0;
	for (__u32 i = 1; i <= CPU_SLICES; i++) {
		struct cpu_slice *slice = slice_at(cpu, cpu->count - i);
		__u64 begin = slice->since_ns > from ? slice->since_ns : from;

		if (end > begin)
			queued_add(&state->queued, slice, end - begin);
		if (slice->since_ns <= from)
			break;
		end = slice->since_ns;
	}
	return 0;
}

static __always_inline void cpu_switch(struct task_struct *prev, struct task_struct *next,
				       bool is_leaving, struct thread_state *entering, __u64 now)
{
	__u32 zero = 0;
	struct cpu_past *cpu = bpf_map_lookup_elem(&cpus, &zero);
	__u64 from;

	if (!cpu)
		return;
	slice_check(cpu, prev, is_leaving, now);
	if (entering && entering->phase == PHASE_OFF_CPU &&
	    now - entering->out_ns >= threshold_ns) {
		from = entering->reason == RUNNABLE ? entering->out_ns : entering->waker.time_ns;
		if (from >= entering->out_ns && from < now)
			queued_find(entering, cpu, from, now);
	}
	slice_add(cpu, next, entering, now);
}

#endif
