#include "collect/jemalloc_scout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "collect/proc_file.h"
#include "host/confine.h"
#include "host/host.h"
#include "host/process_maps.h"

#define FILES_MAX 768	 /* that one child may have open */
#define JOBS_MAX 16	 /* children at once */
#define JOB_PROCESSES 16 /* fewer are not worth a second child */
#define LOST_MAX 32	 /* children that may be lost before the rest is given up */
#define JOB_MEMORY ((uint64_t)2 << 30)
#define JOB_CPU_SECONDS 10
#define JOB_TIMEOUT_MS 3000

/*
 * Where a child is, in memory that it shares with us: what it was doing when it
 * was lost.  A child that strangers took over can write anything here, and so
 * have one file or process of its own list left out.
 */
struct progress {
	bool is_parsing; /* else opening */
	uint32_t process;
	struct file_id file;
	uint32_t prepared; /* processes whose files are open: others wait for the next child */
};

struct open_file {
	struct file_id id;
	int fd; /* -1: could not be opened, or is to be left out */
	bool is_left_out;
	bool is_inspected;
	struct elf_findings *findings; /* NULL: nothing in it for us */
	uint32_t number;	       /* in the answer */
	int32_t tgid;
	struct process_mapping mapping; /* in that process; the name is below */
	char name[256];
};

/* A process has a file mapped. */
struct use {
	uint32_t process, file;
	bool is_executable;
	struct address_range place;
};

struct job {
	const struct host *host;
	struct scouted_process *processes; /* the slice of this child */
	size_t count;
	const struct file_id *left_out;
	size_t left_out_count;
	struct progress *progress;
	struct confined_job child;

	int keep[FILES_MAX]; /* the child's fds; -1 for none */

	/* The child's own: nothing of it costs us memory. */
	ARRAY_OF(struct open_file) files;
	ARRAY_OF(struct use) uses;
};

/* What the child says: this, the processes that were prepared, the files. */
struct answer_header {
	uint32_t process_count, file_count;
};

void scout_clear(struct scout *scout)
{
	array_free(&scout->processes);
	array_free(&scout->files);
}

static bool same_file(struct file_id one, struct file_id other)
{
	return one.device == other.device && one.inode == other.inode;
}

/* ---- in the child, with our rights: opening ---- */

static bool is_left_out(const struct job *job, struct file_id id)
{
	for (size_t i = 0; i < job->left_out_count; i++)
		if (same_file(job->left_out[i], id))
			return true;
	return false;
}

/* Its number, or SCOUT_NONE. */
static uint32_t find_file(const struct job *job, struct file_id id)
{
	for (size_t i = 0; i < job->files.count; i++)
		if (same_file(job->files.data[i].id, id))
			return (uint32_t)i;
	return SCOUT_NONE;
}

struct address_range file_place(const struct process_maps *maps, struct file_id id)
{
	struct address_range place = { 0 };

	for (size_t i = 0; i < maps->mappings.count; i++) {
		const struct process_mapping *mapping = &maps->mappings.data[i];

		if (mapping->device != id.device || mapping->inode != id.inode)
			continue;
		if (!place.end)
			place.start = mapping->start;
		place.end = mapping->end;
	}
	return place;
}

static void note_mapping(struct open_file *file, int32_t tgid,
			 const struct process_mapping *mapping)
{
	file->tgid = tgid;
	file->mapping = *mapping;
	file->mapping.name = NULL;
	if (strlen(mapping->name) < sizeof(file->name))
		snprintf(file->name, sizeof(file->name), "%s", mapping->name);
}

static int open_file(struct job *job, uint32_t index, int process,
		     const struct process_mapping *mapping, uint32_t *ret_number)
{
	struct open_file file = { .id = { mapping->device, mapping->inode }, .fd = -1 };
	size_t count = job->files.count;

	*ret_number = find_file(job, file.id);
	if (*ret_number != SCOUT_NONE)
		return 0;
	if (count == FILES_MAX)
		return -ENFILE;
	file.is_left_out = is_left_out(job, file.id);
	note_mapping(&file, job->processes[index].tgid, mapping);
	job->progress->file = file.id;
	if (!file.is_left_out)
		file.fd = process_mapping_open(process, mapping);
	if (file.fd >= 0)
		job->keep[count] = file.fd;
	*ret_number = (uint32_t)count;
	return array_append(&job->files, file);
}

/* 0, -ENFILE when there is no room for all of them, or -ENOMEM. */
static int open_files(struct job *job, uint32_t index, int process, const struct process_maps *maps)
{
	struct program_image image = { 0 };
	const struct process_mapping *entry = NULL;
	const struct process_mapping *mapping;
	size_t cursor = 0;

	if (program_image_read(process, &image) == 0)
		entry = process_maps_at(maps, image.entry);
	while ((mapping = process_maps_next_file(maps, &cursor))) {
		struct file_id id = { mapping->device, mapping->inode };
		struct use use = { .process = index, .place = file_place(maps, id) };
		int status = open_file(job, index, process, mapping, &use.file);

		if (status < 0)
			return status;
		use.is_executable = entry && entry->device == id.device && entry->inode == id.inode;
		if (array_append(&job->uses, use) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int open_process(struct job *job, uint32_t index)
{
	struct scouted_process *process = &job->processes[index];
	CLEANUP(close_fd) int dir = proc_open_number(job->host->proc, process->tgid);
	CLEANUP(process_maps_clear) struct process_maps maps = { 0 };
	size_t uses = job->uses.count;
	int status = dir < 0 ? dir : process_maps_read(dir, &maps);

	if (status == -ENOMEM)
		return status;
	process->error = status;
	process->state = status == 0			       ? SCOUT_LOOKED :
			 status == -ESRCH || status == -ENOENT ? SCOUT_GONE :
								 SCOUT_NO_MAPS;
	if (status < 0)
		return 0;
	status = open_files(job, index, dir, &maps);
	if (status < 0)
		job->uses.count = uses;
	return status;
}

/* As many files as we may have; what does not fit is for another child. */
static int prepare(void *argument)
{
	struct job *job = argument;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	for (uint32_t i = 0; i < job->count; i++) {
		int status;

		job->progress->process = i;
		status = open_process(job, i);
		if (status == -ENFILE && i > 0)
			return 0;
		if (status < 0 && status != -ENFILE)
			return status;
		job->progress->prepared = i + 1;
	}
	return 0;
}

/* ---- in the child, without any right: reading ---- */

static bool holds_jemalloc(const struct open_file *file)
{
	const struct elf_findings *findings = file->findings;

	return findings && (findings->has_tsd || findings->mentions_jemalloc ||
			    (findings->exports_mallctl && findings->tls.present));
}

static int inspect_file(struct job *job, struct open_file *file)
{
	struct elf_findings *findings;

	if (file->fd < 0 || file->is_inspected)
		return 0;
	file->is_inspected = true;
	job->progress->file = file->id;
	findings = malloc(sizeof(*findings));
	if (!findings)
		return -ENOMEM;
	if (elf_inspect(file->fd, findings) < 0) {
		free(findings);
		return 0;
	}
	file->findings = findings;
	return 0;
}

/* The executable counts first: its own jemalloc is the one that it uses. */
static const struct use *find_holder(const struct job *job, const struct use *uses, size_t count)
{
	const struct use *holder = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct use *use = &uses[i];

		if (!holds_jemalloc(&job->files.data[use->file]))
			continue;
		if (use->is_executable)
			return use;
		/* Words alone do not make a library one that is in use. */
		if (!holder && !job->files.data[use->file].findings->mentions_jemalloc)
			holder = use;
	}
	return holder;
}

static void set_part(struct scouted_process *process, enum scout_part part, const struct use *use)
{
	process->parts[part] = use->file;
	process->places[part] = use->place;
}

static void name_parts(const struct job *job, const struct use *uses, size_t count,
		       struct scouted_process *process)
{
	for (size_t i = 0; i < count; i++) {
		const struct elf_findings *findings = job->files.data[uses[i].file].findings;

		if (!findings)
			continue;
		if (uses[i].is_executable)
			set_part(process, PART_EXECUTABLE, &uses[i]);
		if (findings->symbols[ELF_SYMBOL__thread_db_pthread_tid])
			set_part(process, PART_LIBRARY, &uses[i]);
		if (findings->symbols[ELF_SYMBOL__rtld_global])
			set_part(process, PART_LOADER, &uses[i]);
	}
}

static bool is_named_like_libc(const struct open_file *file)
{
	const char *slash = strrchr(file->name, '/');
	const char *name = slash ? slash + 1 : file->name;

	return strncmp(name, "ld", 2) == 0 || strncmp(name, "libc", 4) == 0;
}

/* Names are a hint: where the parts are not found under the usual ones, all files are looked at. */
static int find_parts(struct job *job, const struct use *uses, size_t count,
		      struct scouted_process *process)
{
	for (int everything = 0; everything < 2; everything++) {
		for (size_t i = 0; i < count; i++) {
			struct open_file *file = &job->files.data[uses[i].file];

			if ((everything || uses[i].is_executable || is_named_like_libc(file)) &&
			    inspect_file(job, file) < 0)
				return -ENOMEM;
		}
		name_parts(job, uses, count, process);
		if (process->parts[PART_LIBRARY] != SCOUT_NONE &&
		    process->parts[PART_LOADER] != SCOUT_NONE)
			break;
	}
	return 0;
}

static int judge_process(struct job *job, uint32_t index, const struct use *uses, size_t count)
{
	struct scouted_process *process = &job->processes[index];
	const struct use *holder = find_holder(job, uses, count);

	if (holder) {
		set_part(process, PART_HOLDER, holder);
		return find_parts(job, uses, count, process);
	}
	for (size_t i = 0; i < count; i++)
		if (job->files.data[uses[i].file].is_left_out)
			process->state = SCOUT_DAMAGED;
	return 0;
}

static int judge_processes(struct job *job)
{
	const struct use *uses = job->uses.data;
	size_t total = job->uses.count;

	while (total) {
		size_t count = 0;

		while (count < total && uses[count].process == uses->process)
			count++;
		if (judge_process(job, uses->process, uses, count) < 0)
			return -ENOMEM;
		uses += count;
		total -= count;
	}
	return 0;
}

static int write_all(int fd, const void *bytes, size_t length)
{
	const char *cursor = bytes;

	while (length) {
		ssize_t written = write(fd, cursor, length);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written < 0)
			continue;
		cursor += written;
		length -= (size_t)written;
	}
	return 0;
}

/* Gives the file a number in the answer, which takes the place of ours. */
static void number_file(struct job *job, uint32_t *file, uint32_t *next)
{
	struct open_file *found;

	if (*file == SCOUT_NONE)
		return;
	found = &job->files.data[*file];
	if (!found->findings) {
		*file = SCOUT_NONE;
		return;
	}
	if (found->number == SCOUT_NONE)
		found->number = (*next)++;
	*file = found->number;
}

static uint32_t number_files(struct job *job, uint32_t process_count)
{
	uint32_t next = 0;

	for (size_t i = 0; i < job->files.count; i++)
		job->files.data[i].number = SCOUT_NONE;
	for (uint32_t i = 0; i < process_count; i++) {
		struct scouted_process *process = &job->processes[i];

		for (int part = 0; part < PART_COUNT; part++)
			number_file(job, &process->parts[part], &next);
	}
	return next;
}

static void fill_file(const struct open_file *file, struct scouted_file *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->id = file->id;
	ret->tgid = file->tgid;
	ret->mapping = (struct address_range){ file->mapping.start, file->mapping.end };
	memcpy(ret->name, file->name, sizeof(ret->name));
	memcpy(&ret->findings, file->findings, sizeof(ret->findings));
}

static int write_files(const struct job *job, uint32_t count, int answer)
{
	struct scouted_file out;
	int status = 0;

	for (uint32_t number = 0; number < count && status == 0; number++)
		for (size_t i = 0; i < job->files.count && status == 0; i++) {
			if (job->files.data[i].number != number)
				continue;
			fill_file(&job->files.data[i], &out);
			status = write_all(answer, &out, sizeof(out));
		}
	return status;
}

static int answer_all(struct job *job, int answer)
{
	struct answer_header header = { .process_count = job->progress->prepared };
	int status;

	header.file_count = number_files(job, header.process_count);
	status = write_all(answer, &header, sizeof(header));
	if (status == 0)
		status = write_all(answer, job->processes,
				   header.process_count * sizeof(*job->processes));
	return status < 0 ? status : write_files(job, header.file_count, answer);
}

static int work(void *argument, int answer)
{
	struct job *job = argument;

	job->progress->is_parsing = true;
	for (size_t i = 0; i < job->files.count; i++) {
		job->progress->file = job->files.data[i].id;
		if (job->files.data[i].fd >= 0 && elf_may_have_tsd(job->files.data[i].fd) &&
		    inspect_file(job, &job->files.data[i]) < 0)
			return -ENOMEM;
	}
	if (judge_processes(job) < 0)
		return -ENOMEM;
	return answer_all(job, answer);
}

/* ---- in the capture ---- */

static int start(struct job *job)
{
	struct confine_limits limits = {
		.rules = CONFINE_PARSER,
		.memory_bytes = JOB_MEMORY,
		.cpu_seconds = JOB_CPU_SECONDS,
		.keep = job->keep,
		.keep_count = FILES_MAX,
		.prepare = prepare,
	};

	for (size_t i = 0; i < FILES_MAX; i++)
		job->keep[i] = -1;
	memset(job->progress, 0, sizeof(*job->progress));
	return confined_start(&job->child, &limits, JOB_TIMEOUT_MS, work, job);
}

/* The child may have been taken over: nothing that it says is used as a number unseen. */
static bool is_sound(const struct scouted_process *said, const struct scouted_process *asked,
		     uint32_t file_count)
{
	for (int part = 0; part < PART_COUNT; part++)
		if (said->parts[part] != SCOUT_NONE && said->parts[part] >= file_count)
			return false;
	return said->tgid == asked->tgid && said->row == asked->row && said->state <= SCOUT_DAMAGED;
}

/* Strings that must end, and flags that must be flags. */
static void tame(struct scouted_file *file)
{
	struct elf_findings *findings = &file->findings;

	file->name[sizeof(file->name) - 1] = '\0';
	findings->debuglink[sizeof(findings->debuglink) - 1] = '\0';
	findings->tsd_name[sizeof(findings->tsd_name) - 1] = '\0';
	findings->mallctl_name[sizeof(findings->mallctl_name) - 1] = '\0';
	if (findings->build_id_size > ELF_BUILD_ID_SIZE)
		findings->build_id_size = 0;
}

static int take_files(struct scout *scout, const char *bytes, size_t count)
{
	struct scouted_file *files;

	if (array_reserve(&scout->files, scout->files.count + count) < 0)
		return -ENOMEM;
	files = scout->files.data + scout->files.count;
	memcpy(files, bytes, count * sizeof(*files));
	for (size_t i = 0; i < count; i++)
		tame(&files[i]);
	scout->files.count += count;
	return 0;
}

/* How many processes were answered for; -EBADMSG for what no child of ours says. */
static int64_t take_answer(struct scout *scout, struct job *job, const char *answer, size_t size)
{
	struct answer_header header;
	const char *cursor = answer + sizeof(header);
	size_t processes_size, base = scout->files.count;

	if (size < sizeof(header))
		return -EBADMSG;
	memcpy(&header, answer, sizeof(header));
	processes_size = header.process_count * sizeof(struct scouted_process);
	if (header.process_count > job->count || header.process_count == 0 ||
	    header.file_count > FILES_MAX ||
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
static int leave_out(struct job *job, struct file_id **left_out, size_t *left_out_count)
{
	const struct progress *progress = job->progress;
	struct file_id *more = realloc(*left_out, (*left_out_count + 1) * sizeof(**left_out));

	if (!more)
		return -ENOMEM;
	*left_out = more;
	more[(*left_out_count)++] = progress->file;
	job->left_out = more;
	job->left_out_count = *left_out_count;
	return 0;
}

static void give_up(struct job *job, size_t count)
{
	for (size_t i = 0; i < count; i++)
		job->processes[i].state = SCOUT_DAMAGED;
	job->processes += count;
	job->count -= count;
}

/* A process that blocked us while it was being opened goes out itself. */
static void drop_blocked(struct job *job)
{
	size_t index = job->progress->process < job->count ? job->progress->process : 0;
	struct scouted_process blocked = job->processes[index];

	memmove(&job->processes[1], &job->processes[0], index * sizeof(blocked));
	blocked.state = SCOUT_BLOCKED;
	job->processes[0] = blocked;
	job->processes++;
	job->count--;
}

/* The largest answer to any job. */
static size_t answer_capacity(const struct scout *scout)
{
	return sizeof(struct answer_header) +
	       scout->processes.count * sizeof(struct scouted_process) +
	       FILES_MAX * sizeof(struct scouted_file);
}

static int finish(struct scout *scout, struct job *job, char *answer)
{
	size_t size;
	int64_t taken = confined_finish(&job->child, answer, answer_capacity(scout), &size);

	if (taken == 0)
		taken = take_answer(scout, job, answer, size);
	if (taken <= 0)
		return taken == 0 ? -EBADMSG : (int)taken;
	job->processes += taken;
	job->count -= (size_t)taken;
	return 0;
}

/* The first child of a job was started; others follow until the list is done. */
static int finish_job(struct scout *scout, struct job *job, char *answer)
{
	struct file_id *left_out = NULL;
	size_t left_out_count = 0;
	unsigned lost = 0;
	int status = 0;

	while (job->count && status == 0) {
		int outcome = finish(scout, job, answer);

		if (outcome == -ENOMEM)
			status = outcome;
		else if (outcome < 0 && ++lost > LOST_MAX)
			give_up(job, job->count);
		else if (outcome == -ETIMEDOUT && !job->progress->is_parsing)
			drop_blocked(job);
		else if (outcome < 0)
			status = leave_out(job, &left_out, &left_out_count);
		if (status == 0 && job->count && start(job) < 0)
			give_up(job, job->count);
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

static void set_up_job(struct job *job, struct scout *scout, const struct host *host, size_t index,
		       size_t jobs)
{
	size_t total = scout->processes.count;
	size_t first = total * index / jobs;

	job->host = host;
	job->processes = scout->processes.data + first;
	job->count = total * (index + 1) / jobs - first;
	for (size_t i = 0; i < job->count; i++) {
		struct scouted_process *process = &job->processes[i];

		for (int part = 0; part < PART_COUNT; part++)
			process->parts[part] = SCOUT_NONE;
	}
}

static int run_jobs(struct scout *scout, struct job *jobs, size_t count, char *answer)
{
	int status = 0;

	for (size_t i = 0; i < count; i++)
		if (start(&jobs[i]) < 0)
			give_up(&jobs[i], jobs[i].count);
	for (size_t i = 0; i < count; i++) {
		int finished = finish_job(scout, &jobs[i], answer);

		status = status < 0 ? status : finished;
	}
	return status;
}

int scout_run(struct scout *scout, const struct host *host)
{
	size_t count = count_jobs(scout, host);
	size_t shared_size = count * sizeof(struct progress);
	struct progress *progress;
	struct job *jobs;
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
		}
		status = run_jobs(scout, jobs, count, answer);
	}
	if (progress != MAP_FAILED)
		munmap(progress, shared_size);
	free(answer);
	free(jobs);
	return status;
}
