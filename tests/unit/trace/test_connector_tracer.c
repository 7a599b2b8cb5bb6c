/* SPDX-License-Identifier: MIT */
/*
 * The connector's tracer, with events and exit records that the test makes up.  The process that it
 * follows is a child of the test; those that the events name do not exist.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "host/host.h"
#include "model/tree/run.h"
#include "trace/connector/connector_socket.h"
#include "trace/connector/exit_listener.h"
#include "trace/tracer.h"

#define CHILD (INT32_MAX - 10) /* numbers that no process has */
#define STRANGER (INT32_MAX - 20)
#define FD 77
#define BATCHES_MAX 64

/* What the tracer's sources are made to say. */
static struct {
	int open_socket, open_listener, read; /* statuses */
	struct connector_event batch[8];
	int counts[4]; /* of the next batches; then there are no more */
	size_t next;
	bool is_endless;
	unsigned received, forgotten;
	struct exit_record record; /* of a thread that ended; tid 0: none */
} script;

int __wrap_connector_socket_open(struct connector_socket **ret, struct error *error);
void __wrap_connector_socket_close(struct connector_socket *socket);
int __wrap_connector_socket_fd(const struct connector_socket *socket);
int __wrap_connector_socket_receive(struct connector_socket *socket,
				    struct connector_event events[CONNECTOR_BATCH]);
uint64_t __wrap_connector_socket_lost(const struct connector_socket *socket);
int __wrap_exit_listener_open(const struct host *host, struct exit_listener **ret,
			      struct error *error);
void __wrap_exit_listener_close(struct exit_listener *listener);
int __wrap_exit_listener_read(struct exit_listener *listener);
bool __wrap_exit_listener_take(struct exit_listener *listener, int32_t tid,
			       struct exit_record *ret);
const char *__wrap_exit_listener_comm(const struct exit_listener *listener, int32_t tid);
void __wrap_exit_listener_forget(struct exit_listener *listener);

int __wrap_connector_socket_open(struct connector_socket **ret, struct error *error)
{
	(void)ret;
	return script.open_socket ? error_set(error, script.open_socket, "no socket") : 0;
}

void __wrap_connector_socket_close(struct connector_socket *socket)
{
	(void)socket;
}

int __wrap_connector_socket_fd(const struct connector_socket *socket)
{
	(void)socket;
	return FD;
}

int __wrap_connector_socket_receive(struct connector_socket *socket,
				    struct connector_event events[CONNECTOR_BATCH])
{
	int count = script.next < ARRAY_SIZE(script.counts) ? script.counts[script.next++] : 0;

	(void)socket;
	script.received++;
	if (script.is_endless)
		count = 1;
	for (int i = 0; i < count; i++)
		events[i] = script.batch[i];
	return count;
}

uint64_t __wrap_connector_socket_lost(const struct connector_socket *socket)
{
	(void)socket;
	return 5;
}

int __wrap_exit_listener_open(const struct host *host, struct exit_listener **ret,
			      struct error *error)
{
	(void)host;
	(void)ret;
	return script.open_listener ? error_set(error, script.open_listener, "no listener") : 0;
}

void __wrap_exit_listener_close(struct exit_listener *listener)
{
	(void)listener;
}

int __wrap_exit_listener_read(struct exit_listener *listener)
{
	(void)listener;
	return script.read;
}

bool __wrap_exit_listener_take(struct exit_listener *listener, int32_t tid, struct exit_record *ret)
{
	(void)listener;
	*ret = script.record;
	return script.record.tid == tid;
}

const char *__wrap_exit_listener_comm(const struct exit_listener *listener, int32_t tid)
{
	(void)listener;
	return script.record.tid == tid ? script.record.comm : NULL;
}

void __wrap_exit_listener_forget(struct exit_listener *listener)
{
	(void)listener;
	script.forgotten++;
}

/* ---- the scene ---- */

#define SEEN_MAX 64

static struct {
	struct host *host;
	void *state;
	pid_t root;
	struct tree_event seen[SEEN_MAX];
	size_t count;
} scene;

static int take(void *context, const struct tree_event *event)
{
	(void)context;
	assert_true(scene.count < SEEN_MAX);
	scene.seen[scene.count++] = *event;
	return 0;
}

static int set_up(void **state)
{
	const struct tracer_options options = { 0 };
	struct error error = { 0 };
	pid_t test = getpid();

	(void)state;
	memset(&script, 0, sizeof(script));
	memset(&scene, 0, sizeof(scene));
	assert_int_equal(host_open(&scene.host, NULL, &error), 0);
	scene.root = fork();
	if (scene.root == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == test)
			pause();
		_exit(0);
	}
	assert_int_equal(connector_tracer.open(scene.host, &options, &scene.state, &error), 0);
	assert_int_equal(connector_tracer.follow(scene.state, &scene.root, 1, false, &error), 0);
	assert_int_equal(connector_tracer.drain(scene.state, take, NULL), 0);
	assert_true(scene.count >= 1);
	assert_int_equal(scene.seen[0].type, TREE_FORK);
	assert_int_equal(scene.seen[0].task.pid, scene.root);
	scene.count = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	connector_tracer.close(scene.state);
	kill(scene.root, SIGKILL);
	waitpid(scene.root, NULL, 0);
	host_close(scene.host);
	return 0;
}

/* The tracer meets one batch of these. */
static int meet(const struct proc_event *events, int count)
{
	memset(script.counts, 0, sizeof(script.counts));
	for (int i = 0; i < count; i++) {
		script.batch[i] = (struct connector_event){ .kernel = events[i] };
		if (!script.batch[i].kernel.timestamp_ns)
			script.batch[i].kernel.timestamp_ns = monotonic_ns();
	}
	script.counts[0] = count;
	script.next = 0;
	scene.count = 0;
	return connector_tracer.drain(scene.state, take, NULL);
}

static struct proc_event forked(int32_t parent, int32_t pid, int32_t tid)
{
	return (struct proc_event){ .what = PROC_EVENT_FORK,
				    .event_data.fork = { .parent_tgid = parent,
							 .parent_pid = parent,
							 .child_tgid = pid,
							 .child_pid = tid } };
}

static struct proc_event exited(int32_t pid, int32_t tid, uint32_t code)
{
	return (struct proc_event){
		.what = PROC_EVENT_EXIT,
		.event_data.exit = { .process_tgid = pid, .process_pid = tid, .exit_code = code }
	};
}

static struct proc_event executed(int32_t pid)
{
	return (struct proc_event){ .what = PROC_EVENT_EXEC,
				    .event_data.exec = { .process_tgid = pid,
							 .process_pid = pid } };
}

static struct proc_event named(int32_t pid, int32_t tid, const char *comm)
{
	struct proc_event event = { .what = PROC_EVENT_COMM,
				    .event_data.comm = { .process_tgid = pid,
							 .process_pid = tid } };

	memcpy(event.event_data.comm.comm, comm, strlen(comm));
	return event;
}

static size_t count_of(enum tree_event_type type)
{
	size_t count = 0;

	for (size_t i = 0; i < scene.count; i++)
		count += scene.seen[i].type == type;
	return count;
}

static const struct tree_event *find(enum tree_event_type type, int32_t tid)
{
	for (size_t i = 0; i < scene.count; i++)
		if (scene.seen[i].type == type && scene.seen[i].task.tid == tid)
			return &scene.seen[i];
	return NULL;
}

static uint64_t lost_threads(void)
{
	struct run_losses losses = { .wakers = 9 };

	connector_tracer.losses(scene.state, &losses);
	assert_int_equal(losses.events, 5);
	assert_int_equal(losses.wakers, 9); /* what it does not count it leaves alone */
	return losses.threads;
}

static void make_child(void)
{
	const struct proc_event event = forked(scene.root, CHILD, CHILD);

	assert_int_equal(meet(&event, 1), 0);
	assert_non_null(find(TREE_FORK, CHILD));
}

/* ---- what happens ---- */

static void a_child_of_a_member_is_one(void **state)
{
	struct proc_event events[] = { forked(STRANGER, STRANGER + 1, STRANGER + 1),
				       forked(scene.root, CHILD, CHILD),
				       forked(CHILD, CHILD + 1, CHILD + 1) };
	const struct tree_event *event;

	(void)state;
	events[1].timestamp_ns = monotonic_ns();
	assert_int_equal(meet(events, 3), 0);
	assert_int_equal(count_of(TREE_FORK), 2);
	event = find(TREE_FORK, CHILD);
	assert_int_equal(event->fork.parent_pid, scene.root);
	assert_false(event->fork.found);
	assert_in_range(event->task.start_ns, events[1].timestamp_ns, UINT64_MAX);
	assert_int_equal(find(TREE_FORK, CHILD + 1)->fork.parent_pid, CHILD);
	/* Told again it is the same one. */
	assert_int_equal(meet(&events[1], 1), 0);
	assert_int_equal(scene.count, 0);
	/* Another one of that number: the first must have ended. */
	events[1].timestamp_ns += NS_PER_SECOND;
	assert_int_equal(meet(&events[1], 1), 0);
	assert_int_equal(count_of(TREE_FORK), 1);
	assert_int_equal(count_of(TREE_PROCESS), 1);
	assert_true(find(TREE_PROCESS, CHILD)->process.ended);
}

static void threads_come_and_go_with_their_records(void **state)
{
	const struct proc_event begin = forked(scene.root, CHILD, CHILD + 1);
	const struct proc_event end = exited(CHILD, CHILD + 1, 0);
	const struct proc_event stranger = forked(scene.root, STRANGER, STRANGER + 1);
	const struct tree_event *account;

	(void)state;
	make_child();
	assert_int_equal(meet(&stranger, 1), 0);
	assert_int_equal(scene.count, 0);
	assert_int_equal(meet(&begin, 1), 0);
	assert_int_equal(count_of(TREE_FORK), 1);
	assert_int_equal(meet(&begin, 1), 0);
	assert_int_equal(scene.count, 0);
	script.record = (struct exit_record){ .tid = CHILD + 1, .comm = "worker" };
	amounts_set(&script.record.counters, AMOUNT_run_time_ns, 123);
	assert_int_equal(meet(&end, 1), 0);
	account = find(TREE_THREAD, CHILD + 1);
	assert_non_null(account);
	assert_true(account->account.ended);
	assert_string_equal(account->account.comm, "worker");
	assert_int_equal(amounts_get(&account->account.amounts, AMOUNT_run_time_ns), 123);
	assert_null(find(TREE_PROCESS, CHILD));
	assert_int_equal(lost_threads(), 0);
	/* Without its record what it did is lost. */
	assert_int_equal(meet(&begin, 1), 0);
	script.record.tid = 0;
	assert_int_equal(meet(&end, 1), 0);
	assert_int_equal(lost_threads(), 1);
}

static void a_process_ends_with_its_last_thread(void **state)
{
	const struct proc_event thread = forked(scene.root, CHILD, CHILD + 1);
	struct proc_event end = exited(CHILD, CHILD + 1, 0x300);
	const struct proc_event wrong = exited(STRANGER, CHILD, 0);
	const struct tree_event *ended;

	(void)state;
	make_child();
	assert_int_equal(meet(&thread, 1), 0);
	assert_int_equal(meet(&wrong, 1), 0);
	assert_int_equal(scene.count, 0);
	script.record =
		(struct exit_record){ .tid = CHILD, .has_peak = true, .peak_rss_bytes = 4096 };
	assert_int_equal(meet(&(struct proc_event[]){ exited(CHILD, CHILD, 0x100) }[0], 1), 0);
	assert_null(find(TREE_PROCESS, CHILD)); /* its leader alone */
	end.event_data.exit.parent_tgid = 1;
	script.record.tid = CHILD + 1;
	script.record.peak_rss_bytes = 1024;
	assert_int_equal(meet(&end, 1), 0);
	ended = find(TREE_PROCESS, CHILD);
	assert_non_null(ended);
	assert_true(ended->process.ended);
	assert_true(ended->process.present & TREE_PROCESS_STATUS);
	assert_int_equal(ended->process.status, 0x300);
	assert_int_equal(ended->process.threads, 2);
	assert_true(ended->process.present & TREE_PROCESS_PEAK_RSS);
	assert_int_equal(ended->process.peak_rss_bytes, 4096);
	/* It is no member any more. */
	assert_int_equal(meet(&(struct proc_event[]){ forked(CHILD, CHILD + 5, CHILD + 5) }[0], 1),
			 0);
	assert_int_equal(scene.count, 0);
}

static void a_new_program_has_its_name(void **state)
{
	struct proc_event exec = executed(CHILD), early = executed(CHILD);
	const struct proc_event stranger = executed(STRANGER);

	(void)state;
	early.timestamp_ns = 1; /* before it began */
	make_child();
	assert_int_equal(meet(&early, 1), 0);
	assert_int_equal(count_of(TREE_EXEC), 0);
	assert_int_equal(meet(&stranger, 1), 0);
	assert_int_equal(scene.count, 0);
	script.record = (struct exit_record){ .tid = CHILD, .comm = "brief" };
	assert_int_equal(meet(&exec, 1), 0);
	assert_int_equal(count_of(TREE_EXEC), 1);
	assert_string_equal(find(TREE_EXEC, CHILD)->exec.comm, "brief");
}

static void names_are_of_threads_and_of_a_leader_the_process_has_its(void **state)
{
	const struct proc_event events[] = { named(scene.root, scene.root, "renamed"),
					     named(STRANGER, STRANGER, "nobody") };

	(void)state;
	assert_int_equal(meet(events, 2), 0);
	scene.count = 0;
	/* The next sample reads it from /proc again; the end of the thread has the last one told. */
	script.record = (struct exit_record){ .tid = scene.root };
	assert_int_equal(meet(&(struct proc_event[]){ exited(scene.root, scene.root, 9) }[0], 1),
			 0);
	assert_string_equal(find(TREE_THREAD, scene.root)->account.comm, "renamed");
}

static void a_sample_has_all_that_live(void **state)
{
	const struct tree_event *account;

	(void)state;
	make_child(); /* it has no /proc entry: its exit record will tell */
	scene.count = 0;
	assert_int_equal(connector_tracer.sample(scene.state, TRACER_SAMPLE, take, NULL), 0);
	account = find(TREE_THREAD, scene.root);
	assert_non_null(account);
	assert_false(account->account.ended);
	assert_null(find(TREE_THREAD, CHILD));
	assert_non_null(find(TREE_PROCESS, scene.root));
	assert_false(find(TREE_PROCESS, scene.root)->process.ended);
}

/* ---- what goes wrong ---- */

static void after_a_loss_proc_tells_who_lives(void **state)
{
	(void)state;
	make_child();
	script.counts[0] = -ENOBUFS;
	script.next = 0;
	scene.count = 0;
	assert_int_equal(connector_tracer.drain(scene.state, take, NULL), 0);
	assert_int_equal(script.forgotten, 1);
	assert_true(find(TREE_PROCESS, CHILD)->process.ended); /* it is not there */
	assert_null(find(TREE_PROCESS, scene.root));
	/* What comes after the loss is taken before. */
	memset(script.counts, 0, sizeof(script.counts));
	script.counts[0] = -ENOBUFS;
	script.counts[1] = 1;
	script.batch[0].kernel = named(STRANGER, STRANGER, "x");
	script.next = 0;
	script.received = 0;
	assert_int_equal(connector_tracer.drain(scene.state, take, NULL), 0);
	assert_int_equal(script.received, 3);
	assert_int_equal(script.forgotten, 2);
}

static void errors_are_passed_on(void **state)
{
	const struct proc_event event = named(STRANGER, STRANGER, "x");

	(void)state;
	script.counts[0] = -EBADF;
	script.next = 0;
	assert_int_equal(connector_tracer.drain(scene.state, take, NULL), -EBADF);
	script.next = 0;
	assert_int_equal(connector_tracer.sample(scene.state, TRACER_SAMPLE, take, NULL), -EBADF);
	script.read = -EIO;
	assert_int_equal(meet(&event, 1), -EIO);
	assert_int_equal(script.forgotten, 0);
}

/* A storm of events does not hold it for ever. */
static void a_drain_ends(void **state)
{
	(void)state;
	script.is_endless = true;
	script.batch[0].kernel = named(STRANGER, STRANGER, "x");
	script.received = 0;
	assert_int_equal(connector_tracer.drain(scene.state, take, NULL), 0);
	assert_int_equal(script.received, BATCHES_MAX);
}

static void what_cannot_be_opened_says_why(void **state)
{
	const struct tracer_options options = { 0 };
	struct error error = { 0 };
	void *opened = NULL;

	(void)state;
	script.open_socket = -EPERM;
	assert_int_equal(connector_tracer.open(scene.host, &options, &opened, &error), -EPERM);
	assert_string_equal(error.message, "no socket");
	script.open_socket = 0;
	script.open_listener = -EACCES;
	assert_int_equal(connector_tracer.open(scene.host, &options, &opened, &error), -EACCES);
	assert_null(opened);
	assert_int_equal(connector_tracer.fd(scene.state), FD);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_child_of_a_member_is_one),
		TEST(threads_come_and_go_with_their_records),
		TEST(a_process_ends_with_its_last_thread),
		TEST(a_new_program_has_its_name),
		TEST(names_are_of_threads_and_of_a_leader_the_process_has_its),
		TEST(a_sample_has_all_that_live),
		TEST(after_a_loss_proc_tells_who_lives),
		TEST(errors_are_passed_on),
		TEST(a_drain_ends),
		TEST(what_cannot_be_opened_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
