/* SPDX-License-Identifier: MIT */
#include "session/phase/phases.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/scope_layout.h"
#include "base/text.h"
#include "store/run/run_json.h"
#include "base/output/lines.h"
#include "collect/scope/scope_reader.h"
#include "session/phase/phase_search.h"
#include "trace/tracer_stack.h"

/* At most this many processes in a line; the others are counted. */
#define LINE_PROCESSES_MAX 64

int phases_begin(struct phase_watch *watch, const struct host *host, const struct tracer *tracer,
		 struct run *run)
{
	*watch = (struct phase_watch){
		.host = host,
		.tracer = tracer,
		.run = run,
	};
	phase_search_begin(watch);
	run->phases.known = true;
	return run_add_source(run, "scopes", SOURCE_OK, NULL);
}

static void member_free(struct phase_member *member)
{
	phase_view_free(member->view);
	free(member);
}

void phases_close(struct phase_watch *watch)
{
	for (size_t i = 0; i < watch->members.count; i++)
		member_free(watch->members.data[i]);
	array_free(&watch->members);
	number_map_clear(&watch->numbers);
	*watch = (struct phase_watch){ 0 };
}

/* Ends a program at that time: its process ended or did an exec. */
static void end_program(struct phase_watch *watch, struct phase_member *member,
			const struct tree_process *process, uint64_t time_ns)
{
	if (!member->view || !member->view->reader)
		return;
	phase_count_failure(watch, phase_view_sample(member->view, &watch->run->phases, process,
						     time_ns ? time_ns : monotonic_ns()));
	phase_count_failure(watch, phase_view_end(member->view, &watch->run->phases));
	watch->readers--;
}

static void remove_member(struct phase_watch *watch, struct phase_member *member)
{
	struct phase_member *last = watch->members.data[--watch->members.count];

	watch->members.data[member->slot] = last;
	last->slot = member->slot;
	number_map_forget(&watch->numbers, member->key.pid, member);
	member_free(member);
}

static bool is_member(const struct phase_member *member, const struct tree_process *process)
{
	return !member->key.start_ns || !process->key.start_ns ||
	       member->key.start_ns == process->key.start_ns;
}

static int add_member(struct phase_watch *watch, const struct tree_process *process,
		      struct phase_member **ret)
{
	struct phase_member *member = calloc(1, sizeof(*member));

	if (!member || number_map_reserve(&watch->numbers) < 0 ||
	    array_append(&watch->members, member) < 0) {
		free(member);
		return -ENOMEM;
	}
	*member = (struct phase_member){
		.key = process->key,
		.slot = watch->members.count - 1,
		.begin_ns = process->begin_ns,
		.execs = process->execs,
		.is_found = process->found && watch->run->mode == RUN_ATTACH,
	};
	phase_search_again(member);
	number_map_put(&watch->numbers, member->key.pid, member);
	*ret = member;
	return 0;
}

/*
 * Another process may have the number of a member whose end was not reported yet: then the old
 * member is removed.
 */
static struct phase_member *member_of(struct phase_watch *watch, const struct tree_process *process)
{
	struct phase_member *member = number_map_get(&watch->numbers, process->key.pid);

	if (member && is_member(member, process))
		return member;
	if (member) {
		end_program(watch, member, process, 0);
		remove_member(watch, member);
	}
	member = NULL;
	phase_count_failure(watch, add_member(watch, process, &member));
	return member;
}

static void note_exec(struct phase_watch *watch, struct phase_member *member,
		      const struct tree_process *process, uint64_t time_ns)
{
	if (member->execs == process->execs)
		return;
	end_program(watch, member, process, time_ns);
	member->execs = process->execs;
	member->begin_ns = time_ns;
	member->is_found = member->has_heartbeat = false;
	phase_search_again(member);
}

/* Few programs have a thread of this name, and nearly all of them have scopes: search at once. */
static void note_heartbeat(struct phase_watch *watch, struct phase_member *member,
			   const struct tree_event *event)
{
	if (member->has_heartbeat || event->task.tid == event->task.pid ||
	    strncmp(event->account.comm, SCOPE_HEARTBEAT_NAME, TREE_COMM_SIZE) != 0)
		return;
	member->has_heartbeat = true;
	if (member->view && member->view->reader)
		return;
	member->is_searched = true;
	phase_search_member(watch, member, SCOPE_SEARCH_ALL);
}

void phases_note(struct phase_watch *watch, const struct tree_event *event)
{
	const struct tree_process *process;
	struct phase_member *member;

	if (!watch->host)
		return;
	process = tree_find(watch->run->tree, event->task.pid);
	if (!process || process->exited)
		return;
	member = member_of(watch, process);
	if (!member)
		return;
	if (event->type == TREE_EXEC)
		note_exec(watch, member, process, event->time_ns);
	else if (event->type == TREE_THREAD)
		note_heartbeat(watch, member, event);
}

static void write_line(struct phase_watch *watch, struct lines *lines, uint64_t now_ns)
{
	struct run_scopes changed[LINE_PROCESSES_MAX];
	size_t count = 0, omitted = 0;
	FILE *out = lines_begin(lines);

	for (size_t i = 0; out && i < watch->members.count; i++) {
		struct phase_view *view = watch->members.data[i]->view;

		if (!view || !view->reader || !view->is_line_due)
			continue;
		if (count == LINE_PROCESSES_MAX) {
			omitted++;
			continue;
		}
		view->is_line_due = false;
		changed[count++] = (struct run_scopes){ view->phases.key, &view->scopes };
	}
	if (!count)
		return;
	run_json_scopes(out, watch->run, now_ns, changed, count, omitted);
	lines_end(lines);
}

bool phases_sample(struct phase_watch *watch, struct lines *lines, uint64_t now_ns)
{
	bool has_moved = false;

	if (!watch->host)
		return false;
	watch->run->now.present = false;
	for (size_t i = 0; watch->readers && i < watch->members.count; i++) {
		struct phase_member *member = watch->members.data[i];
		const struct tree_process *process;

		if (!member->view || !member->view->reader)
			continue;
		process = tree_find(watch->run->tree, member->key.pid);
		if (!process || process->exited || !is_member(member, process))
			continue;
		phase_count_failure(
			watch, phase_view_sample(member->view, &watch->run->phases, process, 0));
		phase_now_set(&watch->run->now, &member->view->scopes);
		has_moved |= member->view->has_moved;
	}
	if (watch->readers)
		write_line(watch, lines, now_ns);
	return has_moved;
}

void phases_end(struct phase_watch *watch, const struct tree_process *process)
{
	struct phase_member *member = number_map_get(&watch->numbers, process->key.pid);

	if (!member || !is_member(member, process))
		return;
	end_program(watch, member, process, process->end_ns);
	if (watch->tracer && watch->tracer->kind->forget_scopes)
		watch->tracer->kind->forget_scopes(watch->tracer->state, member->key.pid);
	remove_member(watch, member);
}

static void append_count(struct text *reason, uint64_t count, const char *one, const char *many)
{
	if (count)
		text_format(reason, "%s%" PRIu64 " %s", reason->length ? "; " : "", count,
			    count == 1 ? one : many);
}

static int report(struct phase_watch *watch)
{
	bool is_blind = watch->denied && !watch->readable;
	CLEANUP(text_free) struct text reason = { 0 };

	append_count(
		&reason, watch->denied,
		"process could not be looked at: that takes its owner, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH",
		"processes could not be looked at: that takes their owner, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH");
	append_count(&reason, watch->beyond, "process with scopes was one too many at a time",
		     "processes with scopes were too many at a time");
	append_count(&reason, watch->strange,
		     "process has scopes of another version, or that make no sense",
		     "processes have scopes of another version, or that make no sense");
	append_count(&reason, watch->run->losses.scopes, "read of scopes failed",
		     "reads of scopes failed");
	append_count(&reason, watch->run->losses.scope_waits, "wait in scopes was lost",
		     "waits in scopes were lost");
	if (reason.failed)
		return -ENOMEM;
	if (!reason.length)
		return 0;
	watch->run->phases.known = !is_blind;
	return run_set_source(watch->run, "scopes", is_blind ? SOURCE_UNAVAILABLE : SOURCE_PARTIAL,
			      text_string(&reason));
}

int phases_finish(struct phase_watch *watch)
{
	if (!watch->host)
		return 0;
	for (size_t i = 0; i < watch->members.count; i++) {
		struct phase_view *view = watch->members.data[i]->view;

		if (view && view->reader)
			phase_count_failure(watch, phase_view_count(view, &watch->run->phases,
								    tree_find(watch->run->tree,
									      view->phases.key.pid),
								    watch->run->end_ns));
	}
	phases_sort(&watch->run->phases);
	return report(watch);
}

/* The kernel may see the scopes of a program before we searched for them. */
static const struct phase_view *view_of(struct phase_watch *watch, int32_t pid)
{
	struct phase_member *member = number_map_get(&watch->numbers, pid);

	if (member && !(member->view && member->view->reader))
		phase_search_member(watch, member, SCOPE_SEARCH_QUICK);
	return member ? member->view : NULL;
}

void phases_append_scopes(struct phase_watch *watch, int32_t pid,
			  const struct tracer_stack_scopes *scopes, struct text *out)
{
	const struct phase_view *view = scopes->count ? view_of(watch, pid) : NULL;
	bool is_known = view && view->reader && view->traced.area_ns == scopes->area_ns;

	for (size_t i = 0; i < scopes->count; i++) {
		const char *label =
			is_known ? scope_reader_label(view->reader, scopes->labels[i]) : "";

		text_format(out, "%s%s", i ? " > " : "", *label ? label : PHASE_NOT_KNOWN);
	}
}
