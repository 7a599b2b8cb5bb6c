/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "taskstats_kernel.h"

/* A structure that tells whose it is. */
static struct stats stats_of(int32_t tid)
{
	struct stats stats;

	stats_make(&stats, 16, 560);
	stats.words[2] = (uint64_t)tid;
	return stats;
}

static void answer_well(struct kernel *kernel, const struct question *question)
{
	struct stats stats = stats_of(question->tid);

	kernel_tell(kernel, question->sequence, question->tid, &stats);
}

struct asked {
	struct kernel kernel;
	int status;
	struct taskstats_answer answers[TASKSTATS_BATCH];
};

/* Asks about tasks 1 to `count`. */
static void ask(struct asked *asked, size_t count,
		void (*answer)(struct kernel *kernel, const struct question *question))
{
	struct taskstats_socket *opened;

	asked->kernel = (struct kernel){ .answer = answer, .context = asked };
	opened = kernel_start(&asked->kernel);
	for (size_t i = 0; i < count; i++)
		asked->answers[i] = (struct taskstats_answer){ .tid = (int32_t)i + 1 };
	asked->status = taskstats_socket_ask(opened, asked->answers, count);
	kernel_stop(&asked->kernel, opened);
}

static void assert_answered(const struct taskstats_answer *answer)
{
	assert_int_equal(answer->status, 0);
	assert_int_equal(answer->values.raw[TASKSTATS_cpu_count], answer->tid);
}

static void a_batch_is_one_message_and_each_answer_finds_its_task(void **state)
{
	static struct asked asked;

	(void)state;
	ask(&asked, TASKSTATS_BATCH, answer_well);
	assert_int_equal(asked.status, 0);
	assert_int_equal(asked.kernel.batches, 1);
	assert_int_equal(asked.kernel.questions, TASKSTATS_BATCH);
	for (size_t i = 0; i < TASKSTATS_BATCH; i++)
		assert_answered(&asked.answers[i]);
}

/* Keeps the first answer back until the last question. */
static void answer_in_another_order(struct kernel *kernel, const struct question *question)
{
	struct question first = { 0, question->sequence - 9, 1 };

	if (question->tid > 1)
		answer_well(kernel, question);
	if (question->tid == 10)
		answer_well(kernel, &first);
}

static void answers_in_another_order_find_their_tasks(void **state)
{
	static struct asked asked;

	(void)state;
	ask(&asked, 10, answer_in_another_order);
	for (size_t i = 0; i < 10; i++)
		assert_answered(&asked.answers[i]);
}

/* What is left of an earlier question, what nobody asked for, and what is no answer at all. */
static void answer_among_strangers(struct kernel *kernel, const struct question *question)
{
	struct stats wrong = stats_of(666);
	struct message junk = { .length = 12 };

	kernel_tell(kernel, question->sequence - 100, question->tid, &wrong);
	kernel_tell(kernel, question->sequence + 100, question->tid, &wrong);
	kernel_tell(kernel, question->sequence, question->tid + 1, &wrong);
	kernel_send(kernel, &junk);
	answer_well(kernel, question);
	kernel_tell(kernel, question->sequence, question->tid, &wrong);
}

static void an_answer_to_another_question_is_never_taken(void **state)
{
	static struct asked asked;

	(void)state;
	ask(&asked, 20, answer_among_strangers);
	for (size_t i = 0; i < 20; i++)
		assert_answered(&asked.answers[i]);
}

static void answer_odd_ones_late(struct kernel *kernel, const struct question *question)
{
	if (question->batch > 0 || question->tid % 2 == 0)
		answer_well(kernel, question);
}

static void what_got_lost_is_asked_for_again(void **state)
{
	static struct asked asked;

	(void)state;
	ask(&asked, 10, answer_odd_ones_late);
	for (size_t i = 0; i < 10; i++)
		assert_answered(&asked.answers[i]);
	assert_int_equal(asked.kernel.batches, 2);
	assert_int_equal(asked.kernel.questions, 15);
}

static void answer_never(struct kernel *kernel, const struct question *question)
{
	(void)kernel;
	(void)question;
}

static void silence_ends_after_two_waits(void **state)
{
	static struct asked asked;

	(void)state;
	ask(&asked, 3, answer_never);
	assert_int_equal(asked.status, 0);
	assert_int_equal(asked.kernel.batches, 2);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(asked.answers[i].status, -ETIMEDOUT);
}

static void answer_late(struct kernel *kernel, const struct question *question)
{
	if (question->batch == 2) /* now that the first ones are given up */
		for (uint32_t back = 1; back <= 6; back++) {
			struct stats wrong = stats_of(666);

			kernel_tell(kernel, question->sequence - back, question->tid, &wrong);
		}
	if (question->batch >= 2)
		answer_well(kernel, question);
}

static void answers_that_come_too_late_do_not_shift_the_next_ones(void **state)
{
	struct kernel kernel = { .answer = answer_late };
	struct taskstats_socket *opened = kernel_start(&kernel);
	struct taskstats_answer answers[3] = { { .tid = 1 }, { .tid = 2 }, { .tid = 3 } };

	(void)state;
	assert_int_equal(taskstats_socket_ask(opened, answers, 3), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(answers[i].status, -ETIMEDOUT);
	assert_int_equal(taskstats_socket_ask(opened, answers, 3), 0);
	for (size_t i = 0; i < 3; i++)
		assert_answered(&answers[i]);
	kernel_stop(&kernel, opened);
}

static void refuse_some(struct kernel *kernel, const struct question *question)
{
	if (question->tid == 2)
		kernel_refuse(kernel, question->sequence, -ESRCH);
	else if (question->tid == 3)
		kernel_refuse(kernel, question->sequence, -EPERM);
	else
		answer_well(kernel, question);
}

static void a_refusal_is_that_of_its_task(void **state)
{
	static struct asked asked;

	(void)state;
	ask(&asked, 4, refuse_some);
	assert_answered(&asked.answers[0]);
	assert_int_equal(asked.answers[1].status, -ESRCH);
	assert_int_equal(asked.answers[2].status, -EPERM);
	assert_answered(&asked.answers[3]);
	assert_int_equal(asked.kernel.batches, 1);
}

static void a_socket_that_cannot_send_says_so(void **state)
{
	struct taskstats_answer answer = { .tid = 1 };
	struct taskstats_socket *opened;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	opened = taskstats_socket_new(ends[1], MESSAGE_FAMILY, 50);
	close(ends[0]);
	assert_int_equal(taskstats_socket_ask(opened, &answer, 1), -EPIPE);
	assert_int_equal(answer.status, -EPIPE);
	assert_int_equal(taskstats_socket_ask(opened, &answer, TASKSTATS_BATCH + 1), -EINVAL);
	taskstats_socket_free(opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_is_one_message_and_each_answer_finds_its_task),
		cmocka_unit_test(answers_in_another_order_find_their_tasks),
		cmocka_unit_test(an_answer_to_another_question_is_never_taken),
		cmocka_unit_test(what_got_lost_is_asked_for_again),
		cmocka_unit_test(silence_ends_after_two_waits),
		cmocka_unit_test(answers_that_come_too_late_do_not_shift_the_next_ones),
		cmocka_unit_test(a_refusal_is_that_of_its_task),
		cmocka_unit_test(a_socket_that_cannot_send_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
