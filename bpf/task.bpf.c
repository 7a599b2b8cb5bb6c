/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The task iterator: writes one record, laid out as task.h says, for each thread of the reader's
 * PID namespace.
 *
 * Sections are put together in static buffers, since the BPF stack is too small.  That is safe
 * because there is only one reader, and each load of the program has its own buffers.  When the
 * kernel's output buffer is full it drops the unfinished record and runs the program again for the
 * same task; so nothing here may keep a count.
 *
 * Loading must be quick.  Most of its time the verifier searches all kernel types by name, several
 * times for each pointer that it sees loaded from `task`.  So the task's own members are read
 * directly.  Pointers are read with bpf_probe_read_kernel(), whose results are plain numbers to
 * the verifier.  Only pointers with many members behind them are worth the search.
 */
#include "activity.bpf.h"
#include "cgroup.bpf.h"
#include "identity.bpf.h"
#include "resident.bpf.h"
#include "task.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile __u32 want_stats = 0;
const volatile __u32 want_delays = 0;
const volatile __u32 affinity_words = 1;

/* Set by the reader between walks: only leaders, with TASK_IDENTITY_FIELDS and numbers. */
__u32 only_identity = 0;
/* Likewise: delays and statistics that nobody wants, a bit for each section. */
__u32 left_out = 0;

static struct {
	struct task_record_head head;
	struct task_fields task;
	__u64 cpus[TASK_AFFINITY_WORDS_MAX];
} record;
static struct group_fields group_fields;
static struct delay_fields delay_fields;
static struct stats_fields stats_fields;
static struct name_fields name_fields;
static __u64 open_fds[TASK_FDS_MAX / 64];
static __u64 memory[512]; /* a copy of the mm_struct that is being read */
static struct mm_struct *memory_original;
static __u64 shared[512]; /* a copy of the signal_struct that is being read */
static const struct css_set *latest_set;
static __u64 latest_cgroup_id;

#define BIT(section, member) (1ULL << section##_BIT_##member)

/* How a member behind each base of a FIELD is read. */
#define FOLLOW_task(path) task->path
#define FOLLOW_signal(path) signal->path
#define FOLLOW_delays(path) delays->path
#define FOLLOW_cred(path) BPF_CORE_READ(cred, path)
#define FOLLOW_mm(path) mm->path

/* Reads one FIELD of the section that is being filled, if this kernel has it. */
#define READ(section, fields, present, member, base, path)                                         \
	if (bpf_core_field_exists(base->path)) {                                                   \
		(fields)->member = FOLLOW_##base(path);                                            \
		(present) |= BIT(section, member);                                                 \
	}

#define READ_NOTHING(member)
#define READ_TASK(member, base, path) READ(TASK, fields, present, member, base, path)

/* Most threads of a process have the same set of cgroups: do not read the id again. */
static __always_inline __u64 cgroup_id_find(struct task_struct *task)
{
	const struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct cgroup *cgroup;

	if (set != latest_set || task->pid == task->tgid) {
		cgroup = cgroup_find(set);
		latest_cgroup_id = cgroup ? BPF_CORE_READ(cgroup, kn, id) : 0;
		latest_set = set;
	}
	return latest_cgroup_id;
}

static __always_inline int ext_enabled_read(struct task_struct *task, __u64 *ret)
{
	__u64 state;

	if (!bpf_core_field_exists(task->scx.flags) ||
	    !bpf_core_enum_value_exists(enum scx_task_state, SCX_TASK_ENABLED) ||
	    !bpf_core_enum_value_exists(enum scx_ent_flags, SCX_TASK_STATE_MASK))
		return 0;
	state = task->scx.flags & bpf_core_enum_value(enum scx_ent_flags, SCX_TASK_STATE_MASK);
	state >>= bpf_core_enum_value(enum scx_ent_flags, SCX_TASK_STATE_SHIFT);
	*ret = state == bpf_core_enum_value(enum scx_task_state, SCX_TASK_ENABLED);
	return 1;
}

static __always_inline __u64 identity_fill(struct task_struct *task, struct task_fields *fields)
{
	__u64 present = BIT(TASK, pid) | BIT(TASK, tgid);

	fields->pid = thread_number(task);
	fields->tgid = process_number(task);
	TASK_IDENTITY_FIELDS(READ_TASK)
	return present;
}

static __always_inline void task_fill(struct task_struct *task)
{
	struct task_fields *fields = &record.task;
	__u64 present = identity_fill(task, fields);

	if (ext_enabled_read(task, &fields->ext_enabled))
		present |= BIT(TASK, ext_enabled);
	comm_copy(task, fields->comm);
	TASK_FIELDS(READ_TASK, READ_NOTHING)
	fields->cgroup_id = cgroup_id_find(task);
	if (fields->cgroup_id)
		present |= BIT(TASK, cgroup_id);
	fields->present = present;
}

/* Reads cpus_mask, as sched_getaffinity() does; cpus_ptr differs while migration is disabled. */
static __always_inline void cpus_fill(struct task_struct *task, __u32 words)
{
	if (words == 1)
		record.cpus[0] = task->cpus_mask.bits[0];
	else
		bpf_probe_read_kernel(record.cpus, words * sizeof(__u64), &task->cpus_mask);
}

static __always_inline __u64 bits_in(__u64 word)
{
	word -= word >> 1 & 0x5555555555555555;
	word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
	return word * 0x0101010101010101 >> 56;
}

static long word_count(__u32 index, __u64 *count)
{
	*count += bits_in(open_fds[index & (TASK_FDS_MAX / 64 - 1)]);
	return 0;
}

/*
 * Counts descriptors as the kernel does, by the bits of its table.  A task that exits has no
 * table.  The kernel checks what bpf_loop() calls once, not for each word.
 */
static __always_inline __u64 fds_fill(struct task_struct *task, struct group_fields *fields)
{
	const struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	__u32 words = BPF_CORE_READ(table, max_fds) / 64;
	__u64 count = 0;

	if (!table || words == 0 || words > TASK_FDS_MAX / 64 ||
	    bpf_probe_read_kernel(open_fds, words * sizeof(__u64), BPF_CORE_READ(table, open_fds)))
		return 0;
	bpf_loop(words, word_count, &count, 0);
	fields->open_fds = count;
	fields->scope_fds = 0;
	if (words > TASK_SCOPE_FD / 64)
		fields->scope_fds = open_fds[TASK_SCOPE_FD / 64] >> TASK_SCOPE_FD % 64 &
				    ((1 << TASK_SCOPE_FD_COUNT) - 1);
	return BIT(GROUP, open_fds) | BIT(GROUP, scope_fds);
}

/*
 * Most of the time of a walk the CPU waits for memory.  What we want of an mm_struct is in seven
 * cache lines; copied at once, they are waited for together.
 */
#define MEMORY ((const struct mm_struct *)memory)

/* The original is kept in memory for the same reason as in section_is_in(). */
static __always_inline void memory_copy(struct task_struct *task)
{
	__u32 size = bpf_core_type_size(struct mm_struct);
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	if (size > sizeof(memory) || bpf_probe_read_kernel(memory, size, mm))
		mm = 0;
	memory_original = mm;
	barrier();
}

/* Likewise, of what all threads of a process share; and the verifier need not search its type. */
#define SHARED ((const struct signal_struct *)shared)

static __always_inline void shared_copy(struct task_struct *task)
{
	__u32 size = bpf_core_type_size(struct signal_struct);

	bpf_probe_read_kernel(shared, size < sizeof(shared) ? size : sizeof(shared),
			      BPF_CORE_READ(task, signal));
	barrier();
}

/* A macro, since only a constant index is relocated. */
#define MEMORY_COUNTER(index, sum)                                                                 \
	((sum)->pages += MEMORY->rss_stat[index].count,                                            \
	 (sum)->counters[index] = (__u64)MEMORY->rss_stat[index].counters)

static __always_inline __s64 memory_pages(const struct mm_struct *mm)
{
	struct counter_sum sum = {};

	if (bpf_core_type_exists(struct mm_rss_stat))
		return plain_pages((const void *)mm);
	MEMORY_COUNTER(MM_FILEPAGES, &sum);
	MEMORY_COUNTER(MM_ANONPAGES, &sum);
	MEMORY_COUNTER(MM_SHMEMPAGES, &sum);
	return counter_total(&sum);
}

static __always_inline __u64 memory_fill(const struct mm_struct *mm, struct group_fields *fields)
{
	const struct file *file = MEMORY->exe_file;
	const struct inode *inode = BPF_CORE_READ(file, f_inode);
	__u64 present = 0;
	__s64 pages;

	if (resident_is_known()) {
		pages = memory_pages(mm);
		fields->rss = pages > 0 ? pages : 0;
		present |= BIT(GROUP, rss);
	}
	if (!file)
		return present;
	fields->exe_inode = BPF_CORE_READ(inode, i_ino);
	fields->exe_device = BPF_CORE_READ(inode, i_sb, s_dev);
	fields->exe_mount = (__u64)BPF_CORE_READ(file, f_path.mnt);
	fields->exe_dentry = (__u64)BPF_CORE_READ(file, f_path.dentry);
	return present | BIT(GROUP, exe_inode) | BIT(GROUP, exe_device) | BIT(GROUP, exe_mount) |
	       BIT(GROUP, exe_dentry);
}

static __always_inline void group_fill(struct task_struct *task)
{
	const __u64 of_memory = BIT(GROUP, total_vm) | BIT(GROUP, exec_vm) |
				BIT(GROUP, hiwater_vm) | BIT(GROUP, hiwater_rss) |
				BIT(GROUP, arg_start) | BIT(GROUP, arg_end) | BIT(GROUP, rss) |
				BIT(GROUP, exe_inode) | BIT(GROUP, exe_device) |
				BIT(GROUP, exe_mount) | BIT(GROUP, exe_dentry);
	__u64 present = BIT(GROUP, ppid) | BIT(GROUP, pgid) | BIT(GROUP, session);
	struct group_fields *fields = &group_fields;
	const struct signal_struct *signal = SHARED;
	const struct cred *cred = BPF_CORE_READ(task, real_cred);
	const struct mm_struct *mm = MEMORY, *original;

	memory_copy(task);
	shared_copy(task);
	fields->ppid = parent_number(task);
	fields->pgid = pid_number(signal->pids[PIDTYPE_PGID]);
	fields->session = pid_number(signal->pids[PIDTYPE_SID]);

#define READ_GROUP(member, base, path) READ(GROUP, fields, present, member, base, path)
	GROUP_FIELDS(READ_GROUP, READ_NOTHING)
#undef READ_GROUP
	present |= fds_fill(task, fields);
	original = memory_original;
	if (original)
		present |= memory_fill(original, fields);
	/*
	 * A kernel thread only borrows memory.  A task that exits drops its pointer before the
	 * memory is freed: if it still has the pointer, the memory was valid while it was read.
	 */
	if (task->flags & PF_KTHREAD || !original || BPF_CORE_READ(task, mm) != original)
		present &= ~of_memory;
	fields->present = present;
}

static __always_inline void delay_fill(struct task_delay_info *delays)
{
	struct delay_fields *fields = &delay_fields;
	__u64 present = 0;

#define READ_DELAY(member, base, path) READ(DELAY, fields, present, member, base, path)
	DELAY_FIELDS(READ_DELAY, READ_NOTHING)
#undef READ_DELAY
	fields->present = present;
}

static __always_inline void stats_fill(struct task_struct *task)
{
	struct stats_fields *fields = &stats_fields;
	__u64 present = 0;

#define READ_STATS(member, base, path) READ(STATS, fields, present, member, base, path)
	STATS_FIELDS(READ_STATS, READ_NOTHING)
#undef READ_STATS
	fields->present = present;
}

static __always_inline void worker_fill(const struct worker *worker)
{
	name_fields.is_worker = 1;
	name_fields.has_full_worker_name =
		bpf_core_enum_value_exists(enum wq_internal_consts, WORKER_ID_LEN);
	if (!BPF_CORE_READ(worker, pool))
		return;
	name_fields.is_busy = BPF_CORE_READ(worker, current_work) != 0;
	bpf_probe_read_kernel_str(name_fields.description, sizeof(name_fields.description),
				  &worker->desc);
}

static __always_inline void name_fill(struct task_struct *task)
{
	const struct kthread *kthread = task->worker_private;
	const char *full_name = BPF_CORE_READ(kthread, full_name);

	__builtin_memset(&name_fields, 0, sizeof(name_fields));
	if (full_name)
		bpf_probe_read_kernel_str(name_fields.full, sizeof(name_fields.full), full_name);
	if (task->flags & PF_WQ_WORKER && bpf_core_field_exists(struct worker, desc))
		worker_fill(BPF_CORE_READ(kthread, data));
}

static __always_inline void section_add(enum task_section section, __u32 size)
{
	record.head.sections |= 1 << section;
	record.head.size += size;
}

/* Reads from memory, so that all sections look the same to the verifier and it checks each once. */
static __always_inline int section_is_in(enum task_section section)
{
	barrier();
	return record.head.sections & 1 << section;
}

static __always_inline void head_fill(struct task_struct *task, __u32 size, __u64 activity)
{
	record.head.sections = 1 << TASK_SECTION_TASK | 1 << TASK_SECTION_CPUS;
	record.head.size = size;
	if (activity)
		section_add(TASK_SECTION_ACTIVITY, sizeof(activity_fields));
	if (only_identity || only_activity)
		return;
	if (task->pid == task->tgid)
		section_add(TASK_SECTION_GROUP, sizeof(group_fields));
	if (want_delays && !(left_out >> TASK_SECTION_DELAY & 1) &&
	    bpf_core_field_exists(task->delays) && BPF_CORE_READ(task, delays))
		section_add(TASK_SECTION_DELAY, sizeof(delay_fields));
	if (want_stats && !(left_out >> TASK_SECTION_STATS & 1) &&
	    bpf_core_field_exists(task->stats.nr_wakeups))
		section_add(TASK_SECTION_STATS, sizeof(stats_fields));
	if (task->flags & PF_KTHREAD && bpf_core_field_exists(task->worker_private) &&
	    bpf_core_field_exists(struct kthread, full_name))
		section_add(TASK_SECTION_NAME, sizeof(name_fields));
}

/* A record of an active thread, in a walk for these alone. */
static __always_inline void active_write(struct task_struct *task, struct seq_file *output,
					 __u32 size, __u64 state)
{
	record.task.present = identity_fill(task, &record.task);
	comm_copy(task, record.task.comm);
	latest_set = 0;
	record.task.cgroup_id = cgroup_id_find(task);
	if (record.task.cgroup_id)
		record.task.present |= BIT(TASK, cgroup_id);
	bpf_seq_write(output, &record, size);
	activity_fill(task, state);
	bpf_seq_write(output, &activity_fields, sizeof(activity_fields));
}

SEC("iter/task")
int dump_task(struct bpf_iter__task *context)
{
	struct seq_file *output = context->meta->seq;
	struct task_struct *task = context->task;
	__u32 words = affinity_words;
	__u32 size = sizeof(record.head) + sizeof(record.task) + words * sizeof(__u64);
	__u64 activity = 0;

	if (!task || words > TASK_AFFINITY_WORDS_MAX)
		return 0;

	if (only_identity && task->pid != task->tgid)
		return 0;
	if (context->meta->seq_num == 0) {
		reader_find();
		cpu_offsets_find();
		if (with_activity)
			activity_begin();
	}
	if (with_activity) {
		activity = active_state(task);
		if (only_activity && !activity)
			return 0;
	}
	head_fill(task, size, activity);
	if (only_activity) {
		active_write(task, output, size, activity);
		return 0;
	}
	if (only_identity) {
		record.task.present = identity_fill(task, &record.task);
		bpf_seq_write(output, &record, size);
		return 0;
	}
	task_fill(task);
	cpus_fill(task, words);
	bpf_seq_write(output, &record, size);

	if (section_is_in(TASK_SECTION_GROUP)) {
		group_fill(task);
		bpf_seq_write(output, &group_fields, sizeof(group_fields));
	}
	if (want_delays && section_is_in(TASK_SECTION_DELAY)) {
		delay_fill(task->delays);
		bpf_seq_write(output, &delay_fields, sizeof(delay_fields));
	}
	if (want_stats && section_is_in(TASK_SECTION_STATS)) {
		stats_fill(task);
		bpf_seq_write(output, &stats_fields, sizeof(stats_fields));
	}
	if (section_is_in(TASK_SECTION_NAME)) {
		name_fill(task);
		bpf_seq_write(output, &name_fields, sizeof(name_fields));
	}
	if (activity && section_is_in(TASK_SECTION_ACTIVITY)) {
		activity_fill(task, activity);
		bpf_seq_write(output, &activity_fields, sizeof(activity_fields));
	}
	return 0;
}
