/* SPDX-License-Identifier: MIT */
#include "record/job/job_subject.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"
#include "record/job/mark/job_mark.h"

void job_scene_look(struct job_scene *scene, const struct host *host)
{
	struct host_clock clock = { 0 };

	scene->host = host;
	(void)host_clock(host, &clock);
	if (!host_read_line(host->proc, "sys/kernel/random/boot_id", scene->boot_id,
			    sizeof(scene->boot_id)))
		scene->boot_id[0] = '\0';
	scene->now = (struct job_instant){
		.unix_ns = clock.unix_ns,
		.boottime_ns = clock.boottime_ns,
		.boot_id = scene->boot_id[0] ? scene->boot_id : NULL,
	};
}

/* When the process of that directory began. */
static bool read_start(const struct host *host, int process, uint64_t *ret)
{
	char buffer[TASK_STAT_BYTES];
	struct task_stat stat;
	uint64_t ticks;

	if (task_stat_read(process, "stat", buffer, &stat) < 0 ||
	    !task_stat_number(&stat, TASK_STAT_START, &ticks))
		return false;
	*ret = ticks * host->tick_ns;
	return !task_state_is_dead(task_stat_state(&stat)) || process_has_living_thread(process);
}

bool job_process_start(const struct host *host, int32_t pid, uint64_t *ret_start_ns)
{
	CLEANUP(close_fd) int process = proc_open_number(host->proc, pid);

	return process >= 0 && read_start(host, process, ret_start_ns);
}

/* The user that a process really is; an effective one may be borrowed. */
static bool is_of_user(int process, uint32_t uid)
{
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	uint64_t owner;

	return proc_read(process, "status", &buffer) > 0 &&
	       task_status_number(buffer.data, "Uid", &owner) && owner == uid;
}

static int check_process(const struct job_scene *scene, struct job_mark *mark, struct error *error)
{
	CLEANUP(close_fd) int process = proc_open_number(scene->host->proc, mark->root.pid);
	uint64_t start_ns = 0;

	if (process < 0 || !read_start(scene->host, process, &start_ns))
		return error_set(error, -ESRCH, "there is no process %" PRId32, mark->root.pid);
	if (mark->root.start_ns && mark->root.start_ns != start_ns)
		return error_set(error, -ESRCH, "process %" PRId32 " is not the one that was meant",
				 mark->root.pid);
	if (mark->uid != 0 && !is_of_user(process, mark->uid))
		return error_set(error, -EPERM,
				 "process %" PRId32 " belongs to another user: root can mark it",
				 mark->root.pid);
	mark->root.start_ns = start_ns;
	return 0;
}

static const char *below(const char *path)
{
	path += strspn(path, "/");
	return *path ? path : ".";
}

static int check_directory(int dir, const char *path, const char *what, uint32_t uid,
			   struct error *error)
{
	struct stat found;

	if (fstatat(dir, path, &found, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(found.st_mode))
		return error_set(error, -ENOENT, "there is no %s '%s'", what, path);
	return uid == 0 || found.st_uid == uid ?
		       0 :
		       error_set(error, -EPERM,
				 "the %s '%s' belongs to another user: root can mark it", what,
				 path);
}

int job_subject_check(const struct job_scene *scene, struct job_mark *mark, struct error *error)
{
	int status = mark->root.pid ? check_process(scene, mark, error) : 0;

	if (status == 0 && mark->cgroup)
		status =
			scene->host->cgroup.fd < 0 || strstr(mark->cgroup, "..") ?
				error_set(error, -ENOENT, "there is no cgroup '%s'", mark->cgroup) :
				check_directory(scene->host->cgroup.fd, below(mark->cgroup),
						"cgroup", mark->uid, error);
	return status;
}

bool job_subject_lives(void *context, const struct job *job)
{
	const struct job_scene *scene = context;
	struct stat found;
	uint64_t start_ns;

	if (job->boot_id && scene->boot_id[0] && strcmp(job->boot_id, scene->boot_id) != 0)
		return false;
	if (job->cgroup)
		return scene->host->cgroup.fd >= 0 &&
		       fstatat(scene->host->cgroup.fd, below(job->cgroup), &found, 0) == 0;
	return job->root.pid && job_process_start(scene->host, job->root.pid, &start_ns) &&
	       start_ns == job->root.start_ns;
}

void job_subject_judge(const struct job_scene *scene, struct job *job)
{
	bool is_of_boot = !job->boot_id || strcmp(job->boot_id, scene->boot_id) == 0;
	bool may_see = geteuid() == 0 || geteuid() == job->uid;

	/* Who may not see the processes of others cannot tell whether they are there. */
	if (job->outcome == JOB_RUNNING && (may_see || !is_of_boot) &&
	    !job_subject_lives((void *)scene, job))
		job->outcome = JOB_UNKNOWN;
}
