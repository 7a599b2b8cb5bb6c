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

#include "tree_clock.bpf.h"
#include "tree_waking.bpf.h"

#define RECORDS_NS 1000000000
#define RECORDS_MAX 5000
#define THRESHOLD_FIRST_NS 10000
#define THRESHOLD_MOST_NS 10000000
#define THRESHOLD_FACTOR 10

#define CPU_SLICES 64 /* a power of two, so that an index can be masked to fit */

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

/*
 * Two CPUs may count at the same time and lose a count, which does no harm.  Times of different
 * threads come in any order: an earlier one counts in the current second.
 */
static __always_inline void records_count(__u64 now)
{
	if (now > records_begin_ns + RECORDS_NS) {
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
	record->object = interval->reason == RUNNABLE ? 0 : state->wait.object;
	record->reason = interval->reason == RUNNABLE ? TREE_WAIT_OTHER : interval->reason;
	record->open = 0;
	record->threshold_ns = threshold_ns;
	record->queued_tree_ns = record->queued_outside_ns = 0;
	record->queued_pid = 0;
	record->queued_comm[0] = record->queued_comm[1] = 0;
	record->waker_class = state->waker.class;
	record->waker = state->waker.serial;
	record->waker_pid = state->waker.pid;
	record->waker_tid = state->waker.tid;
	name_copy(record->waker_comm, state->waker.comm);
	record->short_queued_ns = state->shorts.queued_ns;
	record->short_blocked_ns = state->shorts.blocked_ns;
	record->short_count = state->shorts.count;
	record->short_reason = state->shorts.reason;
	record->forks = state->forks_before;
	return 0;
}

/* Which task had a CPU, and since when. */
struct cpu_slice {
	__u64 since_ns;
	__u64 comm[2];
	__s32 pid;    /* of the thread, in the initial namespace; 0: the idle task */
	__s32 number; /* of the process, for the reader; like the name not set for a member */
	__u64 is_member;
};

struct cpu_past {
	__u64 count; /* of slices so far */
	struct cpu_slice slices[CPU_SLICES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_past);
} cpus SEC(".maps");

/* The past of this CPU; 0 when it is not wanted. */
static __always_inline struct cpu_past *cpu_find(void)
{
	__u32 zero = 0;

	return want_waits ? bpf_map_lookup_elem(&cpus, &zero) : 0;
}

static __always_inline struct cpu_slice *slice_at(struct cpu_past *cpu, __u64 place)
{
	place &= CPU_SLICES - 1;
	barrier_var(place);
	return &cpu->slices[place & (CPU_SLICES - 1)];
}

static __always_inline void slice_add(struct cpu_past *cpu, struct task_struct *task,
				      __u64 since_ns)
{
	struct cpu_slice *slice = slice_at(cpu, cpu->count);

	slice->since_ns = since_ns;
	slice->pid = task->pid;
	cpu->count++;
}

/*
 * Completes the slice of the task that leaves.  Some kernels do not report switches from certain
 * idle tasks; then the task came without a slice.
 */
static __always_inline void slice_end(struct cpu_past *cpu, struct task_struct *task,
				      bool is_member, __u64 now, __u64 clock)
{
	struct cpu_slice *last = slice_at(cpu, cpu->count - 1);

	if (last->pid != task->pid) {
		__u64 arrival = task_arrival(task);
		__u64 since_ns = clock > arrival ? now - (clock - arrival) : now;

		slice_add(cpu, task, since_ns > last->since_ns ? since_ns : last->since_ns);
		last = slice_at(cpu, cpu->count - 1);
	}
	last->is_member = is_member;
	if (is_member || !last->pid)
		return;
	last->number = process_number(task);
	comm_copy(task, last->comm);
}

static __always_inline void slices_switch(struct task_struct *prev, struct task_struct *next,
					  bool is_member, __u64 now, __u64 clock)
{
	struct cpu_past *cpu = cpu_find();

	if (!cpu)
		return;
	slice_end(cpu, prev, is_member, now, clock);
	slice_add(cpu, next, now);
}

static __always_inline void queued_add(struct tree_off_cpu_record *record,
				       const struct cpu_slice *slice, __u64 ns, __u64 *longest_ns)
{
	if (!slice->pid)
		return;
	if (slice->is_member) {
		record->queued_tree_ns += ns;
		return;
	}
	record->queued_outside_ns += ns;
	if (ns <= *longest_ns)
		return;
	*longest_ns = ns;
	record->queued_pid = slice->number;
	name_copy(record->queued_comm, slice->comm);
}

/* Where the slices do not go back far enough, it is assumed to have been so before them as well. */
static __always_inline void queued_extend(struct tree_off_cpu_record *record, __u64 begin_ns)
{
	__u64 all = record->run_ns - record->wake_ns, known = record->run_ns - begin_ns;

	if (begin_ns <= record->wake_ns || !known || all >> 32)
		return;
	record->queued_tree_ns = record->queued_tree_ns * all / known;
	record->queued_outside_ns = record->queued_outside_ns * all / known;
}

struct queued_search {
	struct cpu_past *cpu;
	struct tree_off_cpu_record *record;
	__u64 last;   /* the number of the slice to begin with */
	__u64 end_ns; /* of the part that was not searched yet */
	__u64 longest_ns;
};

static __always_inline void slice_search(struct queued_search *search,
					 const struct cpu_slice *slice)
{
	struct tree_off_cpu_record *record = search->record;
	__u64 begin_ns = slice->since_ns > record->wake_ns ? slice->since_ns : record->wake_ns;

	if (search->end_ns <= begin_ns)
		return;
	queued_add(record, slice, search->end_ns - begin_ns, &search->longest_ns);
	search->end_ns = begin_ns;
}

static long examine_slice(__u32 index, struct queued_search *search)
{
	slice_search(search, slice_at(search->cpu, search->last - index));
	return search->end_ns == search->record->wake_ns;
}

/*
 * Finds out who had this CPU while the thread waited for it.  The last slice is that of the thread
 * that comes now, the one before that of the thread itself.
 */
static __always_inline void queued_find(struct cpu_past *cpu, struct tree_off_cpu_record *record)
{
	struct queued_search search = {
		.cpu = cpu, .record = record, .last = cpu->count - 3, .end_ns = record->run_ns
	};

	bpf_loop(CPU_SLICES - 2, examine_slice, &search, 0);
	queued_extend(record, search.end_ns);
}

/* The task that has a CPU now.  Whether it is a member is known by its process. */
static __always_inline void slice_of_current(struct task_struct *task, struct cpu_slice *ret)
{
	__u32 tgid = BPF_CORE_READ(task, tgid);

	ret->pid = BPF_CORE_READ(task, pid);
	ret->is_member = bpf_map_lookup_elem(&processes, &tgid) != 0;
	ret->number =
		reader_level ? pid_number(BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID])) : tgid;
	bpf_probe_read_kernel(ret->comm, sizeof(ret->comm),
			      (const char *)task + bpf_core_field_offset(struct task_struct, comm));
}

/*
 * The same for a time off the CPU that is not sent yet, of a task that waits in the queue of that CPU
 * or has it by now.  The last slice is not complete.  It may end meanwhile, which puts a little of the
 * time down to the wrong one.
 */
static __always_inline void queued_find_now(struct tree_off_cpu_record *record, __u64 current,
					    __u32 cpu_number)
{
	struct queued_search search = { .record = record };
	struct cpu_slice slice = {};
	__u32 zero = 0;

	search.cpu = bpf_map_lookup_percpu_elem(&cpus, &zero, cpu_number);
	if (!search.cpu)
		return;
	search.end_ns = record->run_ns;
	search.last = search.cpu->count - 2;
	if (record->open && current) {
		slice.since_ns = slice_at(search.cpu, search.last + 1)->since_ns;
		slice_of_current((struct task_struct *)current, &slice);
		slice_search(&search, &slice);
	}
	bpf_loop(CPU_SLICES - 2, examine_slice, &search, 0);
	queued_extend(record, search.end_ns);
}

/* The sequence steps on also for a record that is lost, so that its reader sees a gap. */
__noinline int off_cpu_report(struct thread_state *state, struct interval *interval)
{
	struct tree_off_cpu_record *record;
	struct cpu_past *cpu;

	if (!state || !interval)
		return 0;
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (record) {
		off_cpu_fill(state, interval, state->in_ns, record);
		cpu = cpu_find();
		if (cpu && interval->queued_ns)
			queued_find(cpu, record);
		bpf_ringbuf_submit(record, ring_flags());
	} else {
		loss_count(TREE_LOSS_WAITS);
	}
	records_count(state->in_ns);
	state->off_sequence++;
	state->forks_before = 0;
	__builtin_memset(&state->shorts, 0, sizeof(state->shorts));
	return 0;
}

/*
 * Forgets who ended the time off the CPU before this one.  That one was just reported, if it is
 * long enough: what the thread made since belongs to this one.
 */
static __always_inline void off_cpu_begin(struct thread_state *state)
{
	__u32 class;

	state->wait.object = 0;
	if (!want_waits)
		return;
	class = waker_class_read(&state->early_waker);
	if (class) {
		state->waker = state->early_waker;
		waker_class_set(&state->early_waker, TREE_WAKER_UNKNOWN);
	}
	state->waker.class = class;
	state->forks_before += state->forks;
	state->forks = 0;
}

#endif
