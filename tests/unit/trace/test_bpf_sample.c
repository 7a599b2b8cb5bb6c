/* SPDX-License-Identifier: MIT */
/* Samples of the kernel side, with walks and events that the test makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/error.h"
#include "host/bpf.h"
#include "host/host.h"
#include "trace/bpf/bpf_tracer.h"
#include "trace/bpf/tree_program.h"

#define SINGLE_WALKS 16
#define FINAL_TRIES 4
#define DRAIN_TRIES 20

static struct tree_program__bss bss;
static struct tree_program program = { .bss = &bss };

/* What the kernel is made to do, and what it was asked. */
static struct {
	int statuses[8]; /* of the next walks; then 0 */
	unsigned torn;	 /* so many of the next walks are torn */
	int32_t walked[64];
	size_t walks;
	unsigned drains, taken, facts;
	int32_t ends; /* a thread whose end is drained after the walk */
	int take_status, drain_status;
	struct tree_signal_record record; /* a record of any kind; every walk gives it */
	bool is_empty;
} kernel;

int __wrap_host_bpf_iterate(int fd, int32_t tgid, host_bpf_consumer *consume, void *context);
int __wrap_bpf_drain(void *context, tree_event_sink *sink, void *sink_context);
int __wrap_bpf_take_record(void *context, void *bytes, size_t length);
int __wrap_process_facts_read(const struct host *host, int32_t pid, uint64_t start_ns,
			      struct tree_process_facts *ret);

int __wrap_host_bpf_iterate(int fd, int32_t tgid, host_bpf_consumer *consume, void *context)
{
	int status = kernel.walks < ARRAY_SIZE(kernel.statuses) ? kernel.statuses[kernel.walks] : 0;

	(void)fd;
	assert_true(kernel.walks < ARRAY_SIZE(kernel.walked));
	kernel.walked[kernel.walks++] = tgid;
	if (kernel.torn) {
		kernel.torn--;
		bss.torn_samples += 2;
	}
	if (status == 0 && !kernel.is_empty)
		assert_int_equal(consume(context, &kernel.record, sizeof(kernel.record)),
				 sizeof(kernel.record));
	return status;
}

int __wrap_bpf_drain(void *context, tree_event_sink *sink, void *sink_context)
{
	struct bpf_state *state = context;

	state->sink = sink;
	state->context = sink_context;
	kernel.drains++;
	if (state->notes_ended && kernel.ends) {
		struct ended ended = { kernel.ends, 0 };

		assert_int_equal(array_append(&state->ended, ended), 0);
	}
	return kernel.drain_status;
}

int __wrap_bpf_take_record(void *context, void *bytes, size_t length)
{
	(void)context;
	assert_int_equal(length, sizeof(kernel.record));
	assert_memory_equal(bytes, &kernel.record, length);
	kernel.taken++;
	return kernel.take_status;
}

int __wrap_process_facts_read(const struct host *host, int32_t pid, uint64_t start_ns,
			      struct tree_process_facts *ret)
{
	(void)host;
	(void)start_ns;
	(void)ret;
	kernel.facts++;
	return pid == 2 ? -ESRCH : 0;
}

static struct bpf_state state;
static unsigned events;

static int take(void *context, const struct tree_event *event)
{
	(void)context;
	assert_int_equal(event->type, TREE_PROCESS);
	events++;
	return 0;
}

static int set_up(void **unused)
{
	struct error error = { 0 };

	(void)unused;
	memset(&bss, 0, sizeof(bss));
	memset(&kernel, 0, sizeof(kernel));
	memset(&state, 0, sizeof(state));
	events = 0;
	state.program = &program;
	assert_int_equal(host_open((struct host **)&state.host, NULL, &error), 0);
	kernel.record = (struct tree_signal_record){ .head = { sizeof(kernel.record),
							       TREE_RECORD_SIGNAL, 1, 11, 0, 0 } };
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	live_processes_clear(&state.live);
	array_free(&state.ended);
	array_free(&state.sampled);
	host_close((struct host *)state.host);
	return 0;
}

static void live(int32_t count)
{
	for (int32_t pid = 1; pid <= count; pid++)
		assert_int_equal(live_processes_know(&state.live, pid), 0);
}

static int sample(enum tracer_depth depth)
{
	kernel.walks = kernel.taken = kernel.facts = kernel.drains = events = 0;
	return bpf_sample(&state, depth, take, NULL);
}

static void few_processes_are_walked_one_by_one_and_many_at_once(void **unused)
{
	(void)unused;
	live(SINGLE_WALKS);
	assert_int_equal(sample(TRACER_SAMPLE), 0);
	assert_int_equal(kernel.walks, SINGLE_WALKS);
	for (int32_t i = 0; i < SINGLE_WALKS; i++)
		assert_int_equal(kernel.walked[i], i + 1);
	assert_int_equal(kernel.taken, SINGLE_WALKS);
	assert_int_equal(state.sampled_threads, SINGLE_WALKS);
	live(SINGLE_WALKS + 1);
	assert_int_equal(sample(TRACER_SAMPLE), 0);
	assert_int_equal(kernel.walks, 1);
	assert_int_equal(kernel.walked[0], 0);
	assert_int_equal(kernel.taken, 1);
}

static void after_a_loss_all_are_walked_once(void **unused)
{
	static const int kinds[] = { TREE_LOSS_EVENTS, TREE_LOSS_TASKS };

	(void)unused;
	live(2);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		((uint64_t *)bss.losses)[kinds[i]]++;
		assert_int_equal(sample(TRACER_SAMPLE), 0);
		assert_true(state.recovers);
		assert_int_equal(kernel.walks, 1);
		assert_int_equal(kernel.walked[0], 0);
		assert_int_equal(sample(TRACER_SAMPLE), 0);
		assert_false(state.recovers);
		assert_int_equal(kernel.walks, 2);
	}
}

static void one_that_is_gone_is_no_error_and_an_old_kernel_walks_all(void **unused)
{
	(void)unused;
	live(3);
	kernel.statuses[0] = -ESRCH;
	kernel.statuses[1] = -ENOENT;
	assert_int_equal(sample(TRACER_SAMPLE), 0);
	assert_int_equal(kernel.walks, 3);
	assert_int_equal(kernel.taken, 1);
	kernel.statuses[0] = 0;
	kernel.statuses[1] = -ENOTSUP;
	assert_int_equal(sample(TRACER_SAMPLE), 0);
	assert_int_equal(kernel.walks, 3);
	assert_int_equal(kernel.walked[2], 0);
	assert_int_equal(kernel.taken, 1); /* what the first walk gave is not taken twice */
	kernel.statuses[0] = -EIO;
	assert_int_equal(sample(TRACER_SAMPLE), -EIO);
	assert_int_equal(kernel.taken, 0);
}

/* Only the last one has no next one: it is tried again, and what is still missing is counted. */
static void torn_accounts_are_read_again_at_the_end(void **unused)
{
	(void)unused;
	live(1);
	kernel.torn = 1;
	assert_int_equal(sample(TRACER_SAMPLE), 0);
	assert_int_equal(kernel.walks, 1);
	assert_int_equal(state.left_out, 0);
	assert_int_equal(bss.sample_calls, 0);
	kernel.torn = 2;
	assert_int_equal(sample(TRACER_FINAL), 0);
	assert_int_equal(kernel.walks, 3);
	assert_int_equal(state.left_out, 0);
	assert_int_equal(bss.sample_calls, 1);
	kernel.torn = 100;
	assert_int_equal(sample(TRACER_FINAL), 0);
	assert_int_equal(kernel.walks, FINAL_TRIES);
	assert_int_equal(state.left_out, 2);
	assert_int_equal(kernel.taken, 1);
}

static void a_thread_that_ended_meanwhile_has_no_account(void **unused)
{
	(void)unused;
	live(1);
	kernel.ends = 12;
	assert_int_equal(sample(TRACER_SAMPLE), 0);
	assert_int_equal(kernel.taken, 1);
	kernel.ends = 11;
	assert_int_equal(sample(TRACER_SAMPLE), 0);
	assert_int_equal(kernel.taken, 0);
	assert_int_equal(state.sampled_threads, 0);
	assert_int_equal(kernel.drains, 2);
	assert_false(state.notes_ended);
	kernel.ends = 0;
	assert_int_equal(sample(TRACER_SAMPLE), 0);
	assert_int_equal(kernel.taken, 1);
}

static void a_process_with_accounts_has_facts(void **unused)
{
	(void)unused;
	live(3);
	assert_int_equal(sample(TRACER_SAMPLE), 0); /* every record is of process 1 */
	assert_int_equal(kernel.facts, 1);
	assert_int_equal(events, 1);
	kernel.record.head.pid = 2; /* gone by then */
	assert_int_equal(sample(TRACER_SAMPLE), 0);
	assert_int_equal(kernel.facts, 1);
	assert_int_equal(events, 0);
	kernel.is_empty = true;
	assert_int_equal(sample(TRACER_SAMPLE), 0);
	assert_int_equal(kernel.facts, 0);
}

static void the_last_sample_waits_for_accounts_that_are_due(void **unused)
{
	(void)unused;
	live(1);
	state.live_threads = 1;
	assert_int_equal(sample(TRACER_FINAL), 0);
	assert_int_equal(kernel.drains, 2);
	state.live_threads = 2;
	assert_int_equal(sample(TRACER_SAMPLE), 0);
	assert_int_equal(kernel.drains, 2);
	assert_int_equal(sample(TRACER_FINAL), 0);
	assert_int_equal(kernel.drains, 2 + DRAIN_TRIES);
}

static void errors_are_passed_on(void **unused)
{
	(void)unused;
	live(1);
	kernel.take_status = -ENOMEM;
	assert_int_equal(sample(TRACER_SAMPLE), -ENOMEM);
	kernel.take_status = 0;
	kernel.drain_status = -EIO;
	assert_int_equal(sample(TRACER_SAMPLE), -EIO);
	assert_int_equal(kernel.walks, 0);
	kernel.drain_status = 0;
	kernel.record.head.size++;
	assert_int_equal(sample(TRACER_SAMPLE), -EBADMSG);
	assert_int_equal(kernel.taken, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(few_processes_are_walked_one_by_one_and_many_at_once),
		TEST(after_a_loss_all_are_walked_once),
		TEST(one_that_is_gone_is_no_error_and_an_old_kernel_walks_all),
		TEST(torn_accounts_are_read_again_at_the_end),
		TEST(a_thread_that_ended_meanwhile_has_no_account),
		TEST(a_process_with_accounts_has_facts),
		TEST(the_last_sample_waits_for_accounts_that_are_due),
		TEST(errors_are_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
