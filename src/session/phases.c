#include "session/phases.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/scope_layout.h"
#include "base/text.h"
#include "collect/scope_reader.h"
#include "model/counter.h"
#include "render/run_json.h"
#include "session/lines.h"
#include "trace/clocks.h"
#include "trace/tracer.h"

#define MS UINT64_C(1000000)

#define SEARCH_FIRST_NS (100 * MS)
#define SEARCH_LONGEST_NS (5 * NS_PER_SECOND)
/*
 * Searches may take one part in so many of the time, and that much at a time: of many members each
 * is searched less often.
 */
#define SEARCH_BUDGET 400
#define SEARCH_CREDIT_NS (20 * MS)
#define SEARCH_BATCH 16 /* before it is looked at what they took */
#define SEARCH_ALL_AFTER_NS (60 * NS_PER_SECOND)
#define SEARCH_ALL_MOST 4 /* at a time */

/* Of a line; the rest is counted. */
#define LINE_PROCESSES_MAX 64

int phases_begin(struct phase_watch *watch, const struct host *host, struct run *run)
{
	*watch = (struct phase_watch){
		.host = host,
		.run = run,
		.credit_ns = (int64_t)SEARCH_CREDIT_NS,
		.credited_ns = monotonic_ns(),
	};
	run->phases.known = true;
	return run_add_source(run, "scopes", "ok", NULL);
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

static void count_failure(struct phase_watch *watch, int status)
{
	if (status < 0)
		counter_add(&watch->run->losses.scopes, 1);
}

/* A program that ended, or gave way to another, at that time. */
static void end_program(struct phase_watch *watch, struct phase_member *member,
			const struct tree_process *process, uint64_t time_ns)
{
	if (!member->view || !member->view->reader)
		return;
	count_failure(watch, phase_view_sample(member->view, &watch->run->phases, process,
					       time_ns ? time_ns : monotonic_ns()));
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
		.pause_ns = SEARCH_FIRST_NS,
		.execs = process->execs,
		.is_found = process->found && watch->run->mode == RUN_ATTACH,
	};
	number_map_put(&watch->numbers, member->key.pid, member);
	*ret = member;
	return 0;
}

/* The number of one whose end is not known yet may be another's: that one is not searched again. */
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
	count_failure(watch, add_member(watch, process, &member));
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
	member->next_ns = 0;
	member->pause_ns = SEARCH_FIRST_NS;
	member->is_found = member->has_heartbeat = member->is_searched = false;
}

static void set_flag(bool *flag, uint64_t *sum, bool value)
{
	*sum += (uint64_t)value - (uint64_t)*flag;
	*flag = value;
}

/* The number may be another's by now. */
static bool is_still(const struct phase_watch *watch, const struct phase_member *member)
{
	CLEANUP(close_fd)
	int fd = process_directory(watch->host, member->key.pid, member->key.start_ns);

	return fd >= 0;
}

/* Takes over the reader when it works. */
static int open_view(struct phase_watch *watch, struct phase_member *member,
		     struct scope_reader *reader)
{
	const struct tree_process *process = tree_find(watch->run->tree, member->key.pid);

	if (!process)
		return -ESRCH;
	if (member->view) {
		phase_view_reopen(member->view, reader, process);
		return 0;
	}
	member->view = phase_view_new(reader, process);
	if (!member->view)
		return -ENOMEM;
	if (member->is_found)
		count_failure(watch, phase_view_begin(member->view, &watch->run->phases));
	return 0;
}

/* Takes over the reader. */
static void take_reader(struct phase_watch *watch, struct phase_member *member,
			struct scope_reader *reader)
{
	bool is_beyond = watch->readers >= PHASE_READERS_MAX;
	int status = -ESRCH;

	set_flag(&member->is_beyond, &watch->beyond, is_beyond);
	if (!is_beyond && is_still(watch, member))
		status = open_view(watch, member, reader);
	if (status < 0)
		scope_reader_close(reader);
	else
		watch->readers++;
	if (status == -ENOMEM)
		count_failure(watch, status);
}

static void take_refusal(struct phase_watch *watch, struct phase_member *member, int status)
{
	switch (status) {
	case -ESRCH:
		break;
	case -EACCES:
	case -EPERM:
		set_flag(&member->is_denied, &watch->denied, true);
		break;
	case -ENOTSUP:
	case -EPROTO:
		set_flag(&member->is_strange, &watch->strange, true);
		break;
	default:
		count_failure(watch, status);
	}
}

static void search_member(struct phase_watch *watch, struct phase_member *member,
			  enum scope_search search)
{
	struct scope_reader *reader = NULL;
	struct error error = { 0 };
	int status = scope_reader_open(watch->host, member->key.pid, search, &reader, &error);

	if (status == 0 || status == -ENOENT) {
		set_flag(&member->is_denied, &watch->denied, false);
		set_flag(&member->is_looked_at, &watch->looked_at, true);
	}
	if (status == 0)
		take_reader(watch, member, reader);
	else if (status != -ENOENT)
		take_refusal(watch, member, status);
}

/* Few programs have such a thread, and nearly all of them have scopes: these need not wait. */
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
	search_member(watch, member, SCOPE_SEARCH_ALL);
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

static bool wants_all(const struct phase_member *member, uint64_t now_ns)
{
	return !member->is_searched && now_ns >= member->begin_ns + SEARCH_ALL_AFTER_NS;
}

static void search_due(struct phase_watch *watch, struct phase_member *member, uint64_t now_ns,
		       unsigned *thorough)
{
	bool is_thorough = wants_all(member, now_ns) && *thorough < SEARCH_ALL_MOST;

	*thorough += is_thorough;
	member->is_searched |= is_thorough;
	search_member(watch, member, is_thorough ? SCOPE_SEARCH_ALL : SCOPE_SEARCH_QUICK);
	member->next_ns = now_ns + member->pause_ns;
	member->pause_ns *= 2;
	if (member->pause_ns > SEARCH_LONGEST_NS)
		member->pause_ns = SEARCH_LONGEST_NS;
}

/* What searches may take by now. */
static void give_credit(struct phase_watch *watch, uint64_t now_ns)
{
	if (now_ns > watch->credited_ns)
		watch->credit_ns += (int64_t)((now_ns - watch->credited_ns) / SEARCH_BUDGET);
	if (watch->credit_ns > (int64_t)SEARCH_CREDIT_NS)
		watch->credit_ns = (int64_t)SEARCH_CREDIT_NS;
	watch->credited_ns = now_ns;
}

/* Returns when it was looked at. */
static uint64_t pay(struct phase_watch *watch, uint64_t since_ns)
{
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	counter_add(&watch->cost_ns, cpu_ns - since_ns);
	watch->credit_ns -= (int64_t)(cpu_ns - since_ns);
	return cpu_ns;
}

void phases_search(struct phase_watch *watch, uint64_t now_ns)
{
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	unsigned thorough = 0, searched = 0;

	if (!watch->host)
		return;
	give_credit(watch, now_ns);
	for (size_t i = 0; i < watch->members.count && watch->credit_ns > 0; i++) {
		struct phase_member *member;

		watch->turn = watch->turn + 1 < watch->members.count ? watch->turn + 1 : 0;
		member = watch->members.data[watch->turn];
		if (now_ns < member->next_ns || (member->view && member->view->reader))
			continue;
		search_due(watch, member, now_ns, &thorough);
		if (++searched % SEARCH_BATCH == 0)
			cpu_ns = pay(watch, cpu_ns);
	}
	pay(watch, cpu_ns);
}

uint64_t phases_take_cost(struct phase_watch *watch)
{
	return TAKE(watch->cost_ns, 0);
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
		count_failure(watch,
			      phase_view_sample(member->view, &watch->run->phases, process, 0));
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
	bool is_blind = watch->denied && !watch->looked_at;
	CLEANUP(text_free) struct text reason = { 0 };

	append_count(&reason, watch->denied,
		     "process could not be looked at: that takes its owner, or CAP_SYS_PTRACE",
		     "processes could not be looked at: that takes their owner, or CAP_SYS_PTRACE");
	append_count(&reason, watch->beyond, "process with scopes was one too many at a time",
		     "processes with scopes were too many at a time");
	append_count(&reason, watch->strange,
		     "process has scopes of a newer version, or that make no sense",
		     "processes have scopes of a newer version, or that make no sense");
	append_count(&reason, watch->run->losses.scopes, "look at scopes failed",
		     "looks at scopes failed");
	if (reason.failed)
		return -ENOMEM;
	if (!reason.length)
		return 0;
	watch->run->phases.known = !is_blind;
	return run_set_source(watch->run, "scopes", is_blind ? "unavailable" : "partial",
			      text_string(&reason));
}

int phases_finish(struct phase_watch *watch)
{
	if (!watch->host)
		return 0;
	for (size_t i = 0; i < watch->members.count; i++) {
		struct phase_view *view = watch->members.data[i]->view;

		if (view && view->reader)
			count_failure(watch, phase_view_count(view, &watch->run->phases));
	}
	phases_settle(&watch->run->phases);
	return report(watch);
}
