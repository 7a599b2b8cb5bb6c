/* SPDX-License-Identifier: MIT */
/*
 * The rows of ctprof_fields.def, for the writer and the reader.
 */
#ifndef STORE_CTPROF_TABLE_H
#define STORE_CTPROF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"
#include "model/snapshot/snapshot.h"

/* A clock tick is 10 ms in this format, on every host. */
#define CTPROF_TICK_NS 10000000
#define CTPROF_PERIOD_US 100000 /* default period of cpu.max */
#define CTPROF_NO_STATE '~'

/* Readings that have no table of their own, and the name of a file as a source. */
#define CTPROF_SMAPS_PREFIX "smaps "	       /* and the kind of page */
#define CTPROF_FAILURES_PREFIX "failed_reads " /* and the file */
#define CTPROF_CPU_COUNT "online_cpu_count"    /* where the list of CPUs is not known */
#define CTPROF_SOURCE "ctprof"

/* How a field of a thread is written. */
enum ctprof_form {
	CTPROF_TID,
	CTPROF_TGID,
	CTPROF_PCOMM,
	CTPROF_COMM,
	CTPROF_CGROUP,
	CTPROF_START_TIME,
	CTPROF_SMAPS,  /* object of kB, of the leader only */
	CTPROF_NUMBER, /* 64 bits */
	CTPROF_LEADER, /* the same, of the leader only: 0 for other threads */
	CTPROF_SIGNED, /* 32 bits */
	CTPROF_TICKS,
	CTPROF_EXTREME, /* number; 0 means nothing where there were events */
	CTPROF_POLICY,	/* name, "" by default */
	CTPROF_STATE,	/* letter, CTPROF_NO_STATE by default */
	CTPROF_BOOL,
	CTPROF_CPUS, /* list of numbers */
	CTPROF_FLAG, /* bool: whether families were measured */
};

/* Values that were measured together. */
enum ctprof_family {
	CTPROF_ALONE, /* just itself */
	CTPROF_STAT,
	CTPROF_STATUS,
	CTPROF_SCHEDSTAT,
	CTPROF_IO,
	CTPROF_CPU_DELAY,
	CTPROF_DELAYS,
	CTPROF_PEAKS,
	CTPROF_JEMALLOC,
	CTPROF_FAMILY_COUNT,
};

/* What proves that a default value was measured. */
enum ctprof_proof {
	CTPROF_UNPROVEN, /* nothing does */
	CTPROF_SIBLING,	 /* a value of the family that is not its default */
	CTPROF_FLAGGED,	 /* the flags that stand for the family */
};

extern const enum ctprof_proof ctprof_proofs[CTPROF_FAMILY_COUNT];

struct ctprof_field {
	const char *key;
	enum ctprof_form form;
	enum metric_id metric; /* METRIC_STORED when it is none */
	enum metric_id events; /* of an extreme: how many there were */
	enum ctprof_family family;
	uint32_t families; /* of a flag: a bit for each */
};

#define CTPROF_FIELDS_MAX 128

extern const struct ctprof_field ctprof_fields[];
extern const size_t ctprof_field_count;

/* Objects whose members are readings. */
enum ctprof_object {
	CTPROF_OBJECT_CPU, /* of a cgroup, as the next two */
	CTPROF_OBJECT_MEMORY,
	CTPROF_OBJECT_PIDS,
	CTPROF_OBJECT_SCHED_EXT,
	CTPROF_OBJECT_PROBE,
	CTPROF_OBJECT_TASKSTATS,
	CTPROF_OBJECT_HOST,
	CTPROF_OBJECT_COUNT,
};

/* Where such an object is in the file, and which sheet has the readings. */
extern const struct ctprof_place {
	const char *key;
	enum sheet_id sheet;
} ctprof_objects[CTPROF_OBJECT_COUNT];

/* How a reading is written; in brackets what the writer puts for an absent one. */
enum ctprof_cell_form {
	CTPROF_CELL_PLAIN,     /* number [0] of an object that is there only when it was read */
	CTPROF_CELL_COLLAPSED, /* number [0] */
	CTPROF_CELL_OPTION,    /* number [null] */
	CTPROF_CELL_NICE,      /* signed number [null] */
	CTPROF_CELL_LIMIT,     /* number [null, and so is unlimited] */
	CTPROF_CELL_FLOOR,     /* number [null]; unlimited is the largest number */
	CTPROF_CELL_PERIOD,    /* number [CTPROF_PERIOD_US] */
	CTPROF_CELL_WORD,      /* text [""] */
	CTPROF_CELL_TEXT,      /* text [null] */
	CTPROF_CELL_TRUTH,     /* bool [false] */
	CTPROF_CELL_NUMBERS,   /* object of numbers, one for each reading that begins so */
	CTPROF_CELL_TEXTS,     /* object of texts [no member at all] */
};

struct ctprof_cell {
	enum ctprof_object object;
	const char *key;
	enum ctprof_cell_form form;
	const char *name; /* of the reading, or how the readings begin */
};

extern const struct ctprof_cell ctprof_cells[];
extern const size_t ctprof_cell_count;

/* How a fact is written; an absent one is left out. */
enum ctprof_fact_form {
	CTPROF_FACT_TEXT,
	CTPROF_FACT_NUMBER,
	CTPROF_FACT_KIB,
	CTPROF_FACT_CPU_COUNT, /* number of CPUs; we have their list */
	CTPROF_FACT_WORD,      /* text with _ where we have - */
};

struct ctprof_fact {
	const char *key;
	enum ctprof_fact_form form;
	enum fact_id fact;
};

extern const struct ctprof_fact ctprof_facts[];
extern const size_t ctprof_fact_count;

/* Pressure: resources, their lines, and the numbers of a line. */
#define CTPROF_RESOURCES 4
#define CTPROF_LINES 2
#define CTPROF_PRESSURES 4

extern const char *const ctprof_resources[CTPROF_RESOURCES];
extern const char *const ctprof_lines[CTPROF_LINES];

struct ctprof_pressure {
	const char *key;  /* in JSON */
	const char *name; /* last word of the reading */
};

extern const struct ctprof_pressure ctprof_pressures[CTPROF_PRESSURES];

/* Makes the name of a pressure reading, of the host or of a cgroup. */
void ctprof_pressure_name(char name[SHEET_NAME_SIZE], enum sheet_id id, int resource, int line,
			  int key);

#endif
