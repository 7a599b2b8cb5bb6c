/* SPDX-License-Identifier: MIT */
/*
 * The NVML helper: a program that loads NVIDIA's management library and answers questions about the GPUs.  It is
 * embedded in taskscope and linked with the C library only.  The library's code runs in here and nowhere else: where it
 * hangs or crashes, taskscope goes on.
 *
 * argv: its name, the library's path, the number of a socket (SOCK_SEQPACKET).  Each message is a question, of any
 * content; each answer is a struct gpu_report.  It ends when the socket is closed.
 *
 * The little of NVML's interface that is needed is declared here; its layouts have not changed since they were
 * introduced, and newer ones have functions with another name.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/gpu/gpu_report.h"

typedef struct nvml_device *nvml_device;

enum { NVML_TEMPERATURE_GPU = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };

#define NVML_NOT_AVAILABLE UINT64_MAX /* of the memory of a process */

struct nvml_utilization {
	unsigned gpu, memory; /* percent */
};

struct nvml_memory {
	unsigned long long total, free, used;
};

/* What functions without a version in their name fill in; those with _v2 and _v3 add two numbers. */
struct nvml_process {
	unsigned pid;
	unsigned long long used;
};

struct nvml_process_v2 {
	unsigned pid;
	unsigned long long used;
	unsigned gpu_instance, compute_instance;
};

struct nvml_process_sample {
	unsigned pid;
	unsigned long long time_us;
	unsigned sm, memory, encoder, decoder; /* percent */
};

_Static_assert(sizeof(struct nvml_process) == 16 && sizeof(struct nvml_process_v2) == 24 &&
		       sizeof(struct nvml_process_sample) == 32,
	       "the layouts of NVML");

typedef int simple_function(void);
typedef int count_function(unsigned *count);
typedef int handle_function(unsigned index, nvml_device *device);
typedef int text_function(nvml_device device, char *text, unsigned size);
typedef int number_function(nvml_device device, unsigned *number);
typedef int kind_function(nvml_device device, int kind, unsigned *number);
typedef int utilization_function(nvml_device device, struct nvml_utilization *ret);
typedef int memory_function(nvml_device device, struct nvml_memory *ret);
typedef int list_function(nvml_device device, unsigned *count, void *processes);
typedef int samples_function(nvml_device device, struct nvml_process_sample *samples,
			     unsigned *count, unsigned long long since_us);

/* A list of processes: of those that compute, or of those that draw. */
struct list {
	list_function *function;
	size_t record;
};

static struct {
	simple_function *init, *shutdown;
	count_function *count;
	handle_function *handle;
	text_function *name, *uuid;
	number_function *power;
	kind_function *temperature, *clock;
	utilization_function *utilization;
	memory_function *memory;
	struct list lists[2];
	samples_function *samples;
	bool is_initialised;
	unsigned long long seen_us[GPU_DEVICES_MAX];
} nvml;

static struct gpu_report report;

static union {
	char bytes[GPU_PROCESSES_MAX * sizeof(struct nvml_process_v2)];
	struct nvml_process_sample samples[GPU_PROCESSES_MAX];
} room;

static void *find(void *library, const char *name, const char *older)
{
	void *function = dlsym(library, name);

	return function || !older ? function : dlsym(library, older);
}

static struct list find_list(void *library, const char *newest, const char *newer,
			     const char *oldest)
{
	void *function = find(library, newest, newer);

	if (function)
		return (struct list){ (list_function *)function, sizeof(struct nvml_process_v2) };
	return (struct list){ (list_function *)dlsym(library, oldest),
			      sizeof(struct nvml_process) };
}

/* Without these four nothing can be asked. */
static bool load(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);

	if (!library)
		return false;
	nvml.init = (simple_function *)find(library, "nvmlInit_v2", "nvmlInit");
	nvml.shutdown = (simple_function *)find(library, "nvmlShutdown", NULL);
	nvml.count = (count_function *)find(library, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount");
	nvml.handle = (handle_function *)find(library, "nvmlDeviceGetHandleByIndex_v2",
					      "nvmlDeviceGetHandleByIndex");
	nvml.name = (text_function *)find(library, "nvmlDeviceGetName", NULL);
	nvml.uuid = (text_function *)find(library, "nvmlDeviceGetUUID", NULL);
	nvml.power = (number_function *)find(library, "nvmlDeviceGetPowerUsage", NULL);
	nvml.temperature = (kind_function *)find(library, "nvmlDeviceGetTemperature", NULL);
	nvml.clock = (kind_function *)find(library, "nvmlDeviceGetClockInfo", NULL);
	nvml.utilization =
		(utilization_function *)find(library, "nvmlDeviceGetUtilizationRates", NULL);
	nvml.memory = (memory_function *)find(library, "nvmlDeviceGetMemoryInfo", NULL);
	nvml.lists[0] = find_list(library, "nvmlDeviceGetComputeRunningProcesses_v3",
				  "nvmlDeviceGetComputeRunningProcesses_v2",
				  "nvmlDeviceGetComputeRunningProcesses");
	nvml.lists[1] = find_list(library, "nvmlDeviceGetGraphicsRunningProcesses_v3",
				  "nvmlDeviceGetGraphicsRunningProcesses_v2",
				  "nvmlDeviceGetGraphicsRunningProcesses");
	nvml.samples = (samples_function *)find(library, "nvmlDeviceGetProcessUtilization", NULL);
	return true;
}

/* The errors that NVML returns are above 0. */
static uint32_t error_of(int status)
{
	return status == 0 ? GPU_ERROR_NONE : status < 0 ? GPU_ERROR_UNKNOWN : (uint32_t)status;
}

static void set(struct gpu_device *device, enum gpu_value id, uint32_t error, uint64_t value)
{
	device->values[id] = (struct gpu_number){ error, error ? 0 : value };
}

static void ask_text(text_function *function, nvml_device handle, char text[GPU_TEXT_SIZE])
{
	if (!function || function(handle, text, GPU_TEXT_SIZE) != 0)
		text[0] = '\0';
	text[GPU_TEXT_SIZE - 1] = '\0';
}

static void ask_kind(kind_function *function, nvml_device handle, int kind,
		     struct gpu_device *device, enum gpu_value id)
{
	unsigned number = 0;
	uint32_t error =
		function ? error_of(function(handle, kind, &number)) : GPU_ERROR_FUNCTION_NOT_FOUND;

	set(device, id, error, number);
}

static void ask_values(nvml_device handle, struct gpu_device *device)
{
	struct nvml_utilization busy = { 0 };
	struct nvml_memory memory = { 0 };
	unsigned power = 0;
	uint32_t error;

	error = nvml.utilization ? error_of(nvml.utilization(handle, &busy)) :
				   GPU_ERROR_FUNCTION_NOT_FOUND;
	set(device, GPU_busy, error, (uint64_t)busy.gpu * 100);
	set(device, GPU_memory_busy, error, (uint64_t)busy.memory * 100);
	error = nvml.memory ? error_of(nvml.memory(handle, &memory)) : GPU_ERROR_FUNCTION_NOT_FOUND;
	set(device, GPU_memory_used_bytes, error, memory.used);
	set(device, GPU_memory_total_bytes, error, memory.total);
	error = nvml.power ? error_of(nvml.power(handle, &power)) : GPU_ERROR_FUNCTION_NOT_FOUND;
	set(device, GPU_power_milliwatts, error, power);
	ask_kind(nvml.temperature, handle, NVML_TEMPERATURE_GPU, device, GPU_temperature_celsius);
	ask_kind(nvml.clock, handle, NVML_CLOCK_SM, device, GPU_sm_clock_mhz);
	ask_kind(nvml.clock, handle, NVML_CLOCK_MEMORY, device, GPU_memory_clock_mhz);
}

/* The process on the device, added when it is new; NULL when there is no room. */
static struct gpu_process *process_of(uint32_t device, uint32_t pid)
{
	struct gpu_process *process = report.processes;

	for (uint32_t i = 0; i < report.process_count; i++, process++)
		if (process->device == device && process->pid == pid)
			return process;
	if (report.process_count == GPU_PROCESSES_MAX) {
		report.processes_left_out++;
		return NULL;
	}
	report.process_count++;
	*process = (struct gpu_process){ .pid = pid,
					 .device = device,
					 .memory_bytes = { GPU_ERROR_NOT_FOUND, 0 },
					 .busy_percent = { GPU_ERROR_NOT_FOUND, 0 } };
	return process;
}

/*
 * The process's memory by this list.  A process may be in it several times, once for each part of a divided GPU; one
 * that computes and draws is in both lists, with all its memory.
 */
static void add_memory(struct gpu_process *process, uint64_t bytes, uint64_t *sums)
{
	uint64_t *sum = &sums[process - report.processes];

	if (bytes == NVML_NOT_AVAILABLE) {
		if (process->memory_bytes.error)
			process->memory_bytes.error = GPU_ERROR_NOT_SUPPORTED;
		return;
	}
	*sum += bytes;
	if (process->memory_bytes.error || *sum > process->memory_bytes.value)
		process->memory_bytes = (struct gpu_number){ GPU_ERROR_NONE, *sum };
}

/* A list whose records have another layout than is known has numbers that cannot be true. */
static bool makes_sense(const struct nvml_process *process, const struct gpu_device *device)
{
	const struct gpu_number *total = &device->values[GPU_memory_total_bytes];

	return process->pid > 0 && process->pid <= GPU_PID_MAX &&
	       (process->used == NVML_NOT_AVAILABLE || total->error ||
		process->used <= total->value);
}

static uint32_t ask_list(const struct list *list, nvml_device handle, uint32_t index)
{
	static uint64_t sums[GPU_PROCESSES_MAX];
	unsigned most = (unsigned)(sizeof(room.bytes) / list->record), count = most;
	struct nvml_process record;
	uint32_t error;

	if (!list->function)
		return GPU_ERROR_FUNCTION_NOT_FOUND;
	memset(&room, 0, sizeof(room));
	memset(sums, 0, sizeof(sums));
	error = error_of(list->function(handle, &count, room.bytes));
	if (error)
		return error;
	if (count > most)
		return GPU_ERROR_NONSENSE;
	for (unsigned i = 0; i < count; i++) {
		memcpy(&record, room.bytes + i * list->record, sizeof(record));
		if (!makes_sense(&record, &report.devices[index]))
			return GPU_ERROR_NONSENSE;
	}
	for (unsigned i = 0; i < count; i++) {
		struct gpu_process *process;

		memcpy(&record, room.bytes + i * list->record, sizeof(record));
		process = process_of(index, record.pid);
		if (process)
			add_memory(process, record.used, sums);
	}
	return GPU_ERROR_NONE;
}

/* It tells only of processes that used the GPU since then; the others did not. */
static uint32_t ask_busy(nvml_device handle, uint32_t index)
{
	static unsigned long long newest[GPU_PROCESSES_MAX];
	unsigned long long since = nvml.seen_us[index];
	unsigned count = GPU_PROCESSES_MAX;
	uint32_t error;

	if (!nvml.samples)
		return GPU_ERROR_FUNCTION_NOT_FOUND;
	memset(&room, 0, sizeof(room));
	memset(newest, 0, sizeof(newest));
	error = error_of(nvml.samples(handle, room.samples, &count, since));
	if (error && error != GPU_ERROR_NOT_FOUND)
		return error;
	if (error)
		count = 0;
	if (count > GPU_PROCESSES_MAX)
		return GPU_ERROR_NONSENSE;
	for (unsigned i = 0; i < count; i++)
		if (room.samples[i].sm > 100 || room.samples[i].pid > GPU_PID_MAX)
			return GPU_ERROR_NONSENSE;
	for (uint32_t i = 0; i < report.process_count; i++)
		if (report.processes[i].device == index)
			report.processes[i].busy_percent = (struct gpu_number){ 0, 0 };
	for (unsigned i = 0; i < count; i++) {
		const struct nvml_process_sample *sample = &room.samples[i];
		struct gpu_process *process = sample->pid ? process_of(index, sample->pid) : NULL;

		if (sample->time_us > nvml.seen_us[index])
			nvml.seen_us[index] = sample->time_us;
		if (!process || sample->time_us < newest[process - report.processes])
			continue;
		newest[process - report.processes] = sample->time_us;
		process->busy_percent = (struct gpu_number){ 0, sample->sm };
	}
	return GPU_ERROR_NONE;
}

static void fail_device(struct gpu_device *device, uint32_t error)
{
	for (int id = 0; id < GPU_VALUE_COUNT; id++)
		set(device, (enum gpu_value)id, error, 0);
	device->processes_error = device->busy_error = error;
}

static void ask_device(uint32_t index)
{
	struct gpu_device *device = &report.devices[index];
	nvml_device handle = NULL;
	uint32_t error = error_of(nvml.handle(index, &handle)), graphics;

	if (error) {
		fail_device(device, error);
		return;
	}
	ask_text(nvml.name, handle, device->name);
	ask_text(nvml.uuid, handle, device->uuid);
	ask_values(handle, device);
	device->processes_error = ask_list(&nvml.lists[0], handle, index);
	graphics = ask_list(&nvml.lists[1], handle, index);
	/* A device that only computes has no list of those that draw. */
	if (!device->processes_error && graphics != GPU_ERROR_NOT_SUPPORTED &&
	    graphics != GPU_ERROR_FUNCTION_NOT_FOUND)
		device->processes_error = graphics;
	device->busy_error = ask_busy(handle, index);
}

static uint32_t ask_all(void)
{
	unsigned count = 0;
	uint32_t error;

	if (!nvml.init || !nvml.count || !nvml.handle)
		return GPU_ERROR_FUNCTION_NOT_FOUND;
	if (!nvml.is_initialised) {
		error = error_of(nvml.init());
		if (error)
			return error;
		nvml.is_initialised = true;
	}
	error = error_of(nvml.count(&count));
	if (error) {
		/* The driver may have been exchanged: the next question begins anew. */
		if (nvml.shutdown)
			nvml.shutdown();
		nvml.is_initialised = false;
		return error;
	}
	report.device_count = count < GPU_DEVICES_MAX ? count : GPU_DEVICES_MAX;
	report.devices_left_out = count - report.device_count;
	for (uint32_t i = 0; i < report.device_count; i++)
		ask_device(i);
	return GPU_ERROR_NONE;
}

int main(int argc, char **argv)
{
	bool is_loaded = false, was_tried = false;
	char question;
	int socket;

	if (argc != 3)
		_exit(1);
	socket = atoi(argv[2]);
	while (recv(socket, &question, sizeof(question), 0) > 0) {
		if (!was_tried)
			is_loaded = load(argv[1]);
		was_tried = true;
		memset(&report, 0, sizeof(report));
		report.error = is_loaded ? ask_all() : GPU_ERROR_NOT_LOADED;
		if (send(socket, &report, sizeof(report), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}
