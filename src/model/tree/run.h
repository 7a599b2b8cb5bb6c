/* SPDX-License-Identifier: MIT */
/*
 * A run: a command that was run, or a tree that was attached to, with all that is known about it.
 * Reports, JSON lines and verdicts are made from it, whether it is live or read from a file.
 *
 * A run owns everything that is reachable from it.
 */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/collection/arena.h"
#include "model/path/critical_path.h"
#include "model/scope/phase.h"
#include "model/snapshot/source_report.h"
#include "model/tree/run_numbers.h"
#include "model/tree/tree.h"

enum run_mode {
	RUN_COMMAND,
	RUN_ATTACH,
};

/* How it ended. */
enum run_end {
	RUN_UNFINISHED, /* it still goes on, or its file was cut off */
	RUN_EXITED,	/* the command itself ended */
	RUN_TIMED_OUT,	/* -d: we ended it, or detached */
	RUN_DETACHED,	/* attach was interrupted */
};

/* The name in files and JSON, and the end of that name; false when there is none. */
const char *run_end_name(enum run_end end);
bool run_end_find(const char *name, enum run_end *ret);

/* The version of the JSON of run, attach, report and why.  Readers accept only this version. */
#define RUN_FILE_VERSION 2
#define RUN_SOURCES_MAX 16
/* A summary lists at most this many threads and processes, and counts the others. */
#define RUN_THREADS_MAX 8192
#define RUN_RUNNING_MAX 1000
#define RUN_TOP_PROCESSES 64
/* What the names of readings about frequency governors begin with; the CPU follows. */
#define RUN_GOVERNOR_READING "cpufreq_governor "

/*
 * Pressure and limits around the tree.  Counters are differences over the run; each may be absent.
 */
struct run_limits {
	struct run_number host_cpu_some_us, host_memory_some_us, host_memory_full_us;
	struct run_number host_io_some_us, host_io_full_us;
	/* Time of all CPUs that the hypervisor took, and that was used; both or none. */
	struct run_number host_steal_ns, host_busy_ns;
	const char *cgroup; /* the path, NULL when not known */
	struct run_number cgroup_periods, cgroup_throttled_periods, cgroup_throttled_ns;
	struct run_number cgroup_quota_us, cgroup_period_us; /* cpu.max, absent when unlimited */
	struct run_number cgroup_memory_limit_bytes;	     /* lowest of it and its ancestors */
	struct run_number cgroup_memory_max_hits, cgroup_memory_high_hits;
	struct run_number cgroup_oom_kills;
	struct run_number cgroup_refaults;	 /* pages that came back after they were evicted */
	struct run_number cgroup_io_limit_bytes; /* a second, lowest of its disks; absent: none */
	struct run_number cgroup_cpu_some_us, cgroup_memory_some_us, cgroup_io_some_us;
	uint32_t online_cpus;
};

/*
 * Sockets that the live processes of the tree had at the end: connections to other hosts or over
 * loopback, and those on which they wait for connections, Unix sockets among them.
 */
struct run_sockets {
	struct run_number connected, listening; /* both or none */
};

/* One sample of the tree; counters count from the beginning of the run. */
struct run_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	struct amounts amounts;
	uint64_t unseen_cpu_ns; /* as of the tree */
	uint64_t processes, threads;
	bool has_rss, has_fds;
	uint64_t rss_bytes, open_fds;
};

#define RUN_WAITERS_MAX 16
#define RUN_OBJECT_SIZE 192

/* A thread that waits for ever. */
struct run_waiter {
	int32_t pid, tid;
	char comm[TREE_COMM_SIZE];
	char object[RUN_OBJECT_SIZE]; /* what it waits for, and who has it: for people */
};

/* Threads that wait for each other: each for the next one, the last for the first. */
struct run_deadlock {
	struct run_waiter waiters[RUN_WAITERS_MAX];
	uint32_t count; /* 0: there was none */
};

/* Something that happened to a member. */
struct past_event {
	uint64_t time_ns;  /* CLOCK_MONOTONIC */
	const char *event; /* one of tree_event_names */
	struct task_key task;
	int32_t other_pid; /* the parent, or the sender of the signal */
	uint32_t signal;
	char comm[TREE_COMM_SIZE];
};

#define RUN_SEGMENTS_MAX 6

/* A stretch of the run in which it did one kind of thing; amounts are averages. */
struct run_segment {
	uint64_t begin_ns, end_ns; /* from the beginning of the run */
	struct run_real cores;
	struct run_number rss_bytes;
	struct run_number read_bytes_per_s, write_bytes_per_s; /* of storage */
	struct run_number threads;
	char what[64]; /* "computing", "reading, growing memory": for people */
};

struct run_segments {
	struct run_segment list[RUN_SEGMENTS_MAX];
	uint32_t count; /* 0: there were too few samples */
};

#define RUN_GPU_USERS_MAX 32

/* What a member used of GPUs: the most that a sample found, and the time that engines worked for it. */
struct run_gpu_user {
	int32_t pid;
	uint64_t start_ns;
	char comm[TREE_COMM_SIZE];
	struct run_number memory_peak_bytes, busy_peak_percent, time_ns;
};

struct run_gpu_users {
	struct run_gpu_user list[RUN_GPU_USERS_MAX]; /* those that held the most come first */
	uint32_t count;
};

#define PAST_EVENTS 16384
#define PAST_SAMPLES 4096

/*
 * The past of a run, within bounds.  The first PAST_EVENTS events are kept and further ones
 * counted.  Samples cover the whole time: when there are too many, every second one is dropped.
 */
struct run_past {
	ARRAY_OF(struct past_event) events;
	uint64_t events_omitted;
	ARRAY_OF(struct run_sample) samples;
	uint64_t stride, due; /* one sample in `stride` is kept; `due`: how many until the next */
};

/*
 * Aggregates over all samples; averages are weighted by time.  A command may end before the first
 * sample: then memory, descriptors and cores are absent.
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

/* What was lost; normally each is 0. */
struct run_losses {
	uint64_t events;		   /* lifecycle events that found the ring full */
	uint64_t threads;		   /* threads without a final account */
	uint64_t unnamed_syscalls;	   /* calls that were counted, but not by name */
	uint64_t waits;			   /* times off the CPU that found the ring full */
	uint64_t wakers;		   /* waits whose waker found no room */
	uint64_t untracked_tasks;	   /* tasks for which the kernel or the tree had no room */
	uint64_t unmatched_events;	   /* events of tasks that are not in the tree */
	uint64_t lines;			   /* JSON lines that could not be written */
	struct run_number tracer_failures; /* samples and drains of the tracer that failed */
	uint64_t scopes;		   /* reads of a process's scopes that failed */
	uint64_t scope_waits;		   /* waits in scopes that are not in their phase */
};

/* What watching cost. */
struct run_self {
	uint64_t cpu_ns;
	struct run_number peak_rss_bytes;
	uint64_t missed_ticks; /* samples that were due and were skipped */
	uint64_t startup_ns;   /* until the command was let go */
};

struct profile;
struct snapshot;
struct timeline;

struct run {
	struct arena arena;	 /* of texts */
	struct snapshot *host;	 /* with facts of the host; its tasks mean nothing; or NULL */
	struct snapshot *states; /* sheets of the beginning and the end (run_states.h), or NULL */
	enum run_mode mode;
	enum run_end end;
	char **command; /* of RUN_COMMAND; NULL-terminated */
	int32_t pid;	/* of the command; for attach, the first of `pids` */
	int32_t *pids;	/* of RUN_ATTACH: the processes attached to */
	size_t pid_count;
	const char *tracer;	   /* "bpf", "connector", "procfs" */
	const char *tracer_misses; /* what this tracer can miss; NULL: nothing */
	uint64_t begin_unix_ns;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC: exec, and the command's end or the detach */
	uint64_t interval_ns;
	struct run_number duration_ns;		       /* -d */
	struct source_report sources[RUN_SOURCES_MAX]; /* what could be measured, or why not */
	size_t source_count;
	struct tree *tree;
	struct run_limits limits;
	struct run_sockets sockets;
	struct run_hardware hardware;
	struct run_gpu gpu;
	struct run_gpu_users gpu_users;
	struct run_sampled sampled; /* how waits were sampled */
	struct run_sampling sampling;
	struct run_sample last;
	struct run_sample previous; /* the one before `last`; time_ns 0: there was none */
	struct run_past past;
	struct timeline *timeline; /* while it is live; NULL: no critical path is wanted */
	struct critical_path path;
	struct run_deadlock deadlock; /* when we stopped watching */
	struct run_segments segments;
	struct profile *profile; /* where in the code the time went; NULL: no stacks were taken */
	struct phases phases;
	struct phase_now now; /* at the last sample */
	struct run_losses losses;
	struct run_self self;
	/* The command's own end; for attach, that of the first process attached to. */
	bool has_status;
	int status;		      /* as wait() has it */
	struct run_number command_ns; /* time until that end, if taskscope then waited for others */
	bool since_start;	      /* counters began with the processes, not with attaching */
	struct run_number children_excluded; /* processes that do not count: --exclude-children */
	bool oom_killed;
	int32_t killer_pid; /* the sender of the signal; 0 when not known */
	char killer_comm[TREE_COMM_SIZE];
};

int run_new(struct run **ret);
void run_free(struct run *run); /* NULL is allowed */
CLEANUP_POINTER(run_free, struct run)

/* Adds a row to the manifest; texts are copied.  0, -ENOMEM, or -ENOSPC. */
int run_add_source(struct run *run, const char *name, enum source_state state, const char *reason);
/* Replaces the row of that name, or adds it. */
int run_set_source(struct run *run, const char *name, enum source_state state, const char *reason);
const struct source_report *run_source(const struct run *run, const char *name); /* or NULL */
static inline bool run_source_works(const struct source_report *source)
{
	return source && (source->state == SOURCE_OK || source->state == SOURCE_PARTIAL);
}

/*
 * Finds the root of a tree that was read from a file.  Several processes may have had its number:
 * the root is the first of them.
 */
void run_find_root(struct run *run);
/* Sets the processes that are attached to, at least one.  0 or -ENOMEM. */
int run_set_pids(struct run *run, const int32_t *pids, size_t count);
/* The first process that had the number, or NULL. */
struct tree_process *run_find_process(const struct run *run, int32_t pid);

void run_past_sample(struct run_past *past, const struct run_sample *sample);
void run_past_free(struct run_past *past);

/*
 * Applies an event to the tree and the timeline, and keeps it in the past if it is the beginning of
 * a process, an exec, a signal or an OOM kill.  0 or -ENOMEM.
 */
int run_take_event(struct run *run, const struct tree_event *event);

/* Takes the command's end from its process, as far as it is not known yet. */
void run_learn_end(struct run *run);

/* Takes a sample from the tree's sums into `last` and the aggregates. */
void run_sample(struct run *run, uint64_t time_ns);

/* The same with a sample that was taken earlier, from a file. */
void run_add_sample(struct run *run, const struct run_sample *sample);

/* CPU time that was charged until then, including unseen children.  False when it is not known. */
bool run_sample_cpu(const struct run_sample *sample, uint64_t *ret);

/* Wall time so far. */
static inline uint64_t run_wall_ns(const struct run *run)
{
	return run->end_ns > run->begin_ns ? run->end_ns - run->begin_ns : 0;
}

/* Whether waits by reason are estimates from samples. */
static inline bool run_is_sampled(const struct run *run)
{
	return run->sampled.samples.present;
}

/* Whether the cost of watching is known: a file without a summary lacks it. */
static inline bool run_self_is_known(const struct run_self *self)
{
	return self->cpu_ns || self->peak_rss_bytes.present;
}

/*
 * CPU time of the tree; every output for people uses these figures.  Seen: the time between
 * switching its threads in and out (run_time_ns), or, where switches are not known, the time that
 * the kernel charged them.  Unseen: the time charged for children that nobody saw and for threads
 * without a last account.
 */
uint64_t run_seen_cpu_ns(const struct run *run);
uint64_t run_unseen_cpu_ns(const struct run *run);
bool run_knows_cpu(const struct run *run);

/* Average cores busy over the whole run, or a negative number when not known. */
double run_cores(const struct run *run);

/* Figures that may be lower bounds, because something was missed. */
enum run_bound {
	RUN_BOUND_PROCESSES = 1 << 0,
	RUN_BOUND_CPU = 1 << 1,
	RUN_BOUND_MEMORY = 1 << 2,
};

/* Which figures are lower bounds, because events were lost or the tracer can miss some. */
unsigned run_lower_bounds(const struct run *run);

#endif
