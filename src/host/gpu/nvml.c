/* SPDX-License-Identifier: MIT */
#include "host/gpu/nvml.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "host/confine/confine.h"
#include "host/nvml_helper_bytes.h"

#define OWN_BYTES ((uint64_t)2 << 30)

/* What the child needs: all above the standard streams, which are closed there. */
struct launch {
	int program, library, socket;
};

static int make_program(void)
{
	CLEANUP(close_fd) int fd = confined_make_file("taskscope-nvml");

	if (fd < 0)
		return fd;
	if (write(fd, nvml_helper_bytes, sizeof(nvml_helper_bytes)) !=
	    (ssize_t)sizeof(nvml_helper_bytes))
		return -EIO;
	return confined_move_up(TAKE_FD(fd));
}

/* In the child; returns only on failure.  The environment is empty: the loader searches where root told it to. */
static int execute(void *argument, int answer)
{
	const struct launch *launch = argument;
	char library[64], socket[16];
	char *arguments[] = { "taskscope-nvml", library, socket, NULL };
	char *environment[] = { NULL };
	int nothing = open("/dev/null", O_RDWR);

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (nothing < 0 || dup2(nothing, fd) < 0)
			return -errno;
	close(answer);
	snprintf(library, sizeof(library), "/proc/self/fd/%d", launch->library);
	snprintf(socket, sizeof(socket), "%d", launch->socket);
	if (fcntl(launch->library, F_SETFD, 0) < 0 || fcntl(launch->socket, F_SETFD, 0) < 0)
		return -errno;
	syscall(SYS_execveat, launch->program, "", arguments, environment, AT_EMPTY_PATH);
	return -errno;
}

int nvml_start(struct nvml *nvml, int library)
{
	CLEANUP(close_fd) int program = make_program();
	CLEANUP(close_fd) int ours = -1;
	CLEANUP(close_fd) int its = -1;
	struct launch launch = { program, library, -1 };
	struct confine_limits limits = { .rules = CONFINE_DRIVER,
					 .own_bytes = OWN_BYTES,
					 .program_fd = program };
	struct confined_job job;
	int ends[2], keep[2];
	int status;

	if (program < 0)
		return program;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	ours = ends[0];
	its = confined_move_up(ends[1]);
	if (its < 0)
		return its;
	launch.socket = its;
	keep[0] = its;
	keep[1] = library;
	limits.keep = keep;
	limits.keep_count = ARRAY_SIZE(keep);
	status = confined_start(&job, &limits, 0, execute, &launch);
	if (status < 0)
		return status;
	close(job.answer); /* it answers on the socket */
	*nvml = (struct nvml){ job.pid, TAKE_FD(ours), false };
	return 0;
}

int nvml_ask(struct nvml *nvml)
{
	if (send(nvml->socket, "?", 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return -EPROTO;
	nvml->is_asked = true;
	return 0;
}

static bool wait_for_answer(int socket, uint64_t until_ns)
{
	struct pollfd readable = { .fd = socket, .events = POLLIN };

	for (;;) {
		uint64_t now = monotonic_ns();

		if (poll(&readable, 1,
			 now < until_ns ? (int)((until_ns - now) / NS_PER_MS) + 1 : 0) > 0)
			return true;
		if (now >= until_ns)
			return false;
	}
}

int nvml_take(struct nvml *nvml, uint64_t until_ns, struct gpu_report *ret)
{
	ssize_t got;

	if (!wait_for_answer(nvml->socket, until_ns))
		return -EAGAIN;
	nvml->is_asked = false;
	got = recv(nvml->socket, ret, sizeof(*ret), MSG_DONTWAIT | MSG_TRUNC);
	return got == (ssize_t)sizeof(*ret) && gpu_report_check(ret) ? 0 : -EPROTO;
}

void nvml_end(struct nvml *nvml)
{
	if (!nvml->pid)
		return;
	confined_kill(nvml->pid);
	close(nvml->socket);
	*nvml = (struct nvml){ 0 };
}

static const uint64_t most[GPU_VALUE_COUNT] = {
#define GPU_VALUE(id, most_, ...) [GPU_##id] = most_,
#include "host/gpu/gpu_values.def"
};

static void check_number(struct gpu_number *number, uint64_t largest)
{
	if (!number->error && number->value > largest)
		*number = (struct gpu_number){ GPU_ERROR_NONSENSE, 0 };
}

static void check_device(struct gpu_device *device)
{
	struct gpu_number *used = &device->values[GPU_memory_used_bytes];
	const struct gpu_number *total = &device->values[GPU_memory_total_bytes];

	device->name[GPU_TEXT_SIZE - 1] = device->uuid[GPU_TEXT_SIZE - 1] = '\0';
	for (int id = 0; id < GPU_VALUE_COUNT; id++)
		check_number(&device->values[id], most[id]);
	if (!total->error)
		check_number(used, total->value);
}

bool gpu_report_check(struct gpu_report *report)
{
	if (report->device_count > GPU_DEVICES_MAX || report->process_count > GPU_PROCESSES_MAX)
		return false;
	for (uint32_t i = 0; i < report->device_count; i++)
		check_device(&report->devices[i]);
	for (uint32_t i = 0; i < report->process_count; i++) {
		struct gpu_process *process = &report->processes[i];

		if (process->device >= report->device_count || process->pid == 0 ||
		    process->pid > GPU_PID_MAX)
			return false;
		check_number(&process->memory_bytes, most[GPU_memory_used_bytes]);
		check_number(&process->busy_percent, 100);
	}
	return true;
}
