/* SPDX-License-Identifier: MIT */
/* Finds the processes at the other ends of pipes and sockets. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "host/wait/process_sockets.h"
#include "host/wait/socket_peer.h"
#include "session/wait/wait_object.h"
#include "session/why/process_state.h"

/* Further pipes and sockets that threads of one process wait for stay without peers. */
#define SEARCHES_MAX 32
#define NO_SEARCH SIZE_MAX

struct searches {
	struct descriptor_search list[SEARCHES_MAX];
	size_t count;
};

/* The number of the search for a link, a new one if necessary. */
static size_t search_for(struct searches *searches, const char *link)
{
	for (size_t i = 0; i < searches->count; i++)
		if (strcmp(searches->list[i].link, link) == 0)
			return i;
	if (searches->count == SEARCHES_MAX)
		return NO_SEARCH;
	snprintf(searches->list[searches->count].link, DESCRIPTOR_LINK, "%s", link);
	return searches->count++;
}

/* Names the socket and begins to search for its peer. */
static size_t search_for_socket(struct searches *searches, struct wait_object *object)
{
	static const char begin[] = "socket:[";
	const char *cursor = object->name + sizeof(begin) - 1;
	char link[DESCRIPTOR_LINK];
	struct socket_peer peer;
	uint64_t inode;

	if (strncmp(object->name, begin, sizeof(begin) - 1) != 0 || !scan_u64(&cursor, &inode) ||
	    socket_peer_find(inode, &peer) < 0)
		return NO_SEARCH;
	object->reason = peer.own.kind == SOCKET_UNIX ? WAIT_PIPE : WAIT_NETWORK;
	snprintf(object->name, sizeof(object->name), "%s", peer.name);
	if (!peer.has_peer)
		return NO_SEARCH;
	snprintf(link, sizeof(link), "%s%" PRIu64 "]", begin, peer.inode);
	return search_for(searches, link);
}

static size_t begin_search(struct searches *searches, struct wait_object *object,
			   uint64_t deadline_ns)
{
	if (!object->kind || monotonic_ns() >= deadline_ns)
		return NO_SEARCH;
	if (strcmp(object->kind, "pipe") == 0)
		return search_for(searches, object->name);
	if (strcmp(object->kind, "socket") == 0)
		return search_for_socket(searches, object);
	/* The process that took the lock may have ended while others hold the open file that it belongs to. */
	if (strcmp(object->kind, "file_lock") == 0 && !object->has_holder && object->file[0] == '/')
		return search_for(searches, object->file);
	return NO_SEARCH;
}

static bool is_writing(const struct task_state *thread)
{
	static const uint32_t numbers[] = { SYS_write,	  SYS_writev,	SYS_pwrite64, SYS_pwritev,
					    SYS_pwritev2, SYS_sendfile, SYS_vmsplice };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i] == thread->call.number)
			return true;
	return false;
}

static void add_peer(const struct host *host, int32_t pid, struct wait_object *object)
{
	object->peers[object->peer_count] = (struct wait_party){ .pid = pid };
	wait_party_read_comm(host, &object->peers[object->peer_count++]);
}

/*
 * Only the open file that is locked keeps others waiting, not any that leads to the same file.  Where
 * several processes have locked parts of it, each may be the one.
 */
static void take_lockers(const struct wait_process *process, const struct descriptor_search *search,
			 bool is_complete, enum file_lock_kind kind, struct wait_object *object)
{
	bool is_known = is_complete && !search->has_more;

	for (size_t i = 0; i < search->count && object->peer_count < WAIT_PARTIES; i++) {
		enum wait_answer answer =
			wait_has_lock(process, search->holders[i].pid, search->link, kind);

		is_known &= answer != ANSWER_NOT_KNOWN;
		if (answer == ANSWER_YES)
			add_peer(process->host, search->holders[i].pid, object);
	}
	object->is_certain = is_known && object->peer_count > 0;
}

/* A reader waits for those that can write, and a writer for those that can read. */
static void take_ends(const struct host *host, const struct descriptor_search *search,
		      bool is_complete, bool is_writing_thread, struct wait_object *object)
{
	bool is_pipe = strcmp(object->kind, "pipe") == 0;

	for (size_t i = 0; i < search->count && object->peer_count < WAIT_PARTIES; i++) {
		const struct descriptor_holder *holder = &search->holders[i];

		if (!is_pipe || (is_writing_thread ? holder->reads : holder->writes))
			add_peer(host, holder->pid, object);
	}
	/* A socket can have a time limit that is not visible from outside. */
	object->is_certain = is_pipe && is_complete && !search->has_more && object->peer_count > 0;
}

static void take_peers(const struct wait_process *process, const struct descriptor_search *search,
		       bool is_complete, const struct task_state *thread,
		       struct wait_object *object)
{
	if (strcmp(object->kind, "file_lock") != 0)
		take_ends(process->host, search, is_complete, is_writing(thread), object);
	else if (thread->call.number == SYS_flock)
		take_lockers(process, search, is_complete, FILE_LOCK_FLOCK, object);
	else if (thread->call.arguments[1] == F_OFD_SETLKW)
		take_lockers(process, search, is_complete, FILE_LOCK_OPEN, object);
}

static bool is_polling(const struct task_state *thread)
{
	static const uint32_t numbers[] = {
#ifdef SYS_poll
		SYS_poll,  SYS_select,	 SYS_epoll_wait,
#endif
		SYS_ppoll, SYS_pselect6, SYS_epoll_pwait, SYS_epoll_pwait2,
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (thread->in_call && numbers[i] == thread->call.number)
			return true;
	return false;
}

/*
 * A process that has one connection, and waits for none itself, most likely polls for that: then it is
 * the object of its threads that poll.
 */
static void name_connection(const struct host *host, const struct process_state *state,
			    struct wait_object *objects, uint64_t deadline_ns)
{
	struct process_sockets sockets = { 0 };
	bool is_read = false;

	for (size_t i = 0; i < state->threads.count; i++) {
		if (objects[i].kind || !is_polling(&state->threads.data[i]))
			continue;
		if (!is_read && process_sockets_add(host, state->pid, deadline_ns, &sockets) < 0)
			return;
		is_read = true;
		if (sockets.connected != 1 || sockets.listening)
			return;
		objects[i].kind = "socket";
		snprintf(objects[i].name, sizeof(objects[i].name), "%s", sockets.link);
	}
}

void wait_objects_find_peers(const struct wait_process *process, struct wait_object *objects)
{
	const struct process_state *state = process->state;
	size_t count = state->threads.count;
	CLEANUP(free_pointer) struct searches *searches = calloc(1, sizeof(*searches));
	CLEANUP(free_pointer) size_t *numbers = calloc(count + 1, sizeof(*numbers));
	bool is_complete;

	if (!searches || !numbers)
		return;
	name_connection(process->host, state, objects, process->deadline_ns);
	for (size_t i = 0; i < count; i++)
		numbers[i] = begin_search(searches, &objects[i], process->deadline_ns);
	if (!searches->count)
		return;
	is_complete = descriptor_holders_find(process->host, searches->list, searches->count,
					      process->deadline_ns);
	for (size_t i = 0; i < count; i++)
		if (numbers[i] != NO_SEARCH)
			take_peers(process, &searches->list[numbers[i]], is_complete,
				   &state->threads.data[i], &objects[i]);
}
