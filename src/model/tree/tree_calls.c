/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "model/counter.h"
#include "model/tree/tree_member.h"

static void count_call(struct syscall_table *table, const struct syscall_row *row,
		       const struct tree_syscall *call)
{
	uint64_t count = call->stats.count, ns = call->stats.total_ns;
	uint64_t socket_count = call->socket_count < count ? call->socket_count : count;
	uint64_t socket_ns = call->socket_ns < ns ? call->socket_ns : ns;

	counter_add(&table->by_category[row->category], count - socket_count);
	counter_add(&table->category_ns[row->category], ns - socket_ns);
	counter_add(&table->by_category[SYSCALL_NETWORK], socket_count);
	counter_add(&table->category_ns[SYSCALL_NETWORK], socket_ns);
}

static int add_call(struct syscall_table *table, const struct tree_syscall *call)
{
	enum syscall_abi abi =
		(unsigned)call->abi < SYSCALL_ABI_COUNT ? call->abi : SYSCALL_UNKNOWN;
	char buffer[SYSCALL_NAME_SIZE];
	struct syscall_row *row = syscall_table_row(table, syscall_name(abi, call->number, buffer));

	if (!row)
		return -ENOMEM;
	syscall_stats_add(&row->stats, &call->stats);
	count_call(table, row, call);
	return 0;
}

static void merge(struct tree *tree, struct syscall_table *sum, const struct syscall_table *part)
{
	uint64_t before = tree->unnamed_syscalls;

	syscall_table_add(sum, part, &tree->unnamed_syscalls, &tree->unnamed_ns);
	tree->lacks_memory |= tree->unnamed_syscalls != before;
}

int thread_set_calls(struct tree *tree, struct tree_thread *thread,
		     const struct tree_account *account)
{
	struct syscall_table table = { 0 };

	if (!account->has_syscalls || thread->process->state.syscalls_counted)
		return 0;
	counter_add(&tree->unnamed_syscalls,
		    counter_raise(&thread->unnamed_syscalls, account->unnamed_syscalls));
	counter_add(&tree->unnamed_ns, counter_raise(&thread->unnamed_ns, account->unnamed_ns));
	if (account->named_syscalls)
		merge(tree, &table, account->named_syscalls);
	for (size_t i = 0; i < account->syscall_count; i++)
		if (add_call(&table, &account->syscalls[i]) < 0) {
			syscall_table_clear(&table);
			return -ENOMEM;
		}
	if (syscall_table_total(&table) >= syscall_table_total(&thread->syscalls)) {
		struct syscall_table earlier = thread->syscalls;

		thread->syscalls = table;
		table = earlier;
	}
	syscall_table_clear(&table);
	return 0;
}

void process_set_calls(struct tree *tree, struct tree_process *process,
		       const struct syscall_table *calls)
{
	if (!calls->count || process->state.syscalls_counted)
		return;
	process->state.syscalls_counted = true;
	merge(tree, &process->syscalls, calls);
	merge(tree, &tree->syscalls, calls);
}

void thread_give_calls(struct tree *tree, struct tree_thread *thread)
{
	struct tree_process *process = thread->process;

	if (process->live_count > 1 || process->syscalls.count) {
		merge(tree, &process->syscalls, &thread->syscalls);
		return;
	}
	process->syscalls = thread->syscalls;
	thread->syscalls = (struct syscall_table){ 0 };
}

void process_give_calls(struct tree *tree, struct tree_process *process)
{
	if (process->state.syscalls_counted)
		return;
	process->state.syscalls_counted = true;
	for (size_t i = 0; i < process->live_count; i++)
		thread_give_calls(tree, process->live[i]);
	merge(tree, &tree->syscalls, &process->syscalls);
}
