/* SPDX-License-Identifier: MIT */
/*
 * A program whose heartbeat is looked at.  Usage: beating SCENE; it goes on until its standard input
 * ends, and prints who does what, one "NAME NUMBER" a line.  Everything else is up to the environment.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <taskscope.h>

#include "scene.h"

static void print_line(void *context, enum taskscope_level level, const char *line)
{
	printf("%s %d %s\n", (const char *)context, (int)level, line);
	fflush(stdout);
}

static int start_with_log(void)
{
	return taskscope_start(&(struct taskscope_options){
		.size = sizeof(struct taskscope_options),
		.log = print_line,
		.log_context = "logged",
	});
}

static void end_program(void *context, enum taskscope_level level, const char *line)
{
	(void)context;
	(void)level;
	(void)line;
	exit(7);
}

static int start_with_deadly_log(void)
{
	return taskscope_start(&(struct taskscope_options){
		.size = sizeof(struct taskscope_options),
		.log = end_program,
	});
}

/* No more threads for this user, who must not be root. */
static int start_without_threads(void)
{
	struct rlimit before, none;
	int error;

	if (geteuid() == 0 && setresuid(65534, 65534, 65534))
		abort();
	getrlimit(RLIMIT_NPROC, &before);
	none = (struct rlimit){ 0, before.rlim_max };
	setrlimit(RLIMIT_NPROC, &none);
	error = taskscope_start(NULL);
	setrlimit(RLIMIT_NPROC, &before);
	return error;
}

static void on_signal(int number)
{
	(void)number;
	if (write(STDOUT_FILENO, "own handler\n", 12) < 0)
		abort();
}

static int start_with_own_handler(void)
{
	signal(SIGUSR2, on_signal);
	return taskscope_start(NULL);
}

static int start(void)
{
	return taskscope_start(NULL);
}

static const struct {
	const char *name;
	void (*play)(void);
	int (*start)(void);
} scenes[] = {
	{ "idle", scene_idle, start },
	{ "dump", scene_dump, start },
	{ "phases", scene_phases, start },
	{ "progress", scene_progress, start },
	{ "endless", scene_endless, start },
	{ "burner", scene_burner, start },
	{ "steady", scene_steady, start },
	{ "labels", scene_labels, start },
	{ "statistics", scene_statistics, start },
	{ "fork", scene_fork, start },
	{ "rounds", scene_rounds, start },
	{ "stopped", scene_stopped, start },
	{ "deadlock", scene_deadlock, start },
	{ "pool", scene_pool, start },
	{ "spin", scene_spin, start },
	{ "starve", scene_starve, start },
	{ "quota", scene_quota, start },
	{ "commanded", scene_commanded, start },
	{ "limits", scene_limits, start },
	{ "crowd", scene_crowd, start },
	{ "doomed", scene_doomed, start },
	{ "log", scene_deadlock, start_with_log },
	{ "deadly-log", scene_idle, start_with_deadly_log },
	{ "threadless", scene_idle, start_without_threads },
	{ "own-handler", scene_idle, start_with_own_handler },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (argc != 2 || strcmp(argv[1], scenes[i].name))
			continue;
		say("started", (unsigned long long)-scenes[i].start());
		scenes[i].play();
		return 0;
	}
	fprintf(stderr, "usage: beating SCENE\n");
	return 2;
}
