/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc_scout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cpulist.h"
#include "collect/jemalloc_scout_job.h"
#include "collect/jemalloc_users.h"
#include "host/host.h"

#define JOBS_MAX 16	 /* children at once */
#define JOB_PROCESSES 16 /* fewer are not worth a second child */
#define LOST_MAX 32	 /* children that may be lost before the rest is given up */
#define JOB_MEMORY ((uint64_t)2 << 30)
#define JOB_CPU_SECONDS 1 /* far more than sound files take, however many */
#define SMALLER 4	  /* how much less a child gets after one was lost */
#define FAIR_MS 50	  /* a child that had less time says nothing about those it looked at */

void scout_clear(struct scout *scout)
{
	array_free(&scout->processes);
	array_free(&scout->files);
}

/* 0, -ETIME when time is up, or another negative errno. */
static int start(const struct scout *scout, struct scout_job *job)
{
	struct confine_limits limits = {
		.rules = CONFINE_PARSER,
		.memory_bytes = job->memory_bytes,
		.cpu_seconds = JOB_CPU_SECONDS,
		.keep = job->keep,
		.keep_count = SCOUT_FILES_MAX,
		.prepare = scout_prepare,
	};

	job->allowed_ms = time_budget_share(scout->budget, UINT32_MAX);
	if (!job->allowed_ms)
		return -ETIME;
	for (size_t i = 0; i < SCOUT_FILES_MAX; i++)
		job->keep[i] = -1;
	memset(job->progress, 0, sizeof(*job->progress));
	return confined_start(&job->child, &limits, job->allowed_ms, scout_work, job);
}

/* The child may have been taken over: nothing that it says is used as a number unseen. */
static bool is_sound(const struct scouted_process *said, const struct scouted_process *asked,
		     uint32_t file_count)
{
	for (int part = 0; part < PART_COUNT; part++)
		if (said->parts[part] != SCOUT_NONE && said->parts[part] >= file_count)
			return false;
	return said->tgid == asked->tgid && said->row == asked->row && said->user == asked->user &&
	       (unsigned)said->state < SCOUT_STATE_COUNT;
}

/* A byte that is neither 0 nor 1 must not be looked at as a flag. */
static void tame_flag(bool *flag)
{
	unsigned char byte;

	memcpy(&byte, flag, sizeof(byte));
	*flag = byte != 0;
}

static void tame_flags(struct elf_findings *findings)
{
	bool *const flags[] = {
		&findings->is_native,	&findings->has_interpreter, &findings->has_dynamic,
		&findings->tls.present, &findings->has_dwarf,	    &findings->has_symtab,
		&findings->has_tsd,	&findings->exports_mallctl, &findings->mentions_jemalloc,
	};

	_Static_assert(sizeof(bool) == 1, "a flag is a byte");
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		tame_flag(flags[i]);
}

void findings_tame(struct elf_findings *findings)
{
	tame_flags(findings);
	findings->debuglink[sizeof(findings->debuglink) - 1] = '\0';
	findings->tsd_name[sizeof(findings->tsd_name) - 1] = '\0';
	findings->mallctl_name[sizeof(findings->mallctl_name) - 1] = '\0';
	if (findings->build_id_size > ELF_BUILD_ID_SIZE)
		findings->build_id_size = 0;
}

static int take_files(struct scout *scout, const char *bytes, size_t count)
{
	struct scouted_file *files;

	if (!count)
		return 0;
	if (array_reserve(&scout->files, scout->files.count + count) < 0)
		return -ENOMEM;
	files = scout->files.data + scout->files.count;
	memcpy(files, bytes, count * sizeof(*files));
	for (size_t i = 0; i < count; i++)
		findings_tame(&files[i].findings);
	scout->files.count += count;
	return 0;
}

/* How many processes were answered for; -EBADMSG for what no child of ours says. */
static int64_t take_answer(struct scout *scout, struct scout_job *job, const char *answer,
			   size_t size)
{
	struct scout_answer header;
	const char *cursor = answer + sizeof(header);
	size_t processes_size, base = scout->files.count;

	if (size < sizeof(header))
		return -EBADMSG;
	memcpy(&header, answer, sizeof(header));
	processes_size = header.process_count * sizeof(struct scouted_process);
	if (header.process_count > job->count || header.process_count == 0 ||
	    header.file_count > SCOUT_FILES_MAX ||
	    size != sizeof(header) + processes_size +
			    header.file_count * sizeof(struct scouted_file))
		return -EBADMSG;
	for (uint32_t i = 0; i < header.process_count; i++) {
		struct scouted_process said;

		memcpy(&said, cursor + i * sizeof(said), sizeof(said));
		if (!is_sound(&said, &job->processes[i], header.file_count))
			return -EBADMSG;
		for (int part = 0; part < PART_COUNT; part++)
			if (said.parts[part] != SCOUT_NONE)
				said.parts[part] += (uint32_t)base;
		job->processes[i] = said;
	}
	if (take_files(scout, cursor + processes_size, header.file_count) < 0)
		return -ENOMEM;
	return header.process_count;
}

/* The file or the process that cost us the child is left out from now on. */
static int leave_out(struct scout_job *job, enum scout_state state,
		     struct scout_left_out **left_out, size_t *left_out_count)
{
	struct scout_left_out *more =
		realloc(*left_out, (*left_out_count + 1) * sizeof(**left_out));

	if (!more)
		return -ENOMEM;
	*left_out = more;
	more[(*left_out_count)++] = (struct scout_left_out){ job->progress->file, state };
	job->left_out = more;
	job->left_out_count = *left_out_count;
	return 0;
}

/* The rest of the list. */
static void give_up(struct scout_job *job, enum scout_state state, int error)
{
	for (size_t i = 0; i < job->count; i++) {
		job->processes[i].state = state;
		job->processes[i].error = error;
	}
	job->processes += job->count;
	job->count = 0;
}

/* What cannot be started will not be. */
static void start_or_give_up(const struct scout *scout, struct scout_job *job)
{
	int status = start(scout, job);

	if (status < 0)
		give_up(job, status == -ETIME ? SCOUT_OUT_OF_TIME : SCOUT_NO_READER, status);
}

/* The process that the child was looking at when it was lost. */
static size_t suspect_index(const struct scout_job *job)
{
	return job->progress->process < job->count ? job->progress->process : 0;
}

/* Takes a process out of the list. */
static void drop(struct scout_job *job, size_t index, enum scout_state state)
{
	struct scouted_process dropped = job->processes[index];

	memmove(&job->processes[1], &job->processes[0], index * sizeof(dropped));
	dropped.state = state;
	job->processes[0] = dropped;
	job->processes++;
	job->count--;
}

/* All others of a user wait until everybody else was looked at. */
static void drop_user(struct scout_job *job, uint64_t user)
{
	size_t i = 0;

	while (i < job->count)
		if (job->processes[i].user == user)
			drop(job, i, SCOUT_PUT_OFF);
		else
			i++;
}

static void drop_slow_users(const struct scout *scout, struct scout_job *job)
{
	for (size_t i = 0; scout->slow && i < scout->slow->list.count; i++)
		drop_user(job, scout->slow->list.data[i]);
}

static void reverse(struct scouted_process *processes, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		struct scouted_process other = processes[i];

		processes[i] = processes[count - 1 - i];
		processes[count - 1 - i] = other;
	}
}

/*
 * Those that were looked at when the child was lost come last, in smaller company, so that
 * whoever means harm keeps few others from being looked at while there is time.
 */
static void put_off(struct scout_job *job)
{
	size_t suspects = job->batch < job->count ? job->batch : job->count;

	reverse(job->processes, suspects);
	reverse(job->processes + suspects, job->count - suspects);
	reverse(job->processes, job->count);
	job->batch = (suspects + SMALLER - 1) / SMALLER;
}

/* The largest answer to any job. */
static size_t answer_capacity(const struct scout *scout)
{
	return sizeof(struct scout_answer) +
	       scout->processes.count * sizeof(struct scouted_process) +
	       SCOUT_FILES_MAX * sizeof(struct scouted_file);
}

static int finish(struct scout *scout, struct scout_job *job, char *answer)
{
	size_t size;
	int64_t taken = confined_finish(&job->child, answer, answer_capacity(scout), &size);

	/* How it ended is the child's own word, unless we ended it: no failure of ours. */
	if (taken < 0 && taken != -ETIMEDOUT)
		taken = -EPROTO;
	if (taken == 0)
		taken = take_answer(scout, job, answer, size);
	if (taken <= 0)
		return taken == 0 ? -EBADMSG : (int)taken;
	job->processes += taken;
	job->count -= (size_t)taken;
	return 0;
}

/*
 * A child was lost: to a process that blocked it while it was being opened, which goes out itself,
 * or to a file.  The user who made us wait is noted, unless it was our own time that was short.
 */
static int blame(struct scout *scout, struct scout_job *job, int outcome,
		 struct scout_left_out **left_out, size_t *left_out_count)
{
	size_t suspect = suspect_index(job);
	uint64_t user = job->processes[suspect].user;
	bool is_late = outcome == -ETIMEDOUT, had_time = job->allowed_ms >= FAIR_MS;
	int status = 0;

	if (is_late && !job->progress->is_parsing)
		drop(job, suspect, had_time ? SCOUT_BLOCKED : SCOUT_OUT_OF_TIME);
	else
		status = leave_out(job, is_late ? SCOUT_OUT_OF_TIME : SCOUT_DAMAGED, left_out,
				   left_out_count);
	if (status == 0 && is_late && had_time && scout->slow)
		status = slow_users_add(scout->slow, user);
	return status;
}

/* What the loss of a child makes of those that it was to look at. */
static enum scout_state what_was_lost(const struct scout_job *job, int outcome)
{
	if (outcome == -ETIMEDOUT)
		return SCOUT_OUT_OF_TIME;
	return job->progress->is_parsing ? SCOUT_DAMAGED : SCOUT_NO_READER;
}

/* The first child of a job was started; others follow until the list is done. */
static int finish_job(struct scout *scout, struct scout_job *job, char *answer)
{
	struct scout_left_out *left_out = NULL;
	size_t left_out_count = 0;
	unsigned lost = 0;
	int status = 0;

	while (job->count && status == 0) {
		int outcome = finish(scout, job, answer);

		if (outcome == -ENOMEM)
			status = outcome;
		else if (outcome < 0 && ++lost > LOST_MAX)
			give_up(job, what_was_lost(job, outcome), outcome);
		else if (outcome < 0)
			status = blame(scout, job, outcome, &left_out, &left_out_count);
		drop_slow_users(scout, job);
		if (outcome < 0 && job->count)
			put_off(job);
		if (status == 0 && job->count)
			start_or_give_up(scout, job);
	}
	free(left_out);
	return status;
}

/* CPUs that have nothing to do, by what waited for one lately. */
static size_t idle_cpus(const struct host *host)
{
	size_t cpus = cpuset_count(&host->online);
	size_t most = cpus / 2 + 1;
	char line[128];
	const char *cursor = line;
	uint64_t load;

	if (!host_read_line(host->proc, "loadavg", line, sizeof(line)) || !scan_u64(&cursor, &load))
		return 1;
	if (load >= cpus)
		return 1;
	return cpus - load < most ? cpus - (size_t)load : most;
}

static size_t count_jobs(const struct scout *scout, const struct host *host)
{
	size_t useful = (scout->processes.count + JOB_PROCESSES - 1) / JOB_PROCESSES;
	size_t jobs = idle_cpus(host);

	if (jobs > useful)
		jobs = useful;
	return jobs > JOBS_MAX ? JOBS_MAX : jobs;
}

static void set_up_job(struct scout_job *job, struct scout *scout, const struct host *host,
		       size_t index, size_t jobs)
{
	size_t total = scout->processes.count;
	size_t first = total * index / jobs;

	job->host = host;
	job->batch = SCOUT_PROCESSES_MAX;
	job->processes = scout->processes.data + first;
	job->count = total * (index + 1) / jobs - first;
	for (size_t i = 0; i < job->count; i++) {
		struct scouted_process *process = &job->processes[i];

		for (int part = 0; part < PART_COUNT; part++)
			process->parts[part] = SCOUT_NONE;
	}
}

static int run_jobs(struct scout *scout, struct scout_job *jobs, size_t count, char *answer)
{
	int status = 0;

	for (size_t i = 0; i < count; i++)
		start_or_give_up(scout, &jobs[i]);
	for (size_t i = 0; i < count; i++) {
		int finished = finish_job(scout, &jobs[i], answer);

		status = status < 0 ? status : finished;
	}
	return status;
}

int scout_run(struct scout *scout, const struct host *host)
{
	size_t count = count_jobs(scout, host);
	size_t shared_size = count * sizeof(struct scout_progress);
	struct scout_progress *progress;
	struct scout_job *jobs;
	char *answer;
	int status = -ENOMEM;

	if (!count)
		return 0;
	jobs = calloc(count, sizeof(*jobs));
	answer = malloc(answer_capacity(scout));
	progress =
		mmap(NULL, shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (jobs && answer && progress != MAP_FAILED) {
		for (size_t i = 0; i < count; i++) {
			set_up_job(&jobs[i], scout, host, i, count);
			jobs[i].progress = &progress[i];
			jobs[i].memory_bytes = memory_budget(host, JOB_MEMORY, count);
		}
		status = run_jobs(scout, jobs, count, answer);
	}
	if (progress != MAP_FAILED)
		munmap(progress, shared_size);
	free(answer);
	free(jobs);
	return status;
}
