/* SPDX-License-Identifier: MIT */
/*
 * Who called whom, found in copies of stacks.  A program is looked at after each of its instructions, and the
 * truth is what its calls and returns did.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/collection/array.h"
#include "host/code/address_space.h"
#include "host/code/code_state.h"
#include "host/host.h"
#include "stopped_stack.h"

#define FRAMES 2048

struct scene {
	struct host *host;
	struct code *code;
	struct address_space *space;
	pid_t pid;
	uint64_t below; /* of the stack pointer the copy begins */
	struct stopped_stack stack;
	struct code_frame frames[FRAMES];
	size_t count;
};

static const char *program_path(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("TASKSCOPE_TEST_STACKS"), name);
	return path;
}

/* Starts the program and lets it run until it stops itself; returns the thread that did. */
static pid_t scene_begin(struct scene *scene, const char *program, char *mode, char *depth)
{
	char *arguments[] = { (char *)program, mode, depth, NULL };
	pid_t tid;

	memset(scene, 0, sizeof(*scene));
	assert_int_equal(host_open(&scene->host, NULL, NULL), 0);
	assert_int_equal(code_open(scene->host, NULL, &scene->code), 0);
	scene->pid = stopped_start(program_path(program), arguments);
	tid = stopped_wait(scene->pid);
	assert_true(tid > 0);
	scene->space = address_space_new(scene->code, scene->pid, 0);
	assert_non_null(scene->space);
	assert_int_equal(address_space_read(scene->space), 0);
	return tid;
}

static void scene_end(struct scene *scene)
{
	struct code_counts counts;

	code_counts(scene->code, &counts);
	assert_int_equal(counts.restarts, 0);
	assert_int_equal(counts.bad_files, 0);
	address_space_free(scene->space);
	code_close(scene->code);
	host_close(scene->host);
	stopped_end(scene->pid);
}

static enum unwind_end look(struct scene *scene, pid_t tid)
{
	assert_true(stopped_stack_copy(tid, scene->below, &scene->stack));
	return unwind(scene->space, &scene->stack.copy, scene->frames, FRAMES, &scene->count);
}

/* ---- after every instruction ---- */

/* What must be found: the innermost function's caller is last. */
struct truth {
	uint64_t pcs[FRAMES];
	size_t count;
	uint64_t interrupted_pc; /* by a signal; 0: no handler runs */
	size_t interrupted_count;
};

static uint64_t pc_of(const struct scene *scene)
{
	return scene->stack.copy.registers.values[UNWIND_PC];
}

static uint64_t sp_of(const struct scene *scene)
{
	return scene->stack.copy.registers.values[UNWIND_SP];
}

static uint64_t top_of(const struct scene *scene)
{
	uint64_t top;

	memcpy(&top, scene->stack.bytes + scene->below, sizeof(top));
	return top;
}

/* A call left its return address, which is behind the call. */
static void follow(struct truth *truth, const struct scene *scene, uint64_t pc, uint64_t sp,
		   uint64_t top, bool has_signal)
{
	if (has_signal) {
		truth->interrupted_pc = pc;
		truth->interrupted_count = truth->count;
		truth->pcs[truth->count++] = pc;
		truth->pcs[truth->count++] = top_of(scene) - 1;
	} else if (sp_of(scene) == sp - 8 && top_of(scene) - pc <= 7 && top_of(scene) != pc &&
		   pc_of(scene) != top_of(scene)) {
		truth->pcs[truth->count++] = top_of(scene) - 1;
	} else if (truth->interrupted_pc && pc_of(scene) == truth->interrupted_pc) {
		truth->count = truth->interrupted_count;
		truth->interrupted_pc = 0;
	} else if (sp_of(scene) == sp + 8 && pc_of(scene) == top &&
		   truth->pcs[truth->count - 1] == top - 1) {
		truth->count--;
	}
}

static bool is_true(const struct scene *scene, const struct truth *truth)
{
	if (scene->count != truth->count + 1 || scene->frames[0].pc != pc_of(scene))
		return false;
	for (size_t i = 0; i < truth->count; i++)
		if (scene->frames[i + 1].pc != truth->pcs[truth->count - 1 - i])
			return false;
	return true;
}

static void explain(const struct scene *scene, const struct truth *truth, enum unwind_end end)
{
	print_message("end %d\n", end);
	for (size_t i = 0; i < scene->count || i <= truth->count; i++) {
		const struct code_frame *frame = &scene->frames[i];

		print_message("%16lx %16lx %s+%lx\n",
			      i == 0		? (unsigned long)pc_of(scene) :
			      i <= truth->count ? (unsigned long)truth->pcs[truth->count - i] :
						  0,
			      i < scene->count ? (unsigned long)frame->pc : 0,
			      i < scene->count && frame->file ? frame->file->path : "",
			      i < scene->count ? (unsigned long)frame->address : 0);
	}
}

/* The next signal that the program sent itself and handles; 0 when it only took a step, -1 when it has ended. */
static int take_step(pid_t pid, int signal)
{
	int state;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, 0, (void *)(intptr_t)signal), 0);
	assert_int_equal(waitpid(pid, &state, __WALL), pid);
	if (!WIFSTOPPED(state))
		return -1;
	return WSTOPSIG(state) == SIGTRAP || WSTOPSIG(state) == SIGCHLD ? 0 : WSTOPSIG(state);
}

static unsigned follow_all(struct scene *scene, struct truth *truth)
{
	unsigned steps = 0, wrong = 0;
	int signal = 0, next;

	for (;; steps++) {
		uint64_t pc = pc_of(scene), sp = sp_of(scene), top = top_of(scene);
		enum unwind_end end;

		next = take_step(scene->pid, signal);
		if (next == SIGSTOP || next < 0)
			break;
		end = look(scene, scene->pid);
		if (next == 0)
			follow(truth, scene, pc, sp, top, signal != 0);
		signal = next;
		if (end != UNWIND_COMPLETE || !is_true(scene, truth)) {
			if (wrong == 0)
				explain(scene, truth, end);
			wrong++;
		}
	}
	assert_int_equal(next, SIGSTOP);
	assert_true(steps > 500);
	return wrong;
}

static void follow_program(const char *program, uint64_t below)
{
	static struct scene scene;
	static struct truth truth;
	pid_t tid = scene_begin(&scene, program, NULL, NULL);

	memset(&truth, 0, sizeof(truth));
	scene.below = below;
	assert_int_equal(look(&scene, tid), UNWIND_COMPLETE);
	for (size_t i = scene.count - 1; i > 0; i--)
		truth.pcs[truth.count++] = scene.frames[i].pc;
	assert_true(truth.count >= 3);
	assert_int_equal(follow_all(&scene, &truth), 0);
	scene_end(&scene);
}

static void callers_are_found_after_each_instruction(void **state)
{
	static const char *const programs[] = { "optimized",  "lazy",	  "unoptimized",
						"fixed",      "static",	  "static_pie",
						"without_id", "stripped", "stripped_static",
						"debug_frame" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		print_message("%s\n", programs[i]);
		follow_program(programs[i], 0);
	}
}

static void the_copy_may_begin_below_the_stack_pointer(void **state)
{
	(void)state;
	follow_program("optimized", 128);
}

/* ---- where a program stops itself ---- */

static enum unwind_end look_at(struct scene *scene, const char *program, char *mode, char *depth)
{
	return look(scene, scene_begin(scene, program, mode, depth));
}

/* How many frames return to the same place as the one before. */
static size_t repeated(const struct scene *scene)
{
	size_t count = 0;

	for (size_t i = 1; i < scene->count; i++)
		count += scene->frames[i].pc == scene->frames[i - 1].pc;
	return count;
}

static void a_thread_ends_where_it_was_made(void **state)
{
	static struct scene scene;

	(void)state;
	assert_int_equal(look_at(&scene, "optimized", "thread", "20"), UNWIND_COMPLETE);
	assert_int_equal(repeated(&scene), 19);
	scene_end(&scene);
}

static void code_without_tables_is_walked_by_frame_pointers(void **state)
{
	static struct scene scene;

	(void)state;
	assert_int_equal(look_at(&scene, "frame_pointer", "recurse", "20"), UNWIND_COMPLETE);
	assert_int_equal(repeated(&scene), 19);
	scene_end(&scene);
}

#if defined(__x86_64__)
static void code_that_was_made_at_run_time_has_no_file(void **state)
{
	size_t without_file = 0;
	static struct scene scene;

	(void)state;
	assert_int_equal(look_at(&scene, "unoptimized", "compiled", "5"), UNWIND_COMPLETE);
	assert_int_equal(repeated(&scene), 4);
	for (size_t i = 0; i < scene.count; i++)
		without_file += !scene.frames[i].file;
	assert_int_equal(without_file, 1);
	scene_end(&scene);
}
#endif

static void a_handler_on_its_own_stack_is_all_that_the_copy_has(void **state)
{
	static struct scene scene;

	(void)state;
	assert_int_equal(look_at(&scene, "optimized", "alternate", NULL), UNWIND_CUT);
	assert_int_equal(repeated(&scene), SIGUSR2 - 1);
	scene_end(&scene);
}

static void a_stack_that_is_deeper_than_its_copy_is_cut(void **state)
{
	static struct scene scene;

	(void)state;
	assert_int_equal(look_at(&scene, "unoptimized", "recurse", "3000"), UNWIND_CUT);
	assert_true(scene.count > 100 && scene.count < FRAMES);
	assert_int_equal(unwind(scene.space, &scene.stack.copy, scene.frames, 50, &scene.count),
			 UNWIND_DEEP);
	assert_int_equal(scene.count, 50);
	assert_int_equal(unwind(scene.space, &scene.stack.copy, scene.frames, 0, &scene.count),
			 UNWIND_DEEP);
	assert_int_equal(scene.count, 0);
	scene_end(&scene);
}

static void a_thread_where_no_code_is_mapped_has_one_frame(void **state)
{
	static struct scene scene;

	(void)state;
	look_at(&scene, "optimized", "recurse", "5");
	scene.stack.copy.registers.values[UNWIND_PC] = 16;
	assert_int_equal(unwind(scene.space, &scene.stack.copy, scene.frames, FRAMES, &scene.count),
			 UNWIND_UNMAPPED);
	assert_int_equal(scene.count, 1);
	assert_null(scene.frames[0].file);
	scene_end(&scene);
}

static void the_mappings_of_a_parent_serve_its_child(void **state)
{
	struct address_space *child;
	static struct scene scene;
	size_t count;

	(void)state;
	look_at(&scene, "optimized", "recurse", "5");
	child = address_space_copy(scene.space, 1, 0);
	count = scene.count;
	address_space_free(scene.space);
	scene.space = child;
	assert_int_equal(unwind(child, &scene.stack.copy, scene.frames, FRAMES, &scene.count),
			 UNWIND_COMPLETE);
	assert_int_equal(scene.count, count);
	scene_end(&scene);
}

/* What a program has in its memory is up to it. */
static void any_stack_comes_to_an_end(void **state)
{
	unsigned ends[UNWIND_DEEP + 1] = { 0 };
	struct stack_copy copy;
	static struct scene scene;
	static char bytes[STACK_COPY_BYTES];

	(void)state;
	look_at(&scene, "optimized", "recurse", "60");
	copy = scene.stack.copy;
	srand(1);
	for (unsigned round = 0; round < 5000; round++) {
		scene.stack.copy = copy;
		memcpy(bytes, scene.stack.bytes, sizeof(bytes));
		scene.stack.copy.bytes = bytes;
		for (unsigned i = rand() % 64; i > 0; i--) {
			uint64_t address = copy.address + (uint64_t)rand() % copy.size;

			memcpy(bytes + (size_t)rand() % (copy.size / 8 - 1) / 4 * 8, &address, 8);
		}
		scene.stack.copy.registers.values[rand() % UNWIND_PC] += (uint64_t)(rand() % 512);
		scene.stack.copy.registers.known ^= (uint64_t)(rand() % 4 == 0)
						    << rand() % UNWIND_REGISTERS;
		scene.stack.copy.size = rand() % 4 ? copy.size : (size_t)rand() % copy.size;
		ends[unwind(scene.space, &scene.stack.copy, scene.frames, FRAMES, &scene.count)]++;
		assert_true(scene.count <= FRAMES);
	}
	assert_true(ends[UNWIND_COMPLETE] && ends[UNWIND_CUT] && ends[UNWIND_UNMAPPED] &&
		    ends[UNWIND_BAD]);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_are_found_after_each_instruction),
		cmocka_unit_test(the_copy_may_begin_below_the_stack_pointer),
		cmocka_unit_test(a_thread_ends_where_it_was_made),
		cmocka_unit_test(code_without_tables_is_walked_by_frame_pointers),
#if defined(__x86_64__)
		cmocka_unit_test(code_that_was_made_at_run_time_has_no_file),
#endif
		cmocka_unit_test(a_handler_on_its_own_stack_is_all_that_the_copy_has),
		cmocka_unit_test(a_stack_that_is_deeper_than_its_copy_is_cut),
		cmocka_unit_test(a_thread_where_no_code_is_mapped_has_one_frame),
		cmocka_unit_test(the_mappings_of_a_parent_serve_its_child),
		cmocka_unit_test(any_stack_comes_to_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
