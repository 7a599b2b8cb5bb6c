/* SPDX-License-Identifier: MIT */
#include "session/wait/wait_survey.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/wait/wait_graph.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "host/deadline_run.h"
#include "host/host.h"
#include "host/proc/task_text.h"
#include "session/why/process_state.h"
#include "trace/proc/proc_sample.h"

#define SURVEY_NS (1000 * NS_PER_MS)

struct surveyed {
	const struct process_state *state;
	struct process_state own_state; /* of those that the survey read itself */
	struct wait_object *objects;	/* one for each thread */
	bool owns_objects;
	uint32_t first_node, group;
	size_t live_count; /* threads that are not dead */
};

struct survey {
	const struct host *host;
	struct deadline_threads reader;
	uint64_t deadline_ns;
	struct surveyed processes[WAIT_PROCESSES_MAX];
	size_t count;
	size_t start_count; /* the first ones: a deadlock that keeps one of them waiting is wanted */
	struct wait_graph graph;
};

static void survey_free(struct survey *survey)
{
	if (!survey)
		return;
	for (size_t i = 0; i < survey->count; i++) {
		process_state_clear(&survey->processes[i].own_state);
		if (survey->processes[i].owns_objects)
			free(survey->processes[i].objects);
	}
	wait_graph_clear(&survey->graph);
	deadline_threads_clear(&survey->reader);
	free(survey);
}

CLEANUP_POINTER(survey_free, struct survey)

static const struct surveyed *find_process(const struct survey *survey, int32_t pid)
{
	for (size_t i = 0; i < survey->count; i++)
		if (survey->processes[i].state->pid == pid)
			return &survey->processes[i];
	return NULL;
}

/* The objects of one process.  If another process has its number by now, nothing is known. */
static void find_objects(struct survey *survey, struct surveyed *process)
{
	struct process_state now = { 0 };
	CLEANUP(close_fd)
	int directory = process_state_open(survey->host, process->state->pid, &now);
	struct wait_process wait = { survey->host, process->state, directory, &survey->reader,
				     survey->deadline_ns };

	for (size_t i = 0; i < process->state->threads.count; i++)
		process->objects[i] = (struct wait_object){ .reason = -1 };
	if (directory < 0 || now.start_ticks != process->state->start_ticks)
		return;
	wait_objects_find(&wait, process->objects);
	wait_objects_find_peers(&wait, process->objects);
}

/* Adds a process unless it is there, is gone, or there are too many. */
static int add_process(struct survey *survey, int32_t pid)
{
	struct surveyed *process = &survey->processes[survey->count];
	struct error ignored = { 0 };

	if (survey->count == WAIT_PROCESSES_MAX || monotonic_ns() >= survey->deadline_ns ||
	    find_process(survey, pid) ||
	    process_state_read(survey->host, pid, &process->own_state, &ignored) < 0)
		return 0;
	process->state = &process->own_state;
	process->owns_objects = true;
	process->objects = calloc(process->own_state.threads.count + 1, sizeof(*process->objects));
	survey->count++;
	return process->objects ? 0 : -ENOMEM;
}

static int add_parties(struct survey *survey, const struct wait_object *object)
{
	int status = 0;

	if (!object->is_certain)
		return 0;
	if (object->has_holder)
		status = add_process(survey, object->holder.pid);
	for (size_t i = 0; status == 0 && i < object->peer_count; i++)
		status = add_process(survey, object->peers[i].pid);
	return status;
}

static int read_all(struct survey *survey)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < survey->count; i++) {
		struct surveyed *process = &survey->processes[i];

		find_objects(survey, process);
		for (size_t k = 0; status == 0 && k < process->state->threads.count; k++)
			status = add_parties(survey, &process->objects[k]);
	}
	return status;
}

/* Whether all parties that can end a wait, and all their threads, are in the survey. */
static bool knows(const struct survey *survey, const struct wait_party *party)
{
	const struct surveyed *process = find_process(survey, party->pid);

	if (!process)
		return false;
	if (!party->tid)
		return process->state->threads.count >= process->state->thread_count;
	for (size_t i = 0; i < process->state->threads.count; i++)
		if (process->state->threads.data[i].tid == party->tid)
			return true;
	return false;
}

static bool knows_all(const struct survey *survey, const struct wait_object *object)
{
	bool known = object->is_certain;

	if (object->has_holder)
		return known && knows(survey, &object->holder);
	for (size_t i = 0; known && i < object->peer_count; i++)
		known = knows(survey, &object->peers[i]);
	return known && object->peer_count > 0;
}

/* A process's group leads to all its threads that live. */
static int connect_group(struct survey *survey, struct surveyed *process)
{
	int status = wait_graph_add_group(&survey->graph, &process->group);

	for (size_t i = 0; status == 0 && i < process->state->threads.count; i++)
		if (!task_state_is_dead(process->state->threads.data[i].state)) {
			process->live_count++;
			status = wait_graph_connect(&survey->graph, process->group,
						    process->first_node + (uint32_t)i);
		}
	return status;
}

/* A thread that is alone can hold a lock that it waits for itself. */
static int connect_holder(struct survey *survey, const struct surveyed *own, uint32_t from,
			  const struct wait_party *holder)
{
	const struct surveyed *process = find_process(survey, holder->pid);
	bool is_alone = process == own && process->live_count == 1;

	if (!holder->tid)
		return wait_graph_connect(&survey->graph, from, is_alone ? from : process->group);
	for (size_t i = 0; i < process->state->threads.count; i++) {
		const struct task_state *thread = &process->state->threads.data[i];

		if (holder->tid == thread->tid && !task_state_is_dead(thread->state))
			return wait_graph_connect(&survey->graph, from,
						  process->first_node + (uint32_t)i);
	}
	return 0;
}

/*
 * A process that only itself could write to a pipe may do so in a signal handler: that is not a
 * circle.
 */
static int connect_peers(struct survey *survey, const struct surveyed *own, uint32_t from,
			 const struct wait_object *object)
{
	bool has_other = false;
	int status = 0;

	for (size_t i = 0; status == 0 && i < object->peer_count; i++) {
		const struct surveyed *process = find_process(survey, object->peers[i].pid);

		has_other |= process->live_count > (process == own);
		status = wait_graph_connect(&survey->graph, from, process->group);
	}
	if (!has_other)
		survey->graph.goes_on.data[from] = true;
	return status;
}

static int connect_threads(struct survey *survey, const struct surveyed *process)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < process->state->threads.count; i++) {
		const struct wait_object *object = &process->objects[i];
		uint32_t node = process->first_node + (uint32_t)i;

		if (survey->graph.goes_on.data[node])
			continue;
		if (object->has_holder)
			status = connect_holder(survey, process, node, &object->holder);
		else
			status = connect_peers(survey, process, node, object);
	}
	return status;
}

static int make_graph(struct survey *survey)
{
	int status = 0;

	for (size_t i = 0; i < survey->count; i++) {
		struct surveyed *process = &survey->processes[i];
		uint32_t node;

		process->first_node = (uint32_t)survey->graph.goes_on.count;
		for (size_t k = 0; status == 0 && k < process->state->threads.count; k++)
			status = wait_graph_add(&survey->graph,
						!knows_all(survey, &process->objects[k]), &node);
	}
	for (size_t i = 0; status == 0 && i < survey->count; i++)
		status = connect_group(survey, &survey->processes[i]);
	for (size_t i = 0; status == 0 && i < survey->count; i++)
		status = connect_threads(survey, &survey->processes[i]);
	return status;
}

static struct wait_member member_of(const struct survey *survey, uint32_t node)
{
	struct wait_member member = { 0 };

	for (size_t i = 0; i < survey->count; i++) {
		const struct surveyed *process = &survey->processes[i];
		const struct task_state *thread;

		if (node >= process->state->threads.count) {
			node -= (uint32_t)process->state->threads.count;
			continue;
		}
		thread = &process->state->threads.data[node];
		member.who.pid = process->state->pid;
		member.who.tid = thread->tid;
		memcpy(member.who.comm, thread->comm, sizeof(member.who.comm));
		member.object = process->objects[node];
		member.slices = thread->slices;
		break;
	}
	return member;
}

static int find_deadlock(struct survey *survey, struct wait_deadlock *ret)
{
	uint32_t nodes[WAIT_CYCLE_MAX];
	uint32_t end = 0;
	int length;

	for (size_t i = 0; i < survey->start_count; i++)
		end += (uint32_t)survey->processes[i].state->threads.count;
	length = wait_graph_find_cycle(&survey->graph, 0, end, nodes, WAIT_CYCLE_MAX);
	ret->count = 0;
	if (length == -E2BIG)
		return 0;
	for (int i = 0; i < length; i++)
		ret->members[ret->count++] = member_of(survey, nodes[i]);
	return length < 0 ? length : 0;
}

static struct survey *survey_new(const struct host *host, uint64_t deadline_ns)
{
	struct survey *survey = calloc(1, sizeof(*survey));

	if (survey) {
		survey->host = host;
		survey->deadline_ns = deadline_ns;
	}
	return survey;
}

static int search_on(struct survey *survey, struct wait_deadlock *ret)
{
	int status;

	survey->start_count = survey->count;
	status = read_all(survey);
	if (status == 0)
		status = make_graph(survey);
	return status < 0 ? status : find_deadlock(survey, ret);
}

/* Searches once.  `state` and `objects` are the first process's. */
static int search(const struct host *host, const struct process_state *state,
		  struct wait_object *objects, struct wait_deadlock *ret)
{
	CLEANUP(survey_free_pointer)
	struct survey *survey = survey_new(host, monotonic_ns() + SURVEY_NS);

	if (!survey)
		return -ENOMEM;
	survey->processes[0] = (struct surveyed){ .state = state, .objects = objects };
	survey->count = 1;
	return search_on(survey, ret);
}

/* Adds a process unless another one has its number by now. */
static int add_start(struct survey *survey, const struct task_key *process)
{
	struct surveyed *added = &survey->processes[survey->count];
	size_t count = survey->count;
	int status = add_process(survey, process->pid);

	if (status == 0 && survey->count > count && process->start_ns &&
	    !proc_sample_is_start(survey->host, process->start_ns,
				  added->own_state.start_ticks * survey->host->tick_ns)) {
		survey->count--;
		free(added->objects);
		process_state_clear(&added->own_state);
		*added = (struct surveyed){ 0 };
	}
	return status;
}

/* Whether something could not be read in time. */
static bool is_late(const struct survey *survey)
{
	bool late = monotonic_ns() >= survey->deadline_ns;

	for (size_t i = 0; i < survey->count && !late; i++) {
		const struct surveyed *process = &survey->processes[i];

		late = process->state->late;
		for (size_t k = 0; k < process->state->threads.count && !late; k++)
			late = process->objects[k].is_late;
	}
	return late;
}

/* Searches once, with states that it reads itself. */
static int search_all(const struct host *host, const struct task_key *processes, size_t count,
		      uint64_t deadline_ns, struct wait_deadlock *ret)
{
	CLEANUP(survey_free_pointer) struct survey *survey = survey_new(host, deadline_ns);
	int status = survey ? 0 : -ENOMEM;

	for (size_t i = 0; status == 0 && i < count; i++)
		status = add_start(survey, &processes[i]);
	if (status == 0)
		status = search_on(survey, ret);
	return status == 0 && !ret->count && is_late(survey) ? -ETIMEDOUT : status;
}

static bool is_same_member(const struct wait_member *a, const struct wait_member *b)
{
	return a->who.pid == b->who.pid && a->who.tid == b->who.tid && a->slices == b->slices &&
	       a->object.address == b->object.address &&
	       strcmp(a->object.name, b->object.name) == 0;
}

static bool is_same(const struct wait_deadlock *a, const struct wait_deadlock *b)
{
	bool same = a->count == b->count;

	for (size_t i = 0; same && i < a->count; i++)
		same = is_same_member(&a->members[i], &b->members[i]);
	return same;
}

/* Searches again with states that are read anew; *is_late if that took too long. */
static int confirm(const struct host *host, int32_t pid, struct wait_deadlock *found, bool *is_late)
{
	CLEANUP(process_state_clear) struct process_state state = { 0 };
	CLEANUP(free_pointer) struct wait_object *objects = NULL;
	CLEANUP(free_pointer) struct wait_deadlock *again = calloc(1, sizeof(*again));
	struct error ignored = { 0 };
	int status;

	if (!again)
		return -ENOMEM;
	if (process_state_read(host, pid, &state, &ignored) < 0) {
		found->count = 0;
		return 0;
	}
	objects = calloc(state.threads.count + 1, sizeof(*objects));
	status = objects ? search(host, &state, objects, again) : -ENOMEM;
	if (status == 0 && !is_same(found, again)) {
		found->count = 0;
		for (size_t i = 0; i < state.threads.count; i++)
			*is_late |= objects[i].is_late;
	}
	return status;
}

int wait_survey(const struct host *host, const struct process_state *state,
		struct wait_object *objects, struct wait_deadlock *ret)
{
	int status = search(host, state, objects, ret);

	if (status == 0 && ret->count)
		status = confirm(host, state->pid, ret, &objects[0].is_late);
	return status;
}

int wait_deadlock_find(const struct host *host, const struct task_key *processes, size_t count,
		       uint64_t deadline_ns, struct wait_deadlock *ret)
{
	CLEANUP(free_pointer) struct wait_deadlock *again = calloc(1, sizeof(*again));
	int status = again ? search_all(host, processes, count, deadline_ns, ret) : -ENOMEM;

	if (status == 0 && ret->count)
		status = search_all(host, processes, count, deadline_ns, again);
	if (status < 0 || !is_same(ret, again))
		ret->count = 0;
	return status;
}
