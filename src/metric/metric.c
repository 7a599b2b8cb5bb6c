/* SPDX-License-Identifier: MIT */
#include "metric/metric.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/collection/array.h"
#include "metric/wait.h"

#define TWO_INPUTS(formula, a, b)                                                                  \
	{                                                                                          \
		.kind = formula, .count = 2, .inputs = { METRIC_##a, METRIC_##b }                  \
	}

#define RATIO(a, b) TWO_INPUTS(FORMULA_RATIO, a, b)
#define SHARE(a, b) TWO_INPUTS(FORMULA_SHARE, a, b)
#define DIFFERENCE(a, b) TWO_INPUTS(FORMULA_DIFFERENCE, a, b)
/* Formulas with any number of inputs, each given as METRIC_.... */
#define MANY_INPUTS(formula, ...)                                                                  \
	{                                                                                          \
		.kind = formula, .count = ARRAY_SIZE(((enum metric_id[]){ __VA_ARGS__ })),         \
		.inputs = {                                                                        \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define SUM(...) MANY_INPUTS(FORMULA_SUM, __VA_ARGS__)
#define SUM_AND_LARGER(...) MANY_INPUTS(FORMULA_SUM_AND_LARGER, __VA_ARGS__)

#define BY_FIELD(where, number, raw_) { .place = where, .field = number, .raw = RAW_##raw_ },
#define BY_KEY(where, name_, raw_) { .place = where, .key = name_, .raw = RAW_##raw_ },
#define PLAIN(where) { .place = where, .raw = RAW_COUNT },

/* clang-format off */
const struct metric metrics[METRIC_COUNT] = {
#define STAT(number, raw)       BY_FIELD(PLACE_STAT, number, raw)
#define SCHEDSTAT(number, raw)  BY_FIELD(PLACE_SCHEDSTAT, number, raw)
#define STATM(number, raw)      BY_FIELD(PLACE_STATM, number, raw)
#define GROUP_STAT(number, raw) BY_FIELD(PLACE_GROUP_STAT, number, raw)
#define SMAPS(name)             BY_KEY(PLACE_SMAPS, name, KIB)
#define STATUS(name, raw)       BY_KEY(PLACE_STATUS, name, raw)
#define SCHED(name, raw)        BY_KEY(PLACE_SCHED, name, raw)
#define IO(name, raw)           BY_KEY(PLACE_IO, name, raw)
#define GROUP_IO(name, raw)     BY_KEY(PLACE_GROUP_IO, name, raw)
#define TASK(member, raw)       BY_KEY(PLACE_TASK, #member, raw)
#define GROUP(member, raw)      BY_KEY(PLACE_GROUP, #member, raw)
#define DELAY(member, raw)      BY_KEY(PLACE_DELAY, #member, raw)
#define STATS(member, raw)      BY_KEY(PLACE_STATS, #member, raw)
#define DECODED(what)           BY_KEY(PLACE_DECODED, #what, COUNT)
#define TASKSTATS(member, raw)  BY_KEY(PLACE_TASKSTATS, #member, raw)
#define JEMALLOC(member)        BY_KEY(PLACE_JEMALLOC, #member, BYTES)
#define IN_SCOPE(member, raw)   BY_KEY(PLACE_SCOPE, #member, raw)
#define ON_GPU(member, raw)     BY_KEY(PLACE_GPU, #member, raw)
#define LIFE                    PLAIN(PLACE_TRACED)
#define TRACED(id)              PLAIN(PLACE_TRACED)
#define AFFINITY                PLAIN(PLACE_AFFINITY)
#define FD_DIRECTORY            PLAIN(PLACE_FD_DIRECTORY)
#define FD_LIMIT                PLAIN(PLACE_FD_LIMIT)
#define EACH                    PLAIN(PLACE_EACH)
#define METRIC(id, unit_, kind_, scope_, fold_, section_, gate_, class_, sources_, help_)          \
	[METRIC_##id] = {                                                                          \
		.name = #id, .unit = UNIT_##unit_, .kind = KIND_##kind_, .scope = METRIC_OF_##scope_,  \
		.fold = FOLD_##fold_, .section = SECTION_##section_, .gate = GATE_##gate_,         \
		.class = CLASS_##class_, .sources = { sources_ }, .help = help_,                   \
	},
#include "metric/metrics.def"
#define DERIVED(id, unit_, section_, formula_, help_)                                              \
	[METRIC_##id] = {                                                                          \
		.name = #id, .unit = UNIT_##unit_, .kind = KIND_DERIVED, .scope = METRIC_OF_THREAD,    \
		.fold = FOLD_FORMULA, .section = SECTION_##section_, .formula = formula_,          \
		.help = help_,                                                                     \
	},
#include "metric/metrics.def"
};

static const char *const unit_names[] = {
	[UNIT_NS] = "ns",       [UNIT_BYTES] = "bytes",   [UNIT_COUNT] = "count",
	[UNIT_LEVEL] = "level", [UNIT_ID] = "id",         [UNIT_RATIO] = "ratio",
	[UNIT_POLICY] = "policy", [UNIT_STATE] = "state", [UNIT_BOOL] = "bool",
	[UNIT_CPUS] = "cpus",     [UNIT_US] = "us",       [UNIT_CENTIPERCENT] = "centipercent",
	[UNIT_HUNDREDTHS] = "hundredths", [UNIT_TEXT] = "text",
};

static const char *const kind_names[] = {
	[KIND_COUNTER] = "counter", [KIND_PEAK] = "peak",       [KIND_LOW] = "low",
	[KIND_GAUGE] = "gauge",     [KIND_ORDINAL] = "ordinal", [KIND_CATEGORY] = "category",
	[KIND_CPUSET] = "cpu set",  [KIND_LIMIT] = "limit",     [KIND_SETTING] = "setting",
	[KIND_TEXT] = "text",       [KIND_DERIVED] = "derived",
};

static const char *const scope_names[] = {
	[METRIC_OF_THREAD] = "thread", [METRIC_OF_PROCESS] = "process", [METRIC_OF_ROW] = "row",
};

static const char *const fold_names[] = {
	[FOLD_SUM] = "sum",   [FOLD_MAX] = "max",   [FOLD_MIN] = "min", [FOLD_RANGE] = "range",
	[FOLD_MODE] = "mode", [FOLD_CPUSET] = "cpu set", [FOLD_FORMULA] = "formula",
};

static const char *const section_names[] = {
	[SECTION_IDENTITY] = "identity", [SECTION_SCHEDULING] = "scheduling", [SECTION_IO] = "io",
	[SECTION_MEMORY] = "memory",     [SECTION_DELAYS] = "delays",         [SECTION_HEAP] = "heap",
	[SECTION_SCOPES] = "scopes",     [SECTION_WAITS] = "waits",           [SECTION_GPU] = "gpu",
	[SECTION_CGROUPS] = "cgroups",   [SECTION_LIMITS] = "limits",
	[SECTION_MEMORY_STAT] = "memory.stat", [SECTION_MEMORY_EVENTS] = "memory.events",
	[SECTION_PRESSURE] = "pressure", [SECTION_HOST] = "host",
	[SECTION_HOST_USAGE] = "host-usage", [SECTION_HOST_DETAILS] = "host-details",
};

static const char *const gate_names[] = {
	[GATE_NONE] = "",
	[GATE_SCHED_INFO] = "SCHED_INFO",
	[GATE_SCHEDSTATS] = "SCHEDSTATS",
	[GATE_SCHED_CORE] = "SCHED_CORE SCHEDSTATS",
	[GATE_SCHED_CLASS_EXT] = "SCHED_CLASS_EXT",
	[GATE_TASK_IO_ACCOUNTING] = "TASK_IO_ACCOUNTING",
	[GATE_TASK_DELAY_ACCT] = "TASK_DELAY_ACCT",
	[GATE_IRQ_DELAY] = "IRQ_TIME TASK_DELAY_ACCT",
};

static const char *const class_names[] = {
	[CLASS_ANY] = "",            [CLASS_CFS_ONLY] = "cfs-only",
	[CLASS_NON_EXT] = "non-ext", [CLASS_FAIR_POLICY] = "fair-policy",
};

static const char *const place_names[] = {
	[PLACE_STAT] = "task stat",      [PLACE_STATUS] = "task status",
	[PLACE_SCHEDSTAT] = "task schedstat", [PLACE_SCHED] = "task sched",
	[PLACE_IO] = "task io",          [PLACE_STATM] = "statm",
	[PLACE_SMAPS] = "smaps_rollup",
	[PLACE_GROUP_STAT] = "stat less threads", [PLACE_GROUP_IO] = "io less threads",
	[PLACE_AFFINITY] = "sched_getaffinity",   [PLACE_FD_DIRECTORY] = "fd directory",
	[PLACE_FD_LIMIT] = "prlimit",    [PLACE_EACH] = "each task",
	[PLACE_TASK] = "bpf task",       [PLACE_GROUP] = "bpf group",
	[PLACE_DELAY] = "bpf delays",    [PLACE_STATS] = "bpf stats",
	[PLACE_DECODED] = "bpf decoded", [PLACE_TASKSTATS] = "taskstats",
	[PLACE_JEMALLOC] = "jemalloc",   [PLACE_SCOPE] = "scopes",
	[PLACE_GPU] = "gpu",
	[PLACE_TRACED] = "traced",
};

const struct wait_info waits[WAIT_REASON_COUNT] = {
#define WAIT(id, name_, kind_, help_)                                                              \
	[WAIT_##id] = { .name = #name_, .kind = WAIT_##kind_, .help = help_ },
#include "metric/waits.def"
#undef WAIT
};

static const char *const policy_names[] = {
	"SCHED_OTHER", "SCHED_FIFO", "SCHED_RR", "SCHED_BATCH", NULL, "SCHED_IDLE",
	"SCHED_DEADLINE", "SCHED_EXT",
};
/* clang-format on */

#define NAME_OF(list)                                                                              \
	const char *metric_##list##_name(enum metric_##list value)                                 \
	{                                                                                          \
		return list##_names[value];                                                        \
	}

NAME_OF(unit)
NAME_OF(kind)
NAME_OF(scope)
NAME_OF(fold)
NAME_OF(section)
NAME_OF(gate)
NAME_OF(class)
NAME_OF(place)

bool formula_spares(const struct formula *formula, unsigned input)
{
	return formula->kind == FORMULA_SUM_AND_LARGER &&
	       metrics[formula->inputs[input]].gate == GATE_IRQ_DELAY;
}

int metric_find(const char *name)
{
	for (int id = 0; id < METRIC_COUNT; id++)
		if (strcmp(metrics[id].name, name) == 0)
			return id;
	return -1;
}

const struct metric_source *metric_source(const struct metric *metric, enum metric_place place)
{
	for (size_t i = 0; i < METRIC_SOURCES && metric->sources[i].place; i++)
		if (metric->sources[i].place == place)
			return &metric->sources[i];
	return NULL;
}

bool metric_is_only_traced(enum metric_id id)
{
	return metrics[id].sources[0].place == PLACE_TRACED;
}

int wait_find(const char *name)
{
	for (int i = 0; i < WAIT_REASON_COUNT; i++)
		if (strcmp(waits[i].name, name) == 0)
			return i;
	return -1;
}

static const char *policy_text(uint64_t code, char buffer[32])
{
	if (code < ARRAY_SIZE(policy_names) && policy_names[code])
		return policy_names[code];
	snprintf(buffer, 32, "SCHED_UNKNOWN(%" PRIu64 ")", code > 999 ? 999 : code);
	return buffer;
}

const char *metric_category_text(enum metric_unit unit, uint64_t code, char buffer[32])
{
	switch (unit) {
	case UNIT_POLICY:
		return policy_text(code, buffer);
	case UNIT_BOOL:
		return code ? "true" : "false";
	case UNIT_STATE:
		snprintf(buffer, 32, "%c", code > 0x20 && code < 0x7f ? (char)code : '?');
		return buffer;
	default:
		snprintf(buffer, 32, "%" PRIu64, code);
		return buffer;
	}
}

static uint64_t saturating_multiply(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t metric_from_raw(uint64_t raw, enum raw_unit unit, const struct raw_scale *scale)
{
	switch (unit) {
	case RAW_TICKS:
		return saturating_multiply(raw, scale->tick_ns);
	case RAW_FLOORED:
		return raw - raw % scale->tick_ns;
	case RAW_KIB:
		return saturating_multiply(raw, 1024);
	case RAW_MS:
		return saturating_multiply(raw, 1000000);
	case RAW_SECTORS:
		return saturating_multiply(raw, 512);
	case RAW_PAGES:
		return saturating_multiply(raw, scale->page_bytes);
	default:
		return raw;
	}
}
