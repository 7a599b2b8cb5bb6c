/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reports signals that can end a process, and how much memory it had then.
 */
#ifndef BPF_TREE_SIGNALS_BPF_H
#define BPF_TREE_SIGNALS_BPF_H

#include "signal.bpf.h"
#include "resident.bpf.h"
#include "tree_process.bpf.h"

static __always_inline void signal_send(struct task_struct *target,
					const struct process_state *process)
{
	struct tree_signal_record *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		loss_count(TREE_LOSS_EVENTS);
		return;
	}
	process_head(target, TREE_RECORD_SIGNAL, sizeof(*record), &record->head);
	record->number = process->signal;
	record->sender_pid = process->sender_pid;
	name_copy(record->sender_comm, process->sender_comm);
	bpf_ringbuf_submit(record, ring_flags());
}

SEC("tp_btf/signal_generate")
int tree_signal(__u64 *arguments)
{
	__s32 signal = (__s32)arguments[0];
	struct task_struct *target = (void *)arguments[2];
	struct task_struct *sender = bpf_get_current_task_btf();
	struct thread_state *state;
	struct process_state *process;
	__u64 info = 0;
	__u32 tgid;

	/* Read as a number, since to the verifier an argument is never a null pointer. */
	bpf_probe_read_kernel(&info, sizeof(info), arguments + 1);
	if (!is_fatal(signal) || !is_delivered((__s32)arguments[4]))
		return 0;
	state = thread_find(target);
	if (!state || state->phase == PHASE_ARMED)
		return 0;
	tgid = target->tgid;
	process = bpf_map_lookup_elem(&processes, &tgid);
	if (!process)
		return 0;
	process->signal = signal;
	process->sender_pid = 0;
	process->sender_comm[0] = process->sender_comm[1] = 0;
	if (!is_from_kernel(info, sender, target)) {
		process->sender_pid = process_number(sender);
		comm_copy(sender, process->sender_comm);
	}
	if (is_reported(target, signal))
		signal_send(target, process);
	return 0;
}

/* For kernels that report the exit of a process only when its memory is gone. */
static __always_inline void peak_remember(struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct process_state *process;
	__u32 tgid = task->tgid;

	process = bpf_map_lookup_elem(&processes, &tgid);
	if (!process || !mm || !resident_is_known())
		return;
	process->peak_pages = peak_pages(mm);
	process->has_peak = 1;
}

/* A signal without a handler usually ends the process. */
SEC("tp_btf/signal_deliver")
int tree_signal_deliver(__u64 *arguments)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct k_sigaction *action = (void *)arguments[2];

	if (is_fatal((__s32)arguments[0]) && thread_find(task) &&
	    !BPF_CORE_READ(action, sa.sa_handler))
		peak_remember(task);
	return 0;
}

#endif
