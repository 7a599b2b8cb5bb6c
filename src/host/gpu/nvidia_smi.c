/* SPDX-License-Identifier: MIT */
#include "host/gpu/nvidia_smi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/collection/array.h"
#include "base/text.h"

#define TEXT_BYTES ((size_t)64 * 1024)
#define OWN_BYTES ((uint64_t)1 << 30)
#define END_MS 200 /* a process that has printed everything ends */
#define FIELDS_MAX 16

#define EXIT_MAX 26 /* its exit status is the number of an error of NVML, below this */

static const char query_devices[] = "--query-gpu=name,uuid"
#define GPU_VALUE(id, most, field, scale) "," field
#include "host/gpu/gpu_values.def"
	;
static const char query_processes[] = "--query-compute-apps=gpu_uuid,pid,used_gpu_memory";

static const struct {
	const char *field;
	uint64_t scale, most;
} values[GPU_VALUE_COUNT] = {
#define GPU_VALUE(id, most_, field_, scale_) [GPU_##id] = { field_, scale_, most_ },
#include "host/gpu/gpu_values.def"
};

/* ---- parsing ---- */

/* Splits a line at its commas, without the blanks around; returns how many fields there are. */
static size_t split(char *line, char *fields[FIELDS_MAX])
{
	size_t count = 0;
	char *field;

	while (count < FIELDS_MAX && (field = strsep(&line, ","))) {
		size_t length;

		field += strspn(field, " \t");
		length = strlen(field);
		while (length && strchr(" \t\r", field[length - 1]))
			field[--length] = '\0';
		fields[count++] = field;
	}
	return line ? FIELDS_MAX + 1 : count;
}

/* A number with up to three decimal places, times the scale; false when there is none, or it is too large. */
static bool parse_scaled(const char *text, uint64_t scale, uint64_t *ret)
{
	uint64_t whole, part = 0, unit = 1000;

	if (!scan_u64(&text, &whole) || whole > UINT64_MAX / 1000 / scale - 1)
		return false;
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++)
			part += unit > 1 ? (uint64_t)(*text - '0') * (unit /= 10) : 0;
	*ret = (whole * 1000 + part) * scale / 1000;
	return *text == '\0';
}

/* "[N/A]", "[Not Supported]", "[GPU is lost]" stand for values that there are not. */
static uint32_t error_of(const char *word)
{
	static const struct {
		const char *part;
		uint32_t error;
	} words[] = {
		{ "N/A", GPU_ERROR_NOT_SUPPORTED },
		{ "Not Supported", GPU_ERROR_NOT_SUPPORTED },
		{ "is lost", GPU_ERROR_IS_LOST },
		{ "Insufficient Permissions", 4 },
		{ "Unknown Error", GPU_ERROR_UNKNOWN },
		{ "ERR!", GPU_ERROR_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(word, words[i].part))
			return words[i].error;
	return GPU_ERROR_NONSENSE;
}

static struct gpu_number number_of(const char *field, uint64_t scale, uint64_t most)
{
	uint64_t value;

	if (!parse_scaled(field, scale, &value))
		return (struct gpu_number){ error_of(field), 0 };
	if (value > most)
		return (struct gpu_number){ GPU_ERROR_NONSENSE, 0 };
	return (struct gpu_number){ GPU_ERROR_NONE, value };
}

static void copy_text(char to[GPU_TEXT_SIZE], const char *from)
{
	size_t length = strlen(from);

	length = length < GPU_TEXT_SIZE ? length : GPU_TEXT_SIZE - 1;
	memcpy(to, from, length);
	to[length] = '\0';
}

static bool parse_device(char *line, struct gpu_report *report)
{
	struct gpu_device *device = &report->devices[report->device_count];
	char *fields[FIELDS_MAX];

	if (split(line, fields) != 2 + GPU_VALUE_COUNT)
		return false;
	if (report->device_count == GPU_DEVICES_MAX) {
		report->devices_left_out++;
		return true;
	}
	*device = (struct gpu_device){ .processes_error = GPU_ERROR_NOT_ASKED,
				       .busy_error = GPU_ERROR_NOT_ASKED };
	copy_text(device->name, fields[0]);
	copy_text(device->uuid, fields[1]);
	for (int id = 0; id < GPU_VALUE_COUNT; id++)
		device->values[id] = number_of(fields[2 + id], values[id].scale, values[id].most);
	report->device_count++;
	return true;
}

static bool find_device(const struct gpu_report *report, const char *uuid, uint32_t *ret)
{
	for (uint32_t i = 0; i < report->device_count; i++)
		if (strcmp(report->devices[i].uuid, uuid) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

static bool parse_process(char *line, struct gpu_report *report)
{
	struct gpu_process process = { .busy_percent = { GPU_ERROR_NOT_ASKED, 0 } };
	char *fields[FIELDS_MAX];
	uint64_t pid;

	if (split(line, fields) != 3 || !find_device(report, fields[0], &process.device) ||
	    !parse_u64(fields[1], &pid) || pid == 0 || pid > GPU_PID_MAX)
		return false;
	if (report->process_count == GPU_PROCESSES_MAX) {
		report->processes_left_out++;
		return true;
	}
	process.pid = (uint32_t)pid;
	process.memory_bytes = number_of(fields[2], 1 << 20, values[GPU_memory_used_bytes].most);
	report->processes[report->process_count++] = process;
	return true;
}

static unsigned parse_lines(char *text, struct gpu_report *report,
			    bool (*parse)(char *line, struct gpu_report *report))
{
	unsigned bad = 0;
	char *line;

	while ((line = strsep(&text, "\n")))
		if (line[strspn(line, " \t\r")])
			bad += !parse(line, report);
	return bad;
}

unsigned nvidia_smi_parse_devices(char *text, struct gpu_report *ret)
{
	return parse_lines(text, ret, parse_device);
}

unsigned nvidia_smi_parse_processes(char *text, struct gpu_report *ret)
{
	return parse_lines(text, ret, parse_process);
}

/* ---- running it ---- */

struct question {
	int program;
	const char *query;
};

/* In the child; returns only on failure. */
static int execute(void *argument, int answer)
{
	const struct question *question = argument;
	char *arguments[] = { "nvidia-smi", (char *)question->query,
			      "--format=csv,noheader,nounits", NULL };
	char *environment[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };
	int nothing = open("/dev/null", O_RDWR);

	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(answer, STDOUT_FILENO) < 0 ||
	    dup2(nothing, STDERR_FILENO) < 0)
		return -errno;
	syscall(SYS_execveat, question->program, "", arguments, environment, AT_EMPTY_PATH);
	return -errno;
}

static int start(struct nvidia_smi *smi, size_t i, const char *query, unsigned timeout_ms)
{
	struct question question = { smi->program, query };
	struct confine_limits limits = { .rules = CONFINE_DRIVER,
					 .own_bytes = OWN_BYTES,
					 .program_fd = smi->program };
	int status = confined_start(&smi->jobs[i], &limits, timeout_ms, execute, &question);

	smi->is_running[i] = status == 0;
	return status;
}

int nvidia_smi_ask(struct nvidia_smi *smi, unsigned timeout_ms)
{
	static const char *const queries[] = { query_devices, query_processes };
	int status = 0;

	for (size_t i = 0; i < NVIDIA_SMI_QUESTIONS && status == 0; i++) {
		if (!smi->texts[i])
			smi->texts[i] = malloc(TEXT_BYTES + 1);
		status = smi->texts[i] ? start(smi, i, queries[i], timeout_ms) : -ENOMEM;
	}
	if (status < 0)
		nvidia_smi_clear(smi);
	smi->is_asked = status == 0;
	return status;
}

/* Waits for its end, which shows as that of its output: what it prints beyond the size of a pipe makes it wait for ever. */
static bool has_ended(const struct confined_job *job, uint64_t until_ns)
{
	struct pollfd output = { .fd = job->answer };

	for (;;) {
		uint64_t now = monotonic_ns();
		uint64_t end = until_ns < job->deadline_ns ? until_ns : job->deadline_ns;

		poll(&output, 1, now < end ? (int)((end - now) / NS_PER_MS) + 1 : 0);
		if (output.revents & (POLLHUP | POLLERR) || monotonic_ns() >= job->deadline_ns)
			return true;
		if (now >= end)
			return false;
	}
}

static void finish(struct nvidia_smi *smi, size_t i)
{
	uint64_t latest = monotonic_ns() + END_MS * NS_PER_MS;
	struct confined_job *job = &smi->jobs[i];
	size_t size;

	if (latest < job->deadline_ns)
		job->deadline_ns = latest;
	smi->statuses[i] = confined_finish(job, smi->texts[i], TEXT_BYTES, &size);
	smi->texts[i][size] = '\0';
	smi->is_running[i] = false;
}

static uint32_t failure(int status)
{
	if (status > -EXIT_MAX)
		return (uint32_t)-status;
	return status == -ETIMEDOUT ? GPU_ERROR_LATE :
	       status == -EMSGSIZE  ? GPU_ERROR_NONSENSE :
	       status == -EPROTO    ? GPU_ERROR_CRASHED :
				      GPU_ERROR_UNKNOWN;
}

/* It says in a line of its own that a device cannot be asked, and tells of the others. */
static void read_answers(struct nvidia_smi *smi, struct gpu_report *ret)
{
	uint32_t error = failure(smi->statuses[0]);
	unsigned bad = nvidia_smi_parse_devices(smi->texts[0], ret);

	if (!error && bad)
		error = GPU_ERROR_NONSENSE;
	if (!ret->device_count) {
		ret->error = error;
		return;
	}
	ret->left_out_error = error;
	ret->devices_left_out += bad;
	bad = smi->statuses[1] == 0 ? nvidia_smi_parse_processes(smi->texts[1], ret) : 0;
	for (uint32_t i = 0; i < ret->device_count; i++)
		ret->devices[i].processes_error =
			bad ? GPU_ERROR_NONSENSE : failure(smi->statuses[1]);
}

int nvidia_smi_take(struct nvidia_smi *smi, uint64_t until_ns, struct gpu_report *ret)
{
	for (size_t i = 0; i < NVIDIA_SMI_QUESTIONS; i++) {
		if (!smi->is_running[i])
			continue;
		if (!has_ended(&smi->jobs[i], until_ns))
			return -EAGAIN;
		finish(smi, i);
	}
	smi->is_asked = false;
	memset(ret, 0, sizeof(*ret));
	read_answers(smi, ret);
	return 0;
}

void nvidia_smi_clear(struct nvidia_smi *smi)
{
	for (size_t i = 0; i < NVIDIA_SMI_QUESTIONS; i++) {
		if (smi->is_running[i]) {
			confined_kill(smi->jobs[i].pid);
			close(smi->jobs[i].answer);
		}
		smi->is_running[i] = false;
		free(smi->texts[i]);
		smi->texts[i] = NULL;
	}
	smi->is_asked = false;
}
