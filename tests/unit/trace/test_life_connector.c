/* SPDX-License-Identifier: MIT */
/* Lives by the process connector, with a kernel that says what the test wants. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "host/host.h"
#include "trace/connector/connector_socket.h"
#include "trace/connector/exit_listener.h"
#include "trace/life/lifecycle.h"

/* Numbers that no process has. */
#define PARENT 0x40000001
#define CHILD 0x40000002
#define THREAD 0x40000003

#define TOLD_MAX 16

static struct connector_event events[CONNECTOR_BATCH];
static int event_count;
static bool has_record, drops;
static uint64_t dropped;
static int forgotten;
static int pipe_ends[2];

static struct life_event told[TOLD_MAX];
static size_t told_count;

int __wrap_connector_socket_open(struct connector_socket **ret, struct error *error);
void __wrap_connector_socket_close(struct connector_socket *socket);
int __wrap_connector_socket_fd(const struct connector_socket *socket);
int __wrap_connector_socket_receive(struct connector_socket *socket,
				    struct connector_event ret[CONNECTOR_BATCH]);
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
	(void)error;
	*ret = NULL;
	return 0;
}

void __wrap_connector_socket_close(struct connector_socket *socket)
{
	(void)socket;
}

int __wrap_connector_socket_fd(const struct connector_socket *socket)
{
	(void)socket;
	return pipe_ends[0];
}

int __wrap_connector_socket_receive(struct connector_socket *socket,
				    struct connector_event ret[CONNECTOR_BATCH])
{
	int count = event_count;

	(void)socket;
	if (drops) {
		drops = false;
		dropped += 5;
		return -ENOBUFS;
	}
	memcpy(ret, events, sizeof(events));
	event_count = 0;
	return count;
}

uint64_t __wrap_connector_socket_lost(const struct connector_socket *socket)
{
	(void)socket;
	return dropped;
}

int __wrap_exit_listener_open(const struct host *host, struct exit_listener **ret,
			      struct error *error)
{
	(void)host;
	(void)error;
	*ret = NULL;
	return 0;
}

void __wrap_exit_listener_close(struct exit_listener *listener)
{
	(void)listener;
}

int __wrap_exit_listener_read(struct exit_listener *listener)
{
	(void)listener;
	return 0;
}

bool __wrap_exit_listener_take(struct exit_listener *listener, int32_t tid, struct exit_record *ret)
{
	(void)listener;
	*ret = (struct exit_record){ .tid = tid, .comm = "in record", .has_peak = true };
	ret->peak_rss_bytes = 4096;
	amounts_set(&ret->counters, AMOUNT_run_time_ns, (uint64_t)(tid - PARENT) * 100);
	return has_record;
}

const char *__wrap_exit_listener_comm(const struct exit_listener *listener, int32_t tid)
{
	(void)listener;
	(void)tid;
	return "executed";
}

void __wrap_exit_listener_forget(struct exit_listener *listener)
{
	(void)listener;
	forgotten++;
}

static struct proc_event *add(uint32_t what)
{
	struct connector_event *event = &events[event_count++];

	*event = (struct connector_event){ 0 };
	event->kernel.what = what;
	event->kernel.timestamp_ns = 1000;
	return &event->kernel;
}

static void add_fork(int32_t pid, int32_t tid)
{
	struct fork_proc_event *forked = &add(PROC_EVENT_FORK)->event_data.fork;

	forked->parent_pid = forked->parent_tgid = PARENT;
	forked->child_tgid = pid;
	forked->child_pid = tid;
}

static void add_exit(int32_t pid, int32_t tid, uint32_t status)
{
	struct exit_proc_event *exited = &add(PROC_EVENT_EXIT)->event_data.exit;

	exited->process_tgid = pid;
	exited->process_pid = tid;
	exited->exit_code = status;
}

static int take(void *context, const struct life_event *event)
{
	(void)context;
	assert_true(told_count < TOLD_MAX);
	told[told_count++] = *event;
	return 0;
}

struct scene {
	struct host *host;
	struct lifecycle *lifecycle;
};

static int set_up(void **state)
{
	static struct scene scene;
	const struct lifecycle_options options = { .source = "connector" };
	struct error error = { 0 };

	event_count = 0;
	told_count = 0;
	has_record = true;
	drops = false;
	dropped = 0;
	forgotten = 0;
	assert_int_equal(pipe2(pipe_ends, O_CLOEXEC), 0);
	assert_int_equal(host_open(&scene.host, NULL, &error), 0);
	assert_int_equal(lifecycle_open(scene.host, &options, &scene.lifecycle, &error), 0);
	*state = &scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	lifecycle_close(scene->lifecycle);
	host_close(scene->host);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	return 0;
}

static void drain(const struct scene *scene)
{
	assert_int_equal(lifecycle_drain(scene->lifecycle, take, NULL), 0);
}

static void a_process_ends_with_its_last_thread(void **state)
{
	const struct scene *scene = *state;

	add_fork(CHILD, CHILD);
	add_fork(CHILD, THREAD);
	add_exit(CHILD, CHILD, 0x100);
	drain(scene);
	assert_int_equal(told_count, 1);
	assert_int_equal(told[0].kind, LIFE_SPAWN);
	assert_int_equal(told[0].parent_pid, PARENT);
	add_exit(CHILD, THREAD, 0x300);
	drain(scene);
	assert_int_equal(told_count, 2);
	assert_int_equal(told[1].kind, LIFE_EXIT);
	assert_int_equal(told[1].status, 0x300);
	assert_int_equal(told[1].task.start_ns, told[0].task.start_ns);
	assert_int_equal(amounts_get(&told[1].amounts, AMOUNT_run_time_ns), 300);
	assert_int_equal(told[1].peak_rss_bytes, 4096);
	assert_false(told[1].present & LIFE_HAS_UID);
}

static void an_exec_forgets_the_old_command_line(void **state)
{
	const struct scene *scene = *state;
	struct exec_proc_event *executed;

	add_fork(CHILD, CHILD);
	executed = &add(PROC_EVENT_EXEC)->event_data.exec;
	executed->process_pid = executed->process_tgid = CHILD;
	add_exit(CHILD, CHILD, 0);
	drain(scene);
	assert_int_equal(told_count, 3);
	assert_int_equal(told[1].kind, LIFE_EXEC);
	assert_string_equal(told[1].comm, "executed");
	assert_null(told[1].cmd);
	assert_string_equal(told[2].comm, "executed");
}

static void names_of_leaders_are_renamed(void **state)
{
	const struct scene *scene = *state;
	struct comm_proc_event *named;

	add_fork(CHILD, CHILD);
	named = &add(PROC_EVENT_COMM)->event_data.comm;
	named->process_pid = THREAD;
	named->process_tgid = CHILD;
	named = &add(PROC_EVENT_COMM)->event_data.comm;
	named->process_pid = named->process_tgid = CHILD;
	memcpy(named->comm, "new", 4);
	drain(scene);
	assert_int_equal(told_count, 2);
	assert_int_equal(told[1].kind, LIFE_RENAME);
	assert_string_equal(told[1].comm, "new");
}

static void a_missing_record_is_counted(void **state)
{
	const struct scene *scene = *state;
	struct lifecycle_losses losses;

	has_record = false;
	add_fork(CHILD, CHILD);
	add_exit(CHILD, CHILD, 9);
	drain(scene);
	lifecycle_losses(scene->lifecycle, &losses);
	assert_int_equal(losses.records, 1);
	assert_int_equal(told[1].status, 9);
	assert_false(amounts_has(&told[1].amounts, AMOUNT_run_time_ns));
	assert_false(told[1].present & LIFE_HAS_PEAK);
}

/* After a loss, /proc says whether a thread is left: of these, none is. */
static void a_loss_is_told(void **state)
{
	const struct scene *scene = *state;
	struct lifecycle_losses losses;

	add_fork(CHILD, CHILD);
	add_fork(CHILD, THREAD);
	drain(scene);
	drops = true;
	drain(scene);
	assert_int_equal(told[1].kind, LIFE_LOST);
	assert_int_equal(told[1].lost, 5);
	assert_int_equal(forgotten, 1);
	add_exit(CHILD, CHILD, 0);
	drain(scene);
	assert_int_equal(told_count, 3);
	assert_int_equal(told[2].kind, LIFE_EXIT);
	lifecycle_losses(scene->lifecycle, &losses);
	assert_int_equal(losses.ring[LIFE_LOST], 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_process_ends_with_its_last_thread, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_exec_forgets_the_old_command_line, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(names_of_leaders_are_renamed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_missing_record_is_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_loss_is_told, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
