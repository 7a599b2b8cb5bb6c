/* SPDX-License-Identifier: MIT */
/*
 * A command that was run, or a tree that was attached to, with all that is known about it: this
 * is what the reports, the JSON lines and the verdict are made from, live or from a file.
 *
 * Owns all that is reachable from it.
 */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/phase.h"
#include "model/tree.h"

enum run_mode {
	RUN_COMMAND,
	RUN_ATTACH,
};

/* How it ended. */
enum run_end {
	RUN_UNFINISHED, /* a file that was cut off, or still going on */
	RUN_EXITED,	/* the command itself ended */
	RUN_TIMED_OUT,	/* -d: we ended it, or detached */
	RUN_DETACHED,	/* attach was interrupted */
};

/* A row of the capability manifest: what could be measured here, or why not. */
struct run_source {
	const char *name;   /* "tree", "ledger", "syscalls", "wakers", "memory", "scopes", ... */
	const char *state;  /* "ok", "partial", "unavailable", "off" */
	const char *reason; /* NULL when ok */
};

#define RUN_SOURCES_MAX 16
/* Threads that a summary names; more are counted. */
#define RUN_THREADS_MAX 8192

/* Where a value may be missing. */
struct run_number {
	bool present;
	uint64_t value;
};

struct run_real {
	bool present;
	double value;
};

/* Pressure and limits around the tree, as differences over the run; each may be missing. */
struct run_surroundings {
	struct run_number host_cpu_some_us, host_memory_some_us, host_memory_full_us;
	struct run_number host_io_some_us, host_io_full_us;
	const char *cgroup; /* the path, NULL when not known */
	struct run_number cgroup_periods, cgroup_throttled_periods, cgroup_throttled_ns;
	struct run_number cgroup_quota_us, cgroup_period_us; /* cpu.max, absent when unlimited */
	struct run_number cgroup_memory_limit_bytes;	     /* the lowest of it and those above */
	struct run_number cgroup_memory_max_hits, cgroup_memory_high_hits;
	struct run_number cgroup_oom_kills;
	struct run_number cgroup_cpu_some_us, cgroup_memory_some_us, cgroup_io_some_us;
	uint32_t online_cpus;
};

/* One look at the tree; counters since the run began. */
struct run_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	struct usage usage;
	struct ledger ledger;
	uint64_t processes, threads;
	bool has_rss, has_fds;
	uint64_t rss_bytes, open_fds;
};

/*
 * What all samples say together; averages are weighted by time.  A command can be gone before the
 * first look at it: then memory, descriptors and cores are missing.
 */
struct run_sampling {
	uint64_t samples;
	struct run_number shortest_ns, longest_ns; /* between two */
	uint64_t covered_ns;
	struct run_real rss_average; /* bytes */
	uint64_t rss_ns;	     /* how much of the time the RSS was known */
	struct run_number peak_rss_bytes;
	struct run_real cores_peak; /* cores busy in the busiest interval of at least 50 ms */
	struct run_number most_fds;
	uint64_t mark_ns, mark_cpu_ns; /* where the interval for cores_peak began */
};

/* What was not seen, each 0 on a good day. */
struct run_losses {
	uint64_t events;	   /* lifecycle events that found the ring full */
	uint64_t threads;	   /* threads without a final account */
	uint64_t unnamed_syscalls; /* calls counted, but under no name */
	uint64_t wakers;	   /* waits whose waker found no room */
	uint64_t untracked_tasks;  /* tasks for which the kernel had no memory */
	uint64_t strays;
	uint64_t lines;		 /* JSON lines that could not be written */
	struct run_number looks; /* looks at the tree, or at what happened, that failed */
	uint64_t scopes;	 /* looks at the scopes of a process that could not be taken */
};

/* What watching cost. */
struct run_self {
	uint64_t cpu_ns;
	struct run_number peak_rss_bytes;
	uint64_t missed_ticks; /* samples that were due and left out */
	uint64_t startup_ns;   /* until the command was let go */
};

struct run {
	struct arena arena; /* of texts */
	enum run_mode mode;
	enum run_end end;
	char **command; /* of RUN_COMMAND; NULL-terminated */
	int32_t pid;
	const char *tracer;	   /* "bpf", "connector", "procfs" */
	const char *tracer_misses; /* what this way can miss; NULL: nothing */
	uint64_t begin_unix_ns;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC: exec, and the command's end or the detach */
	uint64_t interval_ns;
	struct run_number duration_ns; /* -d */
	struct run_source sources[RUN_SOURCES_MAX];
	size_t source_count;
	struct tree *tree;
	struct run_surroundings surroundings;
	struct run_sampling sampling;
	struct run_sample last;
	struct run_sample previous; /* the one before `last`; time_ns 0: there was none */
	struct phases phases;
	struct phase_now now; /* at the last sample */
	struct run_losses losses;
	struct run_self self;
	/* The command's own end; for attach, that of the first process attached to. */
	bool has_status;
	int status;		      /* as wait() has it */
	struct run_number command_ns; /* until then, when others were waited for that outlived it */
	bool oom_killed;
	int32_t killer_pid; /* who sent the signal; 0 when nobody is known */
	char killer_comm[TREE_COMM_SIZE];
};

int run_new(struct run **ret);
void run_free(struct run *run); /* NULL is allowed */
void run_free_pointer(struct run **run);

/* Adds a row to the manifest; texts are copied.  0, -ENOMEM, or -ENOSPC. */
int run_add_source(struct run *run, const char *name, const char *state, const char *reason);
/* Replaces the row of that name, or adds it. */
int run_set_source(struct run *run, const char *name, const char *state, const char *reason);
const struct run_source *run_source(const struct run *run, const char *name); /* or NULL */
static inline bool run_source_works(const struct run_source *source)
{
	return source &&
	       (source->state[0] == 'o' ? source->state[1] == 'k' : source->state[0] == 'p');
}

/* Takes a sample from the tree's sums into `last` and the aggregates. */
void run_sample(struct run *run, uint64_t time_ns);

/* The same with a sample that was taken before, as a file has it. */
void run_add_sample(struct run *run, const struct run_sample *sample);

/* Wall time so far. */
static inline uint64_t run_wall_ns(const struct run *run)
{
	return run->end_ns > run->begin_ns ? run->end_ns - run->begin_ns : 0;
}

/* Whether it is known what watching cost: a file without a summary does not tell. */
static inline bool run_self_is_known(const struct run_self *self)
{
	return self->cpu_ns || self->peak_rss_bytes.present;
}

/*
 * CPU time of the tree, the same figure for all that people read.  Seen is the time of its threads
 * between being switched in and out (on_cpu_ns), or what the kernel charged them where the switches are
 * not known; unseen what children that nobody saw, or threads without a last account, were charged.
 */
uint64_t run_seen_cpu_ns(const struct run *run);
uint64_t run_unseen_cpu_ns(const struct run *run);

/* Average cores busy over the whole run, or a negative number when not known. */
double run_cores(const struct run *run);

/* Figures that may be lower bounds. */
enum run_bound {
	RUN_BOUND_PROCESSES = 1 << 0,
	RUN_BOUND_CPU = 1 << 1,
	RUN_BOUND_MEMORY = 1 << 2,
};

/* Which of them are, because events were lost or this way of following can miss some. */
unsigned run_lower_bounds(const struct run *run);

#endif
