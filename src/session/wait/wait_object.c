/* SPDX-License-Identifier: MIT */
#include "session/wait/wait_object.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "collect/process/namespace_tids.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"
#include "host/wait/file_locks.h"
#include "model/wait/futex_word.h"
#include "session/wait/wait_memory.h"
#include "session/why/process_state.h"

#define STATUS_BYTES 4096
#define CHILDREN_BYTES 4096
#define COMM_BYTES 128

/* A process while its objects are found: what is read for several of its threads is read once. */
struct finder {
	const struct wait_process *process;
	struct namespace_tids tids;
	bool has_tids;
	struct wait_memory memory; /* where its threads wait for futexes */
	uint64_t address;	   /* of the futex that is judged */
	int32_t sharer;		   /* thread that was last asked about, whether it shares a futex */
	uint64_t sharer_address;
	bool is_shared;
	struct file_locks locks;
	bool has_locks;
	struct wait_open_files open_files;
};

static void finder_clear(struct finder *finder)
{
	namespace_tids_clear(&finder->tids);
	wait_memory_clear(&finder->memory);
	file_locks_clear(&finder->locks);
	wait_open_files_clear(&finder->open_files);
}

/* A name may have newlines of its own, also at its beginning. */
bool wait_party_read_comm(const struct host *host, struct wait_party *party)
{
	char path[64], text[COMM_BYTES];
	ssize_t length;

	snprintf(path, sizeof(path), "%" PRId32 "/comm", party->tid ? party->tid : party->pid);
	length = proc_read_start(host->proc, path, text, sizeof(text));
	if (length > 0 && text[length - 1] == '\n')
		text[length - 1] = '\0';
	snprintf(party->comm, sizeof(party->comm), "%.*s", (int)sizeof(party->comm) - 1,
		 length > 0 ? text : "");
	return length > 0;
}

static bool task_exists(int directory, const char *folder, int32_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "%s%" PRId32, folder, tid);
	return tid > 0 && faccessat(directory, path, F_OK, 0) == 0;
}

static bool is_own_thread(void *context, int32_t own)
{
	struct finder *finder = context;
	int32_t tid = namespace_tids_ours(&finder->tids, own);

	return task_exists(finder->process->directory, "task/", tid);
}

static bool read_status(int directory, const char *key, uint64_t *ret)
{
	char text[STATUS_BYTES];

	return proc_read_start(directory, "status", text, sizeof(text)) >= 0 &&
	       task_status_number(text, key, ret);
}

static int32_t process_of(const struct host *host, int32_t tid)
{
	CLEANUP(close_fd) int directory = proc_open_number(host->proc, tid);
	uint64_t pid;

	if (directory < 0 || !read_status(directory, "Tgid", &pid) || pid > INT32_MAX)
		return 0;
	return (int32_t)pid;
}

/*
 * Anybody can write the number of a stranger into memory of his own.  So a thread of another process
 * is believed to have a lock only if both are the same user's and share the memory of the lock.
 */
static bool shares_lock(struct finder *finder, int32_t tid)
{
	const struct wait_process *process = finder->process;
	CLEANUP(close_fd) int other = proc_open_number(process->host->proc, tid);
	uint64_t user, own_user;

	return other >= 0 && read_status(other, "Uid", &user) &&
	       read_status(process->directory, "Uid", &own_user) && user == own_user &&
	       wait_memory_is_shared(process->directory, finder->address, other,
				     process->deadline_ns);
}

/* Numbers of other processes are the same only in our own PID namespace. */
static bool is_any_thread(void *context, int32_t own)
{
	struct finder *finder = context;

	if (is_own_thread(context, own))
		return true;
	if (finder->tids.differ || !task_exists(finder->process->host->proc, "", own))
		return false;
	if (finder->sharer != own || finder->sharer_address != finder->address) {
		finder->sharer = own;
		finder->sharer_address = finder->address;
		finder->is_shared = shares_lock(finder, own);
	}
	return finder->is_shared;
}

static void set_holder(struct finder *finder, int32_t own, struct wait_object *object)
{
	const struct wait_process *process = finder->process;
	int32_t tid = namespace_tids_ours(&finder->tids, own);
	bool is_own = task_exists(process->directory, "task/", tid);

	object->holder.tid = tid;
	object->holder.pid = is_own ? process->state->pid : process_of(process->host, tid);
	object->has_holder = object->holder.pid > 0;
	if (object->has_holder)
		wait_party_read_comm(process->host, &object->holder);
}

static bool learn_tids(struct finder *finder)
{
	if (!finder->has_tids)
		finder->has_tids =
			namespace_tids_init(&finder->tids, finder->process->directory) == 0 &&
			namespace_tids_refresh(&finder->tids, finder->process->directory) == 0;
	return finder->has_tids;
}

/* An owner that changes meanwhile is not the one that keeps this thread waiting. */
static struct futex_judgement judge_twice(struct finder *finder, const struct wait_words *words,
					  struct futex_wait *wait)
{
	struct futex_threads threads = { is_own_thread, is_any_thread, finder };
	struct futex_judgement judgements[2];

	for (size_t i = 0; i < 2; i++) {
		wait->word_count = words->is_late ? 0 : words->counts[i];
		memcpy(wait->words, words->words[i], sizeof(wait->words));
		judgements[i] = futex_judge(wait, &threads);
	}
	if (judgements[0].owner != judgements[1].owner)
		judgements[1].owner = 0;
	return judgements[1];
}

static void find_futex(struct finder *finder, const struct task_state *thread,
		       struct wait_object *object)
{
	const uint64_t *arguments = thread->call.arguments;
	struct futex_wait wait = { .operation = arguments[1], .value = (uint32_t)arguments[2] };
	const struct wait_words *words;
	struct futex_judgement judgement;

	if (!learn_tids(finder) || !finder->memory.list)
		return;
	words = &finder->memory.list[thread - finder->process->state->threads.data];
	object->address = finder->address = arguments[0];
	object->is_late = words->is_late;
	judgement = judge_twice(finder, words, &wait);
	object->kind = futex_use_names[judgement.use];
	object->reason = judgement.reason;
	snprintf(object->name, sizeof(object->name), "0x%" PRIx64, object->address);
	if (judgement.owner)
		set_holder(finder, judgement.owner, object);
	object->is_timed = arguments[3] != 0;
	object->is_certain = object->has_holder && !object->is_timed;
}

static void set_locker(struct finder *finder, const struct file_lock *held,
		       struct wait_object *object)
{
	const struct wait_process *process = finder->process;
	enum wait_answer has_it =
		wait_has_inode_open(process, &finder->open_files, held->pid, held->inode);

	if (has_it == ANSWER_NO)
		return;
	object->holder.pid = held->pid;
	object->has_holder = wait_party_read_comm(process->host, &object->holder);
	object->is_certain = object->has_holder && has_it == ANSWER_YES;
}

static void find_file_lock(struct finder *finder, const struct task_state *thread,
			   enum file_lock_kind kind, struct wait_object *object)
{
	const struct wait_process *process = finder->process;
	const struct file_lock *held = NULL;
	uint64_t inode;

	object->kind = "file_lock";
	object->reason = WAIT_LOCK;
	memcpy(object->file, thread->link, sizeof(object->file));
	if (!finder->has_locks)
		finder->has_locks = file_locks_read(process->host, &finder->locks) == 0;
	if (wait_descriptor_inode(process->reader, process->state->pid, process->directory,
				  thread->call.arguments[0], &inode, &object->is_late))
		held = file_locks_awaited(&finder->locks, process->state->pid, kind, inode);
	if (held && held->pid > 0)
		set_locker(finder, held, object);
}

static void find_flock(struct finder *finder, const struct task_state *thread,
		       struct wait_object *object)
{
	find_file_lock(finder, thread, FILE_LOCK_FLOCK, object);
}

/* A pipe with a name has a path like a file, which must not be followed: go by where it waits. */
static bool waits_in_pipe(const struct task_state *thread)
{
	return strstr(thread->channel, "pipe_read") || strstr(thread->channel, "pipe_write");
}

static void find_descriptor(struct finder *finder, const struct task_state *thread,
			    struct wait_object *object)
{
	const char *link = thread->link;
	const struct link_kind *kind = link_kind_of(link);

	(void)finder;
	if (!kind)
		return;
	object->kind = kind->kind;
	object->reason = kind->reason;
	memcpy(object->name, link, sizeof(object->name));
	if (link[0] == '/')
		memcpy(object->file, link, sizeof(object->file));
	if (strcmp(object->kind, "file") == 0 && waits_in_pipe(thread)) {
		object->kind = "pipe";
		object->reason = WAIT_PIPE;
	}
}

static void find_fcntl(struct finder *finder, const struct task_state *thread,
		       struct wait_object *object)
{
	if (thread->call.arguments[1] == F_SETLKW)
		find_file_lock(finder, thread, FILE_LOCK_POSIX, object);
	else if (thread->call.arguments[1] == F_OFD_SETLKW)
		find_file_lock(finder, thread, FILE_LOCK_OPEN, object);
	else
		find_descriptor(finder, thread, object);
}

static void add_child(struct finder *finder, int32_t pid, struct wait_object *object)
{
	struct wait_party *child = &object->peers[object->peer_count];

	*child = (struct wait_party){ .pid = pid };
	if (wait_party_read_comm(finder->process->host, child))
		object->peer_count++;
}

static bool is_past_deadline(const struct finder *finder)
{
	return monotonic_ns() >= finder->process->deadline_ns;
}

/* A thread waits for the children of all threads. */
static bool add_children(struct finder *finder, struct wait_object *object)
{
	const struct process_state *state = finder->process->state;

	for (size_t i = 0; i < state->threads.count; i++) {
		char path[48], text[CHILDREN_BYTES];
		const char *cursor = text;
		uint64_t pid;

		snprintf(path, sizeof(path), "task/%" PRId32 "/children",
			 state->threads.data[i].tid);
		if (is_past_deadline(finder) ||
		    proc_read_start(finder->process->directory, path, text, sizeof(text)) < 0)
			return false;
		for (; scan_u64(&cursor, &pid) && pid <= INT32_MAX; cursor += *cursor == ' ') {
			if (object->peer_count == WAIT_PARTIES)
				return false;
			add_child(finder, (int32_t)pid, object);
		}
	}
	return true;
}

/* `pid` as the process sees it; 0: any of its children. */
static void find_child(struct finder *finder, int64_t pid, struct wait_object *object)
{
	object->kind = "child";
	object->reason = WAIT_CHILD;
	if (pid > 0 && learn_tids(finder) && !finder->tids.differ) {
		add_child(finder, (int32_t)pid, object);
		object->is_certain = object->peer_count > 0;
	} else {
		object->is_certain = add_children(finder, object) && object->peer_count > 0;
	}
}

static void find_wait4(struct finder *finder, const struct task_state *thread,
		       struct wait_object *object)
{
	int32_t pid = (int32_t)thread->call.arguments[0];

	find_child(finder, pid > 0 ? pid : 0, object);
}

static void find_waitid(struct finder *finder, const struct task_state *thread,
			struct wait_object *object)
{
	bool is_one = thread->call.arguments[0] == P_PID;

	find_child(finder, is_one ? (int32_t)thread->call.arguments[1] : 0, object);
}

static const struct {
	uint32_t number;
	void (*find)(struct finder *finder, const struct task_state *thread,
		     struct wait_object *object);
} calls[] = {
	{ SYS_futex, find_futex }, { SYS_flock, find_flock },	{ SYS_fcntl, find_fcntl },
	{ SYS_wait4, find_wait4 }, { SYS_waitid, find_waitid },
};

static bool is_blocked_in_call(const struct task_state *thread)
{
	return thread->in_call && (thread->state == 'S' || thread->state == 'D');
}

static void find_object(struct finder *finder, const struct task_state *thread,
			struct wait_object *object)
{
	*object = (struct wait_object){ .reason = -1 };
	if (!is_blocked_in_call(thread))
		return;
	object->is_late = is_past_deadline(finder);
	if (object->is_late)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].number == thread->call.number) {
			calls[i].find(finder, thread, object);
			return;
		}
	find_descriptor(finder, thread, object);
}

/* One child reads the memory for all threads. */
static void read_memory(struct finder *finder)
{
	const struct wait_process *process = finder->process;

	if (wait_memory_init(&finder->memory, process->state->threads.count) < 0)
		return;
	for (size_t i = 0; i < process->state->threads.count; i++) {
		const struct task_state *thread = &process->state->threads.data[i];

		finder->memory.list[i].is_wanted =
			is_blocked_in_call(thread) && thread->call.number == SYS_futex;
		finder->memory.list[i].address = thread->call.arguments[0];
	}
	wait_memory_read(&finder->memory, process->directory, process->deadline_ns);
}

void wait_objects_find(const struct wait_process *process, struct wait_object *objects)
{
	CLEANUP(finder_clear) struct finder finder = { .process = process };

	read_memory(&finder);
	for (size_t i = 0; i < process->state->threads.count; i++)
		find_object(&finder, &process->state->threads.data[i], &objects[i]);
}
