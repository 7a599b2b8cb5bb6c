/* SPDX-License-Identifier: MIT */
#include "session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "host/host.h"
#include "model/path/timeline.h"
#include "model/tree/run.h"
#include "session/attachable.h"
#include "session/environment.h"
#include "session/watch/watch.h"
#include "store/run/run_json.h"

static int no_memory(struct error *error)
{
	return error_set(error, -ENOMEM, "out of memory");
}

static int cannot_wait(int status, struct error *error)
{
	return error_set(error, status, "cannot wait for events: %s", strerror(-status));
}

/* Opens the host, and what can fail only when memory or descriptors run out. */
static int prepare(struct watch *watch, const struct session_options *options, struct error *error)
{
	int status = watch_open(watch, options);

	if (status < 0)
		return cannot_wait(status, error);
	if (lines_open(&watch->output.lines, options->lines) < 0 || run_new(&watch->run) < 0 ||
	    (!options->no_critical_path && timeline_new(&watch->run->timeline) < 0))
		return no_memory(error);
	watch->run->interval_ns = options->interval_ns ? options->interval_ns : SAMPLER_SHORTEST_NS;
	watch->run->duration_ns =
		(struct run_number){ options->duration_ns > 0, options->duration_ns };
	return host_open(&watch->host, NULL, error);
}

static struct tracer_stack_options stack_options(const struct session_options *options)
{
	if (options->no_stacks)
		return (struct tracer_stack_options){ 0 };
	return (struct tracer_stack_options){ options->stack_frequency_hz,
					      options->off_cpu_min_ns };
}

static int open_tracer(struct watch *watch, struct error *error)
{
	struct tracer_options wanted = {
		.syscalls = !watch->options->no_syscalls && !watch->options->since_start,
		.waits = !watch->options->no_critical_path && !watch->options->since_start,
		.since_start = watch->options->since_start,
		.stacks = stack_options(watch->options),
	};
	int status =
		tracer_open(watch->host, watch->options->source, &wanted, &watch->tracer, error);

	return status < 0 ? status : environment_write(watch, error);
}

static int open_signals(struct watch *watch, struct error *error)
{
	static const int taken[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		sigaddset(&set, taken[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	watch->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watch->signals.fd < 0)
		return error_set(error, -errno, "cannot watch for signals: %s", strerror(errno));
	return 0;
}

static int report_memory(struct watch *watch)
{
	struct tree_process_facts found = { 0 };
	bool has_rss = process_facts_read(watch->host, watch->run->pid, 0, &found) == 0 &&
		       found.present & TREE_PROCESS_RSS;

	return run_add_source(watch->run, "memory", has_rss ? SOURCE_OK : SOURCE_UNAVAILABLE,
			      has_rss ? NULL : "the memory of the process cannot be read");
}

/* What cannot be written at the end is said before anything starts. */
static int check_stacks(const struct watch *watch, struct error *error)
{
	const struct source_report *source = run_source(watch->run, "stacks");
	const char *path = watch->options->stacks_file;

	if (!path || run_source_works(source))
		return 0;
	return error_set(error, -ENODATA, "cannot write '%s': the run would have no stacks%s%s",
			 path, source && source->reason ? ": " : "",
			 source && source->reason ? source->reason : "");
}

/* Writes the manifest and the first lines.  If that fails, nothing is started. */
static int write_metadata(struct watch *watch, struct error *error)
{
	struct tracer_stack_options stacks = stack_options(watch->options);
	FILE *out = lines_begin(&watch->output.lines);
	int status = tracer_report(watch->tracer, watch->run);

	if (status == 0)
		status = watch_report_members(watch);
	if (status == 0)
		status = report_memory(watch);
	if (status == 0)
		status = limits_report(&watch->limits, watch->run);
	if (status == 0 && !watch_is_attached(watch))
		status = watch_report_hardware(watch);
	if (status == 0)
		status = phases_begin(&watch->phases, watch->host, watch->tracer, watch->run);
	if (status == 0)
		status = stack_watch_open(watch->host, watch->tracer, &stacks, watch->run,
					  &watch->stacks);
	if (status < 0)
		return no_memory(error);
	status = check_stacks(watch, error);
	if (status < 0 || !out)
		return status;
	run_json_metadata(out, watch->run);
	lines_end(&watch->output.lines);
	status = lines_flush(&watch->output.lines);
	if (status < 0)
		return error_set(error, status,
				 "cannot write the output: %s: nothing was started; write it "
				 "elsewhere (-o FILE)",
				 strerror(-status));
	return 0;
}

static void begin_now(struct watch *watch)
{
	struct run *run = watch->run;

	watch->begin_ns = monotonic_ns();
	run->begin_ns = run->end_ns = watch->begin_ns;
	run->begin_unix_ns = clock_ns(CLOCK_REALTIME);
	run->limits.online_cpus = cpuset_count(&watch->host->online);
}

/* Sets the sentence about what failed, even if everything else worked. */
static int check_result(const struct watch *watch, struct error *error)
{
	if (watch->failure)
		return error_set(error, watch->failure,
				 "the processes could not be looked at any more: %s",
				 strerror(-watch->failure));
	if (watch->output.lines.lost == 0)
		return 0;
	return error_set(error, watch->output.lines.error ? watch->output.lines.error : -EIO,
			 "%" PRIu64 " lines of the output could not be written: %s",
			 watch->output.lines.lost, strerror(-watch->output.lines.error));
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int cannot_run(const char *command, int status, struct error *error)
{
	/*
	 * EACCES may come from a folder of PATH that may not be searched: then the command is
	 * missing.
	 */
	bool is_missing = status == -ENOENT ||
			  (status == -EACCES && !strchr(command, '/') && !launch_in_path(command));

	if (is_missing && !strchr(command, '/'))
		error_set(error, status, "there is no command '%s'", command);
	else
		error_set(error, status, "cannot run '%s': %s", command, strerror(-status));
	return is_missing ? SESSION_NOT_FOUND : SESSION_CANNOT_EXEC;
}

static int copy_command(struct run *run, char **command)
{
	size_t count = 0;

	while (command[count])
		count++;
	run->command = arena_alloc(&run->arena, (count + 1) * sizeof(*run->command));
	if (!run->command)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		run->command[i] = arena_copy(&run->arena, command[i], strlen(command[i]));
		if (!run->command[i])
			return -ENOMEM;
	}
	run->command[count] = NULL;
	return 0;
}

/* Forks the command, follows it, and holds it until the first lines are written. */
static int hold_command(struct watch *watch, char **command, const struct launch_found *found,
			struct error *error)
{
	int32_t pid;
	int status = launch_hold(&watch->command.launch, command, found, error);

	if (status < 0)
		return status;
	pid = watch->run->pid = watch->command.launch.pid;
	if (watch_know_roots(watch, &pid, 1) < 0)
		return no_memory(error);
	status = watch->tracer->kind->follow(watch->tracer->state, &pid, 1, true, error);
	if (status < 0)
		return error_set(error, status, "cannot follow the command: %s", strerror(-status));
	begin_now(watch);
	watch_open_hardware(watch);
	watch_open_gpu(watch);
	if (watch_count_command(watch, pid) < 0 ||
	    limits_begin(&watch->limits, watch->host, pid) < 0)
		return no_memory(error);
	return write_metadata(watch, error);
}

/* Time counts from the moment at which the command is released. */
static int start(struct watch *watch, struct error *error)
{
	int status;

	begin_now(watch);
	status = watch_start(watch);
	return status < 0 ? cannot_wait(status, error) : 0;
}

/* Returns the command's status, or why it never ran. */
static int conclude_run(struct watch *watch, char **command, struct run **ret, struct error *error)
{
	if (watch->command.launch.exec_fd >= 0)
		watch->command.exec_error = launch_result(&watch->command.launch);
	if (watch->command.exec_error)
		return cannot_run(command[0], watch->command.exec_error, error);
	if (watch_finish(watch) < 0) {
		error_set(error, -ENOMEM, "out of memory: there is no report and no summary");
	} else {
		*ret = TAKE_PTR(watch->run);
		(void)check_result(watch, error);
	}
	return watch->command.timed_out ? SESSION_TIMED_OUT : exit_status(watch->command.status);
}

int session_run(const struct session_options *options, char **command, struct run **ret,
		struct error *error)
{
	uint64_t entered_ns = monotonic_ns();
	CLEANUP(watch_close) struct watch watch = { 0 };
	struct launch_found found;
	int status;

	launch_remember(&found);
	status = prepare(&watch, options, error);
	if (status == 0 && copy_command(watch.run, command) < 0)
		status = no_memory(error);
	if (status == 0)
		status = open_tracer(&watch, error);
	if (status == 0)
		status = open_signals(&watch, error);
	if (status == 0)
		status = hold_command(&watch, command, &found, error);
	if (status == 0)
		status = start(&watch, error);
	if (status < 0) {
		launch_cancel(&watch.command.launch);
		return SESSION_FAILED;
	}
	watch.run->self.startup_ns = watch.begin_ns - entered_ns;
	launch_release(&watch.command.launch);
	watch_loop(&watch);
	return conclude_run(&watch, command, ret, error);
}

static int attach(struct watch *watch, const int32_t *pids, size_t count, struct error *error)
{
	int status = 0;

	watch->run->mode = RUN_ATTACH;
	if (run_set_pids(watch->run, pids, count) < 0 || watch_know_roots(watch, pids, count) < 0)
		return no_memory(error);
	for (size_t i = 0; i < count && status == 0; i++)
		status = process_attachable(watch->host, pids[i], error);
	if (status == 0)
		status = open_tracer(watch, error);
	if (status < 0)
		return status;
	begin_now(watch);
	status = watch->tracer->kind->follow(watch->tracer->state, pids, count, false, error);
	if (status < 0)
		return error_set(error, status, "cannot attach: %s", strerror(-status));
	watch_begin_with_roots(watch);
	watch_open_hardware(watch);
	watch_open_gpu(watch);
	if (limits_begin(&watch->limits, watch->host, pids[0]) < 0)
		return no_memory(error);
	return write_metadata(watch, error);
}

int session_attach(const struct session_options *options, const int32_t *pids, size_t count,
		   struct run **ret, struct error *error)
{
	uint64_t entered_ns = monotonic_ns();
	CLEANUP(watch_close) struct watch watch = { 0 };
	sigset_t mask;
	int status;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	status = prepare(&watch, options, error);
	if (status == 0)
		status = attach(&watch, pids, count, error);
	if (status == 0)
		status = open_signals(&watch, error);
	if (status == 0) {
		status = watch_start(&watch);
		if (status < 0)
			cannot_wait(status, error);
	}
	if (status == 0) {
		watch.run->self.startup_ns = monotonic_ns() - entered_ns;
		watch_drain(&watch);
		phases_search(&watch.phases, monotonic_ns());
		status = watch_count_members(&watch);
		if (status == 0)
			status = watch_begin_samples(&watch);
		if (status == 0) {
			watch_loop(&watch);
			status = watch_finish(&watch);
		}
		status = status < 0 ? no_memory(error) : 0;
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (status < 0)
		return status;
	*ret = TAKE_PTR(watch.run);
	return check_result(&watch, error);
}
