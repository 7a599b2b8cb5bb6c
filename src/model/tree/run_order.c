/* SPDX-License-Identifier: MIT */
#include "model/tree/run_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/memory.h"

struct thread_list {
	ARRAY_OF(const struct tree_thread *) threads;
};

uint64_t run_off_cpu_ns(const struct amounts *amounts)
{
	return amounts_blocked_ns(amounts) + amounts_get(amounts, AMOUNT_wait_time_ns);
}

static int falling(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int by_key(const struct task_key *a, const struct task_key *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return falling(b->start_ns, a->start_ns);
}

int run_threads_by_number(const void *a, const void *b)
{
	return by_key(&(*(const struct tree_thread *const *)a)->key,
		      &(*(const struct tree_thread *const *)b)->key);
}

int run_threads_by_cost(const void *a, const void *b)
{
	const struct tree_thread *one = *(const struct tree_thread *const *)a;
	const struct tree_thread *other = *(const struct tree_thread *const *)b;
	int order = falling(amounts_costly_ns(&one->amounts), amounts_costly_ns(&other->amounts));

	if (!order)
		order = falling(amounts_get(&one->amounts, AMOUNT_run_time_ns),
				amounts_get(&other->amounts, AMOUNT_run_time_ns));
	return order ? order : by_key(&one->key, &other->key);
}

int run_threads_by_off_cpu(const void *a, const void *b)
{
	const struct tree_thread *one = *(const struct tree_thread *const *)a;
	const struct tree_thread *other = *(const struct tree_thread *const *)b;
	int order = falling(run_off_cpu_ns(&one->amounts), run_off_cpu_ns(&other->amounts));

	return order ? order : by_key(&one->key, &other->key);
}

static int add_thread(void *context, const struct tree_process *process,
		      const struct tree_thread *thread)
{
	struct thread_list *list = context;

	(void)process;
	return array_append(&list->threads, thread);
}

const struct tree_thread **run_threads_sorted(const struct tree *tree, run_thread_order *order,
					      size_t *ret_count)
{
	struct thread_list list = { 0 };
	bool failed = tree_visit_threads(tree, add_thread, &list) < 0;

	*ret_count = 0;
	if (failed)
		memory_note_missing();
	if (failed || !list.threads.count) {
		array_free(&list.threads);
		return NULL;
	}
	*ret_count = list.threads.count;
	array_sort(&list.threads, order);
	return list.threads.data;
}

bool run_process_cpu(const struct tree_process *process, uint64_t *ret)
{
	uint64_t charged = amounts_cpu_ns(&process->amounts);
	uint64_t on_cpu = amounts_get(&process->amounts, AMOUNT_run_time_ns);

	*ret = on_cpu > charged ? on_cpu : charged;
	return amounts_has(&process->amounts, AMOUNT_run_time_ns) ||
	       amounts_has_cpu(&process->amounts);
}

static int by_cpu(const void *a, const void *b)
{
	const struct tree_process *one = *(const struct tree_process *const *)a;
	const struct tree_process *other = *(const struct tree_process *const *)b;
	uint64_t first, second;
	int order;

	run_process_cpu(one, &first);
	run_process_cpu(other, &second);
	order = falling(first, second);
	return order ? order : by_key(&one->key, &other->key);
}

const struct tree_process **run_processes_sorted(const struct tree *tree, bool ended, bool live,
						 size_t *ret_count)
{
	const struct tree_process **processes = calloc(tree->count + 1, sizeof(*processes));

	*ret_count = 0;
	if (!processes)
		memory_note_missing();
	for (size_t i = 0; processes && i < tree->count; i++)
		if (tree->all[i]->exited ? ended : live)
			processes[(*ret_count)++] = tree->all[i];
	if (processes)
		qsort(processes, *ret_count, sizeof(*processes), by_cpu);
	return processes;
}

bool run_amounts_cpu(const struct amounts *amounts, uint64_t *ret)
{
	bool has_switches = amounts_has(amounts, AMOUNT_run_time_ns);

	*ret = has_switches ? amounts_get(amounts, AMOUNT_run_time_ns) : amounts_cpu_ns(amounts);
	return has_switches || amounts_has_cpu(amounts);
}

static uint64_t program_cost(const struct program_sums *program)
{
	uint64_t cpu_ns;

	run_amounts_cpu(&program->amounts, &cpu_ns);
	return cpu_ns + amounts_costly_ns(&program->amounts);
}

static int by_program_cost(const void *a, const void *b)
{
	const struct program_sums *one = a, *other = b;
	int order = falling(program_cost(one), program_cost(other));

	return order ? order : strcmp(one->comm, other->comm);
}

static int by_program_name(const void *a, const void *b)
{
	return strcmp(((const struct program_sums *)a)->comm,
		      ((const struct program_sums *)b)->comm);
}

static int by_process_name(const void *a, const void *b)
{
	return strcmp((*(const struct tree_process *const *)a)->comm,
		      (*(const struct tree_process *const *)b)->comm);
}

struct program_list {
	ARRAY_OF(struct program_sums) rows;
};

/* Adds the processes that are kept to `list`, which has the others by name. */
static int add_kept(struct program_list *list, const struct tree *tree)
{
	size_t folded = list->rows.count, count;
	struct program_sums *mine = NULL;
	CLEANUP(free_pointer)
	const struct tree_process **all = run_processes_sorted(tree, true, true, &count);

	if (count)
		qsort(all, count, sizeof(*all), by_process_name);
	for (size_t i = 0; i < count; i++) {
		struct program_sums wanted = { 0 };

		memcpy(wanted.comm, all[i]->comm, sizeof(wanted.comm));
		if (!mine || strcmp(mine->comm, wanted.comm) != 0)
			mine = folded ? bsearch(&wanted, list->rows.data, folded, sizeof(*mine),
						by_program_name) :
					NULL;
		if (!mine) {
			if (array_append(&list->rows, wanted) < 0)
				return -ENOMEM;
			mine = &list->rows.data[list->rows.count - 1];
		}
		program_add(mine, all[i]);
	}
	return all ? 0 : -ENOMEM;
}

/* Adds a row for what no process has. */
static int add_unseen(struct program_list *list, const struct tree *tree)
{
	struct program_sums unseen = { .comm = TREE_UNSEEN };
	struct amounts sums = { 0 };

	for (size_t i = 0; i < list->rows.count; i++)
		amounts_add(&sums, &list->rows.data[i].amounts);
	if (!amounts_rest(&tree->amounts, &sums, &unseen.amounts) || !program_cost(&unseen))
		return 0;
	return array_append(&list->rows, unseen);
}

struct program_sums *run_programs_sorted(const struct tree *tree, size_t *ret_count)
{
	struct program_list list = { 0 };
	int status = 0;

	for (size_t i = 0; i < tree->program_count && status == 0; i++)
		status = array_append(&list.rows, tree->programs[i]);
	array_sort(&list.rows, by_program_name);
	if (status == 0)
		status = add_kept(&list, tree);
	if (status == 0 && tree->other_programs.processes)
		status = array_append(&list.rows, tree->other_programs);
	if (status == 0)
		status = add_unseen(&list, tree);
	*ret_count = status == 0 ? list.rows.count : 0;
	if (status < 0)
		memory_note_missing();
	if (!*ret_count) {
		array_free(&list.rows);
		return NULL;
	}
	array_sort(&list.rows, by_program_cost);
	return list.rows.data;
}

int run_syscalls_by_time(const void *a, const void *b)
{
	const struct syscall_row *one = *(const struct syscall_row *const *)a;
	const struct syscall_row *other = *(const struct syscall_row *const *)b;
	int order = falling(one->stats.total_ns, other->stats.total_ns);

	return order ? order : strcmp(one->name, other->name);
}

int run_syscalls_by_count(const void *a, const void *b)
{
	const struct syscall_row *one = *(const struct syscall_row *const *)a;
	const struct syscall_row *other = *(const struct syscall_row *const *)b;
	int order = falling(one->stats.count, other->stats.count);

	return order ? order : strcmp(one->name, other->name);
}

const struct syscall_row **run_syscalls_sorted(const struct syscall_table *table,
					       run_syscall_order *order)
{
	const struct syscall_row **rows = calloc(table->count + 1, sizeof(*rows));

	if (!rows)
		memory_note_missing();
	for (size_t i = 0; rows && i < table->count; i++)
		rows[i] = &table->rows[i];
	if (rows)
		qsort(rows, table->count, sizeof(*rows), order);
	return rows;
}

bool run_cpu_split(const struct run *run, uint64_t *ret_user, uint64_t *ret_kernel)
{
	const struct amounts *amounts = &run->tree->amounts;
	long double user = (long double)amounts_get(amounts, AMOUNT_utime_ns);
	long double sum = user + (long double)amounts_get(amounts, AMOUNT_stime_ns);
	uint64_t seen = run_seen_cpu_ns(run), part;

	if (!amounts_has_cpu(amounts) || sum <= 0)
		return false;
	part = (uint64_t)((long double)seen * (user / sum));
	*ret_user = part < seen ? part : seen;
	*ret_kernel = seen - *ret_user;
	return true;
}
