/* SPDX-License-Identifier: MIT */
/* The queue of stacks: items own what they point to, come out in order, and are refused when it is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "session/stack/stack_queue.h"

static struct stack_item *stack_of(size_t bytes, uint64_t weight_ns)
{
	uint64_t kernel[2] = { 0xffffffff81000000, 0xffffffff81000010 };
	char *user = malloc(bytes + 1);
	struct tracer_stack stack = {
		.weight_ns = weight_ns,
		.kernel = kernel,
		.kernel_count = 2,
		.has_user = true,
		.user = { .bytes = user, .size = bytes },
	};
	struct stack_item *item;

	memset(user, 'u', bytes);
	item = stack_item_of_stack(&stack, "process", "load > parse");
	free(user);
	memset(kernel, 0, sizeof(kernel));
	assert_non_null(item);
	return item;
}

static void an_item_owns_what_it_points_to(void **state)
{
	struct tracer_image_event image = { .type = TRACER_MAP, .pid = 7 };
	char path[] = "/usr/bin/made";
	struct stack_item *item = stack_of(33, 5);

	(void)state;
	assert_true(item->stack.kernel[1] == 0xffffffff81000010);
	assert_int_equal(((const char *)item->stack.user.bytes)[32], 'u');
	assert_string_equal(item->scope, "load > parse");
	assert_string_equal(item->process_name, "process");
	free(item);
	image.path = path;
	item = stack_item_of_image(&image);
	assert_non_null(item);
	path[0] = 'X';
	assert_true(item->is_image);
	assert_string_equal(item->image.path, "/usr/bin/made");
	free(item);
}

static void items_come_out_in_order_until_it_is_closed(void **state)
{
	struct stack_queue queue;

	(void)state;
	stack_queue_init(&queue);
	for (uint64_t i = 1; i <= 3; i++)
		assert_true(stack_queue_put(&queue, stack_of(8, i)));
	stack_queue_close(&queue);
	for (uint64_t i = 1; i <= 3; i++) {
		struct stack_item *item = stack_queue_take(&queue);

		assert_non_null(item);
		assert_int_equal(item->stack.weight_ns, i);
		free(item);
	}
	assert_null(stack_queue_take(&queue));
	assert_int_equal(queue.bytes, 0);
	stack_queue_clear(&queue);
}

static void what_does_not_fit_is_refused_and_fits_later(void **state)
{
	struct stack_queue queue;
	size_t taken = 0;

	(void)state;
	stack_queue_init(&queue);
	while (stack_queue_put(&queue, stack_of(1 << 20, 1)))
		taken++;
	assert_in_range(taken, 2, STACK_QUEUE_BYTES >> 20);
	assert_true(queue.bytes <= STACK_QUEUE_BYTES);
	free(stack_queue_take(&queue));
	assert_true(stack_queue_put(&queue, stack_of(1 << 20, 1)));
	assert_false(stack_queue_put(&queue, stack_of(1 << 20, 1)));
	stack_queue_clear(&queue);
	assert_int_equal(queue.bytes, 0);
}

static void *take_all(void *context)
{
	struct stack_item *item;
	uintptr_t count = 0;

	while ((item = stack_queue_take(context))) {
		free(item);
		count++;
	}
	return (void *)count;
}

static void a_thread_that_waits_gets_every_item(void **state)
{
	struct stack_queue queue;
	pthread_t thread;
	void *count;

	(void)state;
	stack_queue_init(&queue);
	assert_int_equal(pthread_create(&thread, NULL, take_all, &queue), 0);
	for (int i = 0; i < 1000; i++)
		assert_true(stack_queue_put(&queue, stack_of(16, 1)));
	stack_queue_close(&queue);
	assert_int_equal(pthread_join(thread, &count), 0);
	assert_int_equal((uintptr_t)count, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_item_owns_what_it_points_to),
		cmocka_unit_test(items_come_out_in_order_until_it_is_closed),
		cmocka_unit_test(what_does_not_fit_is_refused_and_fits_later),
		cmocka_unit_test(a_thread_that_waits_gets_every_item),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
