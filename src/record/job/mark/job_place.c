/* SPDX-License-Identifier: MIT */
#include "record/job/mark/job_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/output/memory_stream.h"
#include "base/text.h"
#include "host/host.h"
#include "record/job/mark/job_store.h"
#include "record/job/job_subject.h"
#include "record/record_paths.h"
#include "record/socket/client.h"
#include "store/history/history_activity.h"

static bool write_all(int fd, const char *bytes, size_t size)
{
	ssize_t some = 1;

	for (; size && some > 0; bytes += some, size -= (size_t)some)
		some = write(fd, bytes, size);
	return size == 0;
}

/* The run as a file without a name that nobody can change any more; -1 when there is none. */
static int make_file(const struct job_mark *mark)
{
	CLEANUP(close_fd) int fd = -1;

	if (!mark->is_measured || !mark->measured.run ||
	    mark->measured.run_size > JOB_RUN_BYTES_MOST)
		return -1;
	fd = memfd_create("taskscope-run", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || !write_all(fd, mark->measured.run, mark->measured.run_size) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -1;
	return TAKE(fd, -1);
}

static int ask(struct job_place *place, struct client *client, const struct job_mark *mark,
	       struct job_marked *ret, struct error *error)
{
	CLEANUP(free_pointer) char *parameters = NULL;
	CLEANUP(close_fd) int file = make_file(mark);
	size_t length = 0;
	FILE *out = memory_stream_open(&parameters, &length);
	const char *answer = NULL;
	struct json json;
	int status;

	if (!out)
		return error_set(error, -ENOMEM, "not enough memory");
	json = json_writer(out);
	json.one_line = true;
	json.exact = true;
	job_mark_write(&json, mark);
	if (fclose(out) != 0)
		return error_set(error, -ENOMEM, "not enough memory");
	parameters[strcspn(parameters, "\n")] = '\0';
	status = client_ask_with(client, job_mark_methods[mark->kind], parameters, file, error);
	if (status == 0)
		status = client_answer(client, &answer, &length, error);
	return status < 0 ? status : job_marked_read(answer, length, ret, place->used_store, error);
}

/* -ENOENT when nobody listens there, or we may not ask. */
static int ask_at(struct job_place *place, const char *socket, const struct job_mark *mark,
		  struct job_marked *ret, struct error *error)
{
	CLEANUP(client_close) struct client client = { .fd = -1 };
	struct error ignored = { 0 };
	int status = client_open(&client, socket, &ignored);

	if (status < 0)
		return -ENOENT;
	snprintf(place->used_socket, sizeof(place->used_socket), "%s", socket);
	status = ask(place, &client, mark, ret, error);
	return status == -ENOENT ? -EBADMSG : status;
}

static int write_mark(const char *store, struct job_mark *mark, struct job_marked *ret,
		      struct error *error)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(history_close_pointer) struct history *history = NULL;
	CLEANUP(free_pointer) char *note = NULL;
	struct job_scene scene;
	int status = host_open(&host, NULL, error);

	if (status == 0)
		status = history_create_moment(store, &history, &note, error);
	if (status < 0)
		return status;
	job_scene_look(&scene, host);
	status = job_store_take(history, &scene, mark, ret, error);
	/* A file that has nothing in it need not be there. */
	if (status < 0)
		history_abandon(TAKE_PTR(history));
	return status;
}

/* The recorder that has the store has written down where it listens. */
static int ask_owner(struct job_place *place, const char *store, const struct job_mark *mark,
		     struct job_marked *ret, struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	CLEANUP(free_pointer) char *socket = NULL;
	struct error ignored = { 0 };

	if (history_open(store, &history, &ignored) == 0)
		socket = history_meta(history, "socket");
	return socket && socket[0] ? ask_at(place, socket, mark, ret, error) : -ENOENT;
}

/* A mark of a job that must be there does not make a store. */
static int mark_in_store(struct job_place *place, const char *store, struct job_mark *mark,
			 struct job_marked *ret, struct error *error)
{
	struct error busy = { 0 };
	int status;

	if (mark->kind != JOB_MARK_START && access(store, F_OK) < 0 && errno == ENOENT)
		return 0;
	status = write_mark(store, mark, ret, &busy);
	if (status == 0) {
		place->used_socket[0] = '\0';
		snprintf(place->used_store, sizeof(place->used_store), "%s", store);
		return 0;
	}
	if (status != -EBUSY)
		return error_set(error, status, "%s", busy.message);
	status = ask_owner(place, store, mark, ret, error);
	if (status != -ENOENT)
		return status;
	return error_set(error, -EBUSY,
			 "a recorder that has no socket writes %s: it takes no marks; start it "
			 "without --no-socket, or mark the job in another with --store",
			 store);
}

/* The sockets that are tried, one after the other. */
static int find_socket(size_t place, char ret[PATH_MAX])
{
	if (place == 0)
		return record_socket_path(ret);
	return geteuid() == 0 ? -ENOENT : record_system_socket_path(ret);
}

/* Asks one that is there; -ENOENT when none is. */
static int ask_plainly(const char *socket, const char *method, const char *parameters, char **ret,
		       struct error *error)
{
	CLEANUP(client_close) struct client client = { .fd = -1 };
	struct error ignored = { 0 };
	const char *answer = NULL;
	size_t length = 0;
	int status = client_open(&client, socket, &ignored);

	if (status < 0)
		return -ENOENT;
	status = client_ask_with(&client, method, parameters, -1, error);
	if (status == 0)
		status = client_answer(&client, &answer, &length, error);
	if (status < 0)
		return status == -ENOENT ? -EBADMSG : status;
	*ret = strndup(answer, length);
	return *ret ? 0 : error_set(error, -ENOMEM, "not enough memory");
}

int job_place_ask(const char *socket, const char *method, const char *parameters, char **ret,
		  struct error *error)
{
	char path[PATH_MAX];
	int status = socket ? ask_plainly(socket, method, parameters, ret, error) : -ENOENT;

	for (size_t i = 0; !socket && i < 2 && status == -ENOENT; i++)
		if (find_socket(i, path) == 0)
			status = ask_plainly(path, method, parameters, ret, error);
	return socket && status == -ENOENT ?
		       error_set(error, status, "no recorder listens at '%s'", socket) :
		       status;
}

int job_place_ask_root(const char *socket, const char *method, const char *parameters, char **ret,
		       struct error *error)
{
	CLEANUP(client_close) struct client own = { .fd = -1 };
	struct error ignored = { 0 };
	char path[PATH_MAX];

	if (socket)
		return job_place_ask(socket, method, parameters, ret, error);
	if (find_socket(0, path) == 0 && client_open(&own, path, &ignored) == 0)
		return -ENOENT;
	return find_socket(1, path) == 0 ? ask_plainly(path, method, parameters, ret, error) :
					   -ENOENT;
}

static int mark_anywhere(struct job_place *place, struct job_mark *mark, struct job_marked *ret,
			 struct error *error)
{
	char path[PATH_MAX];
	int status = -ENOENT;

	for (size_t i = 0; i < 2 && !ret->job; i++) {
		if (find_socket(i, path) < 0)
			continue;
		status = ask_at(place, path, mark, ret, error);
		if (status < 0 && status != -ENOENT)
			return status;
	}
	if (ret->job)
		return 0;
	status = record_store_path(path);
	if (status < 0)
		return error_set(error, status, "give --store FILE: %s", strerror(-status));
	return mark_in_store(place, path, mark, ret, error);
}

int job_place_mark(struct job_place *place, struct job_mark *mark, struct job_marked *ret,
		   struct error *error)
{
	const char *socket = place->socket;
	char used_socket[PATH_MAX], used_store[PATH_MAX];
	int status = -ENOENT;

	*ret = (struct job_marked){ 0 };
	memcpy(used_socket, place->used_socket, sizeof(used_socket));
	memcpy(used_store, place->used_store, sizeof(used_store));
	if (used_socket[0])
		status = ask_at(place, used_socket, mark, ret, error);
	if (status == -ENOENT && used_store[0])
		return mark_in_store(place, used_store, mark, ret, error);
	if (status != -ENOENT)
		return status;
	if (socket) {
		status = ask_at(place, socket, mark, ret, error);
		return status == -ENOENT ?
			       error_set(error, status, "no recorder listens at '%s'", socket) :
			       status;
	}
	return place->store ? mark_in_store(place, place->store, mark, ret, error) :
			      mark_anywhere(place, mark, ret, error);
}
