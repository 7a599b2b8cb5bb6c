/* SPDX-License-Identifier: MIT */
#include "collect/task/task_decoder.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "collect/proc/affinity.h"
#include "collect/task/delay.h"
#include "collect/proc/proc_view.h"
#include "collect/task/task_record.h"
#include "host/proc/task_text.h"
#include "model/snapshot/snapshot.h"

#define MAX_RT_PRIO 100
#define DEFAULT_PRIO 120

/* An additional section that is made here: a member for each metric that is DECODED. */
struct decoded_fields {
	uint64_t present;
#define DECODED(what) uint64_t what;
#define METRIC(id, unit, kind, scope, fold, section, gate, class, sources, help) sources
#include "metric/metrics.def"
};

enum {
#define DECODED(what) DECODED_BIT_##what,
#define METRIC(id, unit, kind, scope, fold, section, gate, class, sources, help) sources
#include "metric/metrics.def"
	DECODED_BIT_COUNT,
};

enum { PART_DECODED = TASK_SECTION_COUNT, PART_COUNT };

_Static_assert(DECODED_BIT_COUNT <= 64, "the present bits of a section fit in 64 bits");
_Static_assert(PART_COUNT <= DECODER_SECTIONS, "the decoder has room for each section");

/* Where in which section a metric's value is. */
struct member {
	bool is_there;
	uint8_t section;
	uint8_t bit;
	uint8_t raw;
	uint16_t offset;
};

#define MEMBER(section_, type, bit_, member, raw_)                                                 \
	.is_there = true, .section = section_, .bit = bit_##member, .raw = raw_,                   \
	.offset = offsetof(struct type, member)

static const struct member members[METRIC_STORED] = {
/* clang-format off */
#define TASK(member, raw)  MEMBER(TASK_SECTION_TASK, task_fields, TASK_BIT_, member, RAW_##raw)
#define GROUP(member, raw) MEMBER(TASK_SECTION_GROUP, group_fields, GROUP_BIT_, member, RAW_##raw)
#define DELAY(member, raw) MEMBER(TASK_SECTION_DELAY, delay_fields, DELAY_BIT_, member, RAW_##raw)
#define STATS(member, raw) MEMBER(TASK_SECTION_STATS, stats_fields, STATS_BIT_, member, RAW_##raw)
#define DECODED(member)    MEMBER(PART_DECODED, decoded_fields, DECODED_BIT_, member, RAW_COUNT)
#define METRIC(id, unit, kind, scope, fold, section, gate, class, sources, help)                   \
	[METRIC_##id] = { sources },
#include "metric/metrics.def"
	/* clang-format on */
};

#define HAS(fields, section, member) ((fields)->present >> section##_BIT_##member & 1)
#define SET(decoded, member, value)                                                                \
	((decoded)->member = (value), (decoded)->present |= 1ull << DECODED_BIT_##member)

/* SCHED_NORMAL, SCHED_BATCH and SCHED_EXT: other policies have no slice that means anything. */
static bool is_fair_policy(uint64_t policy)
{
	return policy == 0 || policy == 3 || policy == 7;
}

static void decode_scheduling(const struct task_fields *task, struct decoded_fields *decoded)
{
	if (HAS(task, TASK, static_prio))
		SET(decoded, nice, task->static_prio - DEFAULT_PRIO);
	if (HAS(task, TASK, prio))
		SET(decoded, priority, task->prio - MAX_RT_PRIO);
	if (HAS(task, TASK, state) && HAS(task, TASK, exit_state))
		SET(decoded, state,
		    (uint8_t)task_state_letter((uint32_t)task->state, (uint32_t)task->exit_state));
	if (HAS(task, TASK, ext_enabled))
		SET(decoded, ext_enabled, task->ext_enabled != 0);
	if (HAS(task, TASK, slice) && HAS(task, TASK, policy) && is_fair_policy(task->policy))
		SET(decoded, fair_slice_ns, task->slice);
}

/* Times without a `prev` are exact: the architecture measures them and nothing is adjusted. */
static void decode_times(const struct task_fields *task, const struct raw_scale *scale,
			 struct decoded_fields *decoded)
{
	struct cputime time = { task->utime, task->stime };
	const struct cputime previous = { task->prev_utime, task->prev_stime };

	if (!HAS(task, TASK, utime) || !HAS(task, TASK, stime))
		return;
	if (HAS(task, TASK, prev_utime) && HAS(task, TASK, sum_exec_runtime))
		time = cputime_adjust(time, task->sum_exec_runtime, previous);
	SET(decoded, utime_ns, metric_from_raw(time.utime, RAW_FLOORED, scale));
	SET(decoded, stime_ns, metric_from_raw(time.stime, RAW_FLOORED, scale));
}

/*
 * Times of threads that have exited: sampled like those of a living one, but without previous
 * values.
 */
static void decode_dead_times(const struct group_fields *group, struct decoded_fields *decoded)
{
	struct cputime time = { group->utime, group->stime };

	if (!HAS(group, GROUP, utime) || !HAS(group, GROUP, stime))
		return;
	if (HAS(group, GROUP, prev_utime) && HAS(group, GROUP, sum_sched_runtime))
		time = cputime_adjust(time, group->sum_sched_runtime, (struct cputime){ 0 });
	SET(decoded, dead_utime_ns, time.utime);
	SET(decoded, dead_stime_ns, time.stime);
}

/*
 * The kernel updates a peak only before the size falls, so the present size may be larger than the
 * peak.
 */
static void decode_memory(const struct group_fields *group, const struct raw_scale *scale,
			  struct decoded_fields *decoded)
{
	uint64_t rss = group->hiwater_rss, vm = group->hiwater_vm;

	if (HAS(group, GROUP, rss) && rss < group->rss)
		rss = group->rss;
	if (HAS(group, GROUP, hiwater_rss))
		SET(decoded, hiwater_rss_bytes, metric_from_raw(rss, RAW_PAGES, scale));
	if (!HAS(group, GROUP, hiwater_vm) || !HAS(group, GROUP, total_vm))
		return;
	if (vm < group->total_vm)
		vm = group->total_vm;
	SET(decoded, hiwater_vm_bytes, metric_from_raw(vm, RAW_PAGES, scale));
}

/* The kernel's sleep time includes blocked time, which is a metric of its own: subtract it. */
static void decode_sleep(const struct stats_fields *stats, struct capture_tally *tally,
			 struct decoded_fields *decoded)
{
	int64_t sleep = (int64_t)stats->sum_sleep_runtime;
	int64_t block = (int64_t)stats->sum_block_runtime;

	if (!HAS(stats, STATS, sum_sleep_runtime))
		return;
	tally->negative_dotted_values += sleep < 0;
	if (HAS(stats, STATS, sum_block_runtime) && sleep >= 0 && block >= 0)
		SET(decoded, voluntary_sleep_ns, sleep > block ? (uint64_t)(sleep - block) : 0);
}

static bool is_wanted(const struct task_decoder *decoder, enum metric_id id)
{
	return !decoder->wanted || decoder->wanted[id] || metrics[id].scope != METRIC_OF_THREAD;
}

static int decode(struct task_decoder *decoder, const struct task_record *record,
		  struct decoded_fields *decoded)
{
	uint32_t list;
	int status;

	decode_scheduling(record->task, decoded);
	if (is_wanted(decoder, METRIC_utime_ns) || is_wanted(decoder, METRIC_stime_ns))
		decode_times(record->task, &decoder->scale, decoded);
	if (record->group) {
		decode_dead_times(record->group, decoded);
		decode_memory(record->group, &decoder->scale, decoded);
	}
	if (record->stats)
		decode_sleep(record->stats, &decoder->snapshot->tally, decoded);
	if (!decoder->affinity || !is_wanted(decoder, METRIC_cpu_affinity))
		return 0;
	status = affinity_lists_find(decoder->affinity, record->cpus, &list);
	if (status == 0)
		SET(decoded, cpu_affinity, list);
	return status;
}

uint64_t task_decoder_time_ns(const struct task_decoder *decoder, uint64_t start_boottime)
{
	return metric_from_raw(start_boottime + (uint64_t)decoder->boottime_offset_ns, RAW_FLOORED,
			       &decoder->scale);
}

uint64_t task_decoder_start_ns(const struct task_decoder *decoder, const struct task_record *record)
{
	return task_decoder_time_ns(decoder, record->task->start_boottime);
}

static int intern_comm(struct task_decoder *decoder, const struct task_record *record,
		       uint32_t *ret)
{
	const char *comm = record->task->comm;
	char name[TASK_NAME_SIZE];

	if (!record->name)
		return snapshot_intern(decoder->snapshot, comm, strnlen(comm, TASK_COMM_SIZE), ret);
	return snapshot_intern(decoder->snapshot, name,
			       kernel_thread_name(comm, record->name, name), ret);
}

/*
 * Whether a value is possible: no delay is longer than the task's life, and no scheduler statistic
 * is negative.
 */
static bool is_possible(struct capture_tally *tally, enum metric_id id, uint64_t value,
			uint64_t life_ns)
{
	if (members[id].section == TASK_SECTION_STATS && (int64_t)value < 0) {
		tally->negative_dotted_values++;
		return false;
	}
	return delay_is_possible(tally, id, value, life_ns);
}

struct rows {
	uint32_t task;
	uint32_t process;
};

/*
 * Lists the metrics of each section once, so that decoding a record does not go through all
 * metrics.
 */
static void list_metrics(struct task_decoder *decoder)
{
	uint16_t count = 0;

	for (int section = 0; section < PART_COUNT; section++) {
		for (int id = 0; id < METRIC_STORED; id++) {
			const struct member *member = &members[id];

			if (!member->is_there || member->section != section ||
			    !is_wanted(decoder, id) || decoder->withheld >> metrics[id].gate & 1)
				continue;
			decoder->metrics[count++] = (struct decoded_metric){
				.id = (uint16_t)id,
				.word = member->offset / sizeof(uint64_t),
				.bit = member->bit,
				.raw = member->raw,
				.is_of_process = metrics[id].scope != METRIC_OF_THREAD,
				.is_doubtful = section == TASK_SECTION_STATS ||
					       metrics[id].section == SECTION_DELAYS,
			};
		}
		decoder->ends[section] = count;
	}
}

static int set_section(struct task_decoder *decoder, const uint64_t *section, size_t begin,
		       size_t end, const struct rows *rows, uint64_t life_ns)
{
	struct snapshot *snapshot = decoder->snapshot;

	for (size_t i = begin; i < end; i++) {
		const struct decoded_metric *metric = &decoder->metrics[i];
		uint64_t value;

		if (!(section[0] >> metric->bit & 1))
			continue;
		value = section[metric->word];
		if (metric->is_doubtful &&
		    !is_possible(&snapshot->tally, metric->id, value, life_ns))
			continue;
		if (!snapshot->columns[metric->id].values &&
		    snapshot_need_column(snapshot, metric->id) < 0)
			return -ENOMEM;
		snapshot_set(snapshot, metric->id,
			     metric->is_of_process ? rows->process : rows->task,
			     metric_from_raw(value, metric->raw, &decoder->scale));
	}
	return 0;
}

static int set_values(struct task_decoder *decoder, const void *const *sections,
		      const struct rows *rows, uint64_t life_ns)
{
	size_t begin = 0;
	int status = 0;

	if (!decoder->ends[PART_COUNT - 1])
		list_metrics(decoder);
	for (int i = 0; i < PART_COUNT && status == 0; begin = decoder->ends[i++])
		if (sections[i])
			status = set_section(decoder, sections[i], begin, decoder->ends[i], rows,
					     life_ns);
	return status;
}

static int add_rows(struct task_decoder *decoder, const struct task_record *record, uint32_t cgroup,
		    struct rows *ret)
{
	struct snapshot *snapshot = decoder->snapshot;
	struct task task = {
		.tid = (int32_t)record->task->pid,
		.start_time_ns = task_decoder_start_ns(decoder, record),
		.cgroup = cgroup,
	};

	if (intern_comm(decoder, record, &task.comm) < 0 ||
	    snapshot_process(snapshot, (int32_t)record->task->tgid, &task.process) < 0 ||
	    snapshot_add_task(snapshot, &task, &ret->task) < 0)
		return -ENOMEM;
	ret->process = task.process;
	if (record->group) {
		snapshot->processes[task.process].pcomm = task.comm;
		snapshot->processes[task.process].start_time_ns = task.start_time_ns;
	}
	return 0;
}

int task_decoder_add(struct task_decoder *decoder, const struct task_record *record,
		     uint32_t cgroup)
{
	struct decoded_fields decoded = { 0 };
	const void *sections[PART_COUNT] = {
		[TASK_SECTION_TASK] = record->task,
		[TASK_SECTION_GROUP] = record->group,
		[TASK_SECTION_DELAY] = record->delay,
		[TASK_SECTION_STATS] = record->stats,
		[PART_DECODED] = &decoded,
	};
	struct rows rows;

	if (decode(decoder, record, &decoded) < 0 || add_rows(decoder, record, cgroup, &rows) < 0)
		return -ENOMEM;
	for (int i = 0; i < PART_COUNT; i++)
		decoder->present[i] |= sections[i] ? *(const uint64_t *)sections[i] : 0;
	return set_values(decoder, sections, &rows,
			  task_life_ns(&decoder->snapshot->tasks[rows.task], decoder->boottime_ns));
}

int task_decoder_finish(const struct task_decoder *decoder)
{
	for (int id = 0; id < METRIC_STORED; id++) {
		const struct member *member = &members[id];
		uint64_t present = decoder->present[member->section];

		if (member->is_there && member->section != PART_DECODED && present &&
		    !(present >> member->bit & 1) &&
		    snapshot_set_absent(decoder->snapshot, id, "this kernel does not keep it") < 0)
			return -ENOMEM;
	}
	return 0;
}

/* What only metrics of a section need that nobody wants is not even read. */
uint32_t task_decoder_sections(const struct task_decoder *decoder)
{
	uint32_t sections = 0;

	for (int id = 0; id < METRIC_STORED; id++)
		if (members[id].is_there && is_wanted(decoder, id))
			sections |= 1u << members[id].section;
	/* Sleep is what the scheduler counted without the time that was blocked. */
	if (is_wanted(decoder, METRIC_voluntary_sleep_ns))
		sections |= 1u << TASK_SECTION_STATS;
	return sections;
}
