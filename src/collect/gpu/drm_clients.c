/* SPDX-License-Identifier: MIT */
#include "collect/gpu/drm_clients.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collect/collector.h"
#include "host/proc/proc_file.h"

#define CLIENTS_MAX 4096
#define ROUNDS 8 /* samples in which every process is looked at */
#define DEVICES "/dev/dri/"
#define FDINFO_BYTES 4096

/* One sample. */
struct look {
	struct drm_clients *clients;
	struct capture *capture;
	struct proc_buffer buffer;
	struct proc_numbers fds;
};

void drm_clients_clear(struct drm_clients *clients)
{
	array_free(&clients->seen);
	array_free(&clients->users);
	deadline_threads_clear(&clients->threads);
	*clients = (struct drm_clients){ 0 };
}

static void look_clear(struct look *look)
{
	proc_buffer_clear(&look->buffer);
	proc_numbers_clear(&look->fds);
}

static struct drm_user *find_user(struct drm_clients *clients, const struct process *process)
{
	for (size_t i = 0; i < clients->users.count; i++) {
		struct drm_user *user = &clients->users.data[i];

		if (user->tgid == process->tgid && user->start_time_ns == process->start_time_ns)
			return user;
	}
	return NULL;
}

static bool is_same_client(const struct drm_client *one, const struct drm_client *other)
{
	return one->id == other->id && strcmp(one->device, other->device) == 0;
}

/* Whether it is the turn of the process. */
static bool is_due(const struct look *look, const struct process *process)
{
	struct drm_clients *clients = look->clients;

	return !clients->looked_boot_ns || process->start_time_ns >= clients->looked_boot_ns ||
	       (uint32_t)process->tgid % ROUNDS == clients->sample % ROUNDS ||
	       find_user(clients, process);
}

/* A file of a GPU is known by its name: to open it, or to look at the device, could have effects. */
static bool is_of_gpu(const struct look *look, int dir, int32_t fd)
{
	char path[32], link[64];
	ssize_t length;

	if (!look->capture->host->live)
		return true; /* a recording has no devices, and its files cost little */
	snprintf(path, sizeof(path), "fd/%d", fd);
	length = readlinkat(dir, path, link, sizeof(link));
	return length > (ssize_t)strlen(DEVICES) && memcmp(link, DEVICES, strlen(DEVICES)) == 0;
}

/* Another descriptor of the same client may have been read in this sample, of this or another process. */
static int keep_client(struct look *look, const struct process *process,
		       const struct drm_client *client)
{
	struct drm_clients *clients = look->clients;
	struct drm_seen fresh = { process->tgid, process->start_time_ns, *client, clients->sample };

	for (size_t i = 0; i < clients->seen.count; i++) {
		struct drm_seen *seen = &clients->seen.data[i];

		if (!is_same_client(&seen->client, client))
			continue;
		if (seen->sample == clients->sample)
			return 0;
		*seen = fresh;
		return 0;
	}
	if (clients->seen.count >= CLIENTS_MAX) {
		clients->left_out++;
		return 0;
	}
	return array_append(&clients->seen, fresh);
}

/*
 * A client that could not be read is not closed: what it had used stays as it was, and is not counted
 * again with what the next sample reads.
 */
static void keep_seen(struct look *look, const struct process *process)
{
	struct drm_clients *clients = look->clients;

	for (size_t i = 0; i < clients->seen.count; i++) {
		struct drm_seen *seen = &clients->seen.data[i];

		if (seen->tgid == process->tgid && seen->start_time_ns == process->start_time_ns)
			seen->sample = clients->sample;
	}
}

static int read_client(struct look *look, const struct process *process, int dir, int32_t fd)
{
	char path[32], text[FDINFO_BYTES];
	struct drm_client client;
	ssize_t length;

	snprintf(path, sizeof(path), "fdinfo/%d", fd);
	/* To write it the driver may wait for the GPU. */
	length = look->capture->host->live ? deadline_read(&look->clients->threads, process->tgid,
							   dir, path, text, sizeof(text)) :
					     proc_read_start(dir, path, text, sizeof(text));
	source_count(&look->capture->tallies[SOURCE_GPU], length);
	if (length == -ETIMEDOUT)
		look->capture->tallies[SOURCE_GPU].reason = "a GPU's driver did not answer in time";
	if (length < 0)
		keep_seen(look, process);
	if (length < 0 || !drm_fdinfo_parse(text, &client))
		return 0;
	return keep_client(look, process, &client);
}

static int read_process(struct look *look, uint32_t row)
{
	const struct process *process = &look->capture->snapshot->processes[row];
	CLEANUP(close_fd) int dir = -1;
	int status;

	dir = process_open(look->capture, row, &look->buffer);
	status = dir < 0 ? dir : proc_list(dir, "fdinfo", &look->fds);
	if (status == -ENOMEM)
		return status;
	if (status < 0) {
		keep_seen(look, process);
		source_count(&look->capture->tallies[SOURCE_GPU], status);
		return 0;
	}
	for (size_t i = 0; i < look->fds.list.count && status >= 0; i++)
		if (is_of_gpu(look, dir, look->fds.list.data[i]))
			status = read_client(look, process, dir, look->fds.list.data[i]);
	return status < 0 ? status : 0;
}

static struct drm_user *user_of(struct drm_clients *clients, const struct process *process)
{
	struct drm_user fresh = { process->tgid, process->start_time_ns, 0, 0 };
	struct drm_user *user = find_user(clients, process);

	if (user)
		return user;
	if (array_append(&clients->users, fresh) < 0)
		return NULL;
	return &clients->users.data[clients->users.count - 1];
}

/* Clients that were not seen any more are closed: their time stays with the process, if it lives. */
static void close_clients(struct drm_clients *clients)
{
	size_t kept = 0;

	for (size_t i = 0; i < clients->seen.count; i++) {
		const struct drm_seen *seen = &clients->seen.data[i];
		const struct process process = { .tgid = seen->tgid,
						 .start_time_ns = seen->start_time_ns };
		struct drm_user *user = find_user(clients, &process);

		if (seen->sample == clients->sample)
			clients->seen.data[kept++] = *seen;
		else if (user && seen->client.has_time)
			user->closed_ns += seen->client.time_ns;
	}
	clients->seen.count = kept;
}

static int set_cells(struct look *look, const struct process *process, uint32_t row)
{
	struct snapshot *snapshot = look->capture->snapshot;
	const struct drm_user *user = find_user(look->clients, process);
	uint64_t memory = 0, time = user ? user->closed_ns : 0, before;
	bool has_memory = false, has_time = time > 0;

	for (size_t i = 0; i < look->clients->seen.count; i++) {
		const struct drm_seen *seen = &look->clients->seen.data[i];

		if (seen->tgid != process->tgid || seen->start_time_ns != process->start_time_ns)
			continue;
		if (!user_of(look->clients, process))
			return -ENOMEM;
		has_memory |= seen->client.has_memory;
		has_time |= seen->client.has_time;
		memory += seen->client.memory_bytes;
		time += seen->client.time_ns;
	}
	/* The process may use GPUs of NVIDIA as well. */
	if (has_memory)
		snapshot_set(snapshot, METRIC_gpu_memory_bytes, row,
			     snapshot_get(snapshot, METRIC_gpu_memory_bytes, row, &before) ?
				     before + memory :
				     memory);
	if (has_time)
		snapshot_set(snapshot, METRIC_gpu_time_ns, row, time);
	return 0;
}

/* Those that are not in the snapshot have ended, or are not looked at any more. */
static void forget_users(struct drm_clients *clients)
{
	size_t kept = 0;

	for (size_t i = 0; i < clients->users.count; i++)
		if (clients->users.data[i].sample == clients->sample)
			clients->users.data[kept++] = clients->users.data[i];
	clients->users.count = kept;
}

int drm_clients_read(struct drm_clients *clients, struct capture *capture)
{
	CLEANUP(look_clear) struct look look = { .clients = clients, .capture = capture };
	const struct snapshot *snapshot = capture->snapshot;
	int status = 0;

	clients->sample++;
	clients->left_out = 0;
	for (uint32_t row = 0; status == 0 && row < snapshot->process_count; row++) {
		struct drm_user *user = find_user(clients, &snapshot->processes[row]);

		if (user)
			user->sample = clients->sample;
		if (is_due(&look, &snapshot->processes[row]) && !process_lacks_memory(capture, row))
			status = read_process(&look, row);
	}
	forget_users(clients);
	close_clients(clients);
	for (uint32_t row = 0; status == 0 && row < snapshot->process_count; row++)
		status = set_cells(&look, &snapshot->processes[row], row);
	for (size_t i = 0; i < clients->users.count; i++)
		clients->users.data[i].sample = clients->sample;
	clients->looked_boot_ns = capture->has_clock ? capture->clock.boottime_ns : 1;
	return status;
}
