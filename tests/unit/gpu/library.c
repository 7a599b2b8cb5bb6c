/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for libnvidia-ml.so.1: two GPUs, and what a flag makes go wrong.  Processes on the first one are those of
 * the file `processes` beside it: lines of a pid, the bytes and the percent that it has.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_FEW = 7, LOST_DEVICE = 15 };

#ifndef INIT_ERROR
#define INIT_ERROR 0
#endif
#ifndef COUNT_ERROR
#define COUNT_ERROR 0
#endif

#define GIB (1ull << 30)
#define PROCESSES 64

struct memory {
	unsigned long long total, free, used;
};

struct utilization {
	unsigned gpu, memory;
};

struct process {
	unsigned pid;
	unsigned long long used;
#ifndef FIRST_VERSION
	unsigned gpu_instance, compute_instance;
#endif
#ifdef WRONG_SIZE
	unsigned long long more; /* of a later version */
#endif
};

struct sample {
	unsigned pid;
	unsigned long long time_us;
	unsigned sm, memory, encoder, decoder;
};

static unsigned initialised, questions;

/* Beside the library, whatever name it was loaded by. */
static void name_beside(const char *name, char file[PATH_MAX + 64])
{
	char path[PATH_MAX] = "";
	Dl_info own;
	ssize_t length;

	length = dladdr(&initialised, &own) ? readlink(own.dli_fname, path, sizeof(path) - 1) : -1;
	path[length > 0 ? length : 0] = '\0';
	snprintf(file, PATH_MAX + 64, "%.*s/%s", length > 0 ? (int)(strrchr(path, '/') - path) : 0,
		 path, name);
}

/* Whoever waits for it knows that this process was told of so often that an answer was taken. */
static void show_that_it_was_told(void)
{
	static unsigned times;
	char file[PATH_MAX + 64];

	if (++times < 9)
		return;
	name_beside("told", file);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static unsigned read_processes(struct process *processes, unsigned *percents)
{
	char file[PATH_MAX + 64];
	unsigned count = 0;
	FILE *in;

	name_beside("processes", file);
	in = fopen(file, "re");
	while (in && count < PROCESSES &&
	       fscanf(in, "%u %llu %u", &processes[count].pid, &processes[count].used,
		      &percents[count]) == 3)
		count++;
	if (in)
		fclose(in);
	if (count)
		show_that_it_was_told();
	return count;
}

static void hang(int ms)
{
	poll(NULL, 0, ms);
}

#ifdef ENDS
__attribute__((constructor)) static void end(void)
{
	_exit(3);
}
#endif

#ifndef MISSING_INIT
int nvmlInit_v2(void)
{
#ifdef HANGS
	hang(-1);
#endif
	initialised++;
	return INIT_ERROR;
}
#endif

int nvmlShutdown(void)
{
	return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
#ifdef SLOW
	hang(300);
#endif
#ifdef CRASHES
	if (questions == 1)
		abort();
#endif
	questions++;
	*count = 2;
#ifdef WRONG_COUNT
	*count = 4000000000u;
#endif
	return COUNT_ERROR;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	*device = (void *)(long)(index + 1);
#ifdef LOST
	if (index == 1)
		return LOST_DEVICE;
#endif
	return SUCCESS;
}

static long number_of(void *device)
{
	return (long)device - 1;
}

int nvmlDeviceGetName(void *device, char *name, unsigned size)
{
	snprintf(name, size, "Pretend %ld", number_of(device));
#ifdef NOSY
	/* What it finds of its surroundings: variables, files, the folder. */
	extern char **environ;
	char folder[64] = "?";
	unsigned files = 0;

	for (int fd = 0; fd < 1024; fd++)
		files += fcntl(fd, F_GETFD) >= 0;
	snprintf(name, size, "%s files %u in %s as %u", environ[0] ? environ[0] : "nothing", files,
		 getcwd(folder, sizeof(folder)) ? folder : "?", (unsigned)geteuid());
#endif
	return SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size)
{
	snprintf(uuid, size, "GPU-%ld-of-%u", number_of(device), initialised);
	return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(void *device, struct utilization *ret)
{
	*ret = (struct utilization){ 40 + 50 * (unsigned)number_of(device), 7 };
#ifdef WILD
	ret->gpu = 4000;
#endif
	return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *ret)
{
	*ret = (struct memory){ 16 * GIB, 12 * GIB,
				4 * GIB + (unsigned long long)number_of(device) };
#ifdef WILD
	ret->used = 17 * GIB;
#endif
	return SUCCESS;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *ret)
{
	*ret = 50 + (unsigned)number_of(device);
	return sensor == 0 ? SUCCESS : NOT_SUPPORTED;
}

#ifndef MISSING
int nvmlDeviceGetPowerUsage(void *device, unsigned *ret)
{
	*ret = 61000 + (unsigned)number_of(device);
#ifdef UNSUPPORTED
	return NOT_SUPPORTED;
#endif
	return SUCCESS;
}

int nvmlDeviceGetProcessUtilization(void *device, struct sample *samples, unsigned *count,
				    unsigned long long since)
{
	struct process processes[PROCESSES];
	unsigned percents[PROCESSES], found = read_processes(processes, percents), written = 0;

	(void)since;
	if (number_of(device) > 0)
		return NOT_FOUND;
	for (unsigned i = 0; i < found; i++)
		if (percents[i])
			samples[written++] = (struct sample){ .pid = processes[i].pid,
							      .time_us = 1000 + questions,
							      .sm = percents[i] };
	*count = written;
#ifdef UNSUPPORTED
	return NOT_SUPPORTED;
#endif
	return written ? SUCCESS : NOT_FOUND;
}
#endif

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *ret)
{
	*ret = (kind == 1 ? 1400 : 1200) + (unsigned)number_of(device);
	return SUCCESS;
}

static int list(void *device, unsigned *count, struct process *ret)
{
	struct process processes[PROCESSES];
	unsigned percents[PROCESSES];
	unsigned found = number_of(device) == 0 ? read_processes(processes, percents) : 0;

#ifdef LONG_LIST
	*count = 5000;
	return SUCCESS;
#endif
#ifdef TOO_SMALL
	*count = 100000;
	return TOO_FEW;
#endif
	if (*count < found) {
		*count = found;
		return TOO_FEW;
	}
	memcpy(ret, processes, found * sizeof(*ret));
	*count = found;
	return SUCCESS;
}

#ifdef FIRST_VERSION
int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count, struct process *ret)
#else
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *ret)
#endif
{
	return list(device, count, ret);
}

int nvmlDeviceGetGraphicsRunningProcesses_v2(void *device, unsigned *count, struct process *ret)
{
	(void)device;
	(void)ret;
	*count = 0;
	return NOT_SUPPORTED;
}
