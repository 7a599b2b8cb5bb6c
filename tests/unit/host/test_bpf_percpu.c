/* SPDX-License-Identifier: MIT */
/* Descriptions of types that the test makes up, and that of this kernel as libbpf reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/bpf.h"
#include "host/host.h"

#define RUN_QUEUES_AT 4096
#define COUNT_AT 64
#define HOT_AT 128

CLEANUP_POINTER(btf__free, struct btf)

/* A kernel with one variable for each name, in the order of their places. */
struct variable {
	const char *name;
	uint32_t offset;
};

/* All kinds of types that come before the variables in a kernel. */
static void add_types(struct btf *types)
{
	int number = btf__add_int(types, "int", 4, BTF_INT_SIGNED);

	assert_true(number > 0);
	assert_true(btf__add_ptr(types, number) > 0);
	assert_true(btf__add_array(types, number, number, 3) > 0);
	assert_true(btf__add_struct(types, "runqueues", 8) > 0); /* not the variable of that name */
	assert_int_equal(btf__add_field(types, "clock", number, 0, 0), 0);
	assert_int_equal(btf__add_field(types, "cpu", number, 32, 0), 0);
	assert_true(btf__add_union(types, "either", 4) > 0);
	assert_int_equal(btf__add_field(types, "one", number, 0, 0), 0);
	assert_true(btf__add_enum(types, "which", 4) > 0);
	assert_int_equal(btf__add_enum_value(types, "FIRST", 1), 0);
	assert_true(btf__add_enum64(types, "large", 8, false) > 0);
	assert_int_equal(btf__add_enum64_value(types, "FAR", 1ULL << 40), 0);
	assert_true(btf__add_fwd(types, "later", BTF_FWD_STRUCT) > 0);
	assert_true(btf__add_typedef(types, "number", number) > 0);
	assert_true(btf__add_const(types, number) > 0);
	assert_true(btf__add_float(types, "float", 4) > 0);
	assert_true(btf__add_func_proto(types, number) > 0);
	assert_int_equal(btf__add_func_param(types, "argument", number), 0);
	assert_true(btf__add_decl_tag(types, "tag", number, -1) > 0);
	assert_true(btf__add_type_tag(types, "tag", number) > 0);
}

static struct btf *new_kernel(const char *section, const struct variable *variables, size_t count)
{
	struct btf *types = btf__new_empty();
	int ids[8];

	assert_non_null(types);
	add_types(types);
	for (size_t i = 0; i < count; i++) {
		ids[i] = btf__add_var(types, variables[i].name, BTF_VAR_GLOBAL_ALLOCATED, 1);
		assert_true(ids[i] > 0);
	}
	assert_true(btf__add_datasec(types, ".data..other", 8) > 0);
	assert_true(btf__add_datasec(types, section, 8192) > 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(btf__add_datasec_var_info(types, ids[i], variables[i].offset, 4),
				 0);
	return types;
}

static int64_t distance_in(const struct btf *types)
{
	uint32_t length = 0;
	const void *bytes = btf__raw_data(types, &length);

	assert_non_null(bytes);
	return bpf_percpu_distance(bytes, length);
}

static int64_t distance_of(const char *section, const struct variable *variables, size_t count)
{
	CLEANUP(btf__free_pointer) struct btf *types = new_kernel(section, variables, count);

	return distance_in(types);
}

static void it_is_found_in_the_section_of_each_cpu(void **state)
{
	static const struct variable variables[] = { { "__preempt_count", COUNT_AT },
						     { "other", 2048 },
						     { "runqueues", RUN_QUEUES_AT } };

	(void)state;
	assert_int_equal(distance_of(".data..percpu", variables, 3), COUNT_AT - RUN_QUEUES_AT);
	assert_int_equal(distance_of(".data..elsewhere", variables, 3), 0);
}

static void a_hot_structure_goes_first(void **state)
{
	static const struct variable variables[] = { { "runqueues", RUN_QUEUES_AT },
						     { "pcpu_hot", HOT_AT },
						     { "__preempt_count", COUNT_AT } };

	(void)state;
	assert_int_equal(distance_of(".data..percpu", variables, 2), HOT_AT - RUN_QUEUES_AT);
	assert_int_equal(distance_of(".data..percpu", variables, 3), HOT_AT - RUN_QUEUES_AT);
}

static void without_one_of_them_it_is_not_known(void **state)
{
	static const struct variable variables[] = { { "__preempt_count", COUNT_AT },
						     { "runqueues", RUN_QUEUES_AT } };

	(void)state;
	assert_int_equal(distance_of(".data..percpu", variables, 1), 0);
	assert_int_equal(distance_of(".data..percpu", variables + 1, 1), 0);
	assert_int_equal(distance_of(".data..percpu", variables, 0), 0);
}

/* Each is shorter than its header says, or has none. */
static void what_is_cut_off_is_not_read(void **state)
{
	static const struct variable variables[] = { { "__preempt_count", COUNT_AT },
						     { "runqueues", RUN_QUEUES_AT } };
	CLEANUP(btf__free_pointer) struct btf *types = new_kernel(".data..percpu", variables, 2);
	uint32_t length = 0;
	const char *bytes = btf__raw_data(types, &length);

	(void)state;
	for (uint32_t kept = 0; kept < length; kept++) {
		CLEANUP(free_pointer) char *part = malloc(kept + 1);

		assert_non_null(part);
		memcpy(part, bytes, kept);
		assert_int_equal(bpf_percpu_distance(part, kept), 0);
	}
}

static void a_kind_of_the_future_ends_the_walk(void **state)
{
	static const struct variable variables[] = { { "__preempt_count", COUNT_AT },
						     { "runqueues", RUN_QUEUES_AT } };
	CLEANUP(btf__free_pointer) struct btf *types = new_kernel(".data..percpu", variables, 2);
	uint32_t length = 0;
	const char *bytes = btf__raw_data(types, &length);
	CLEANUP(free_pointer) char *copy = malloc(length);
	struct btf_type *first;

	(void)state;
	assert_non_null(copy);
	memcpy(copy, bytes, length);
	first = (void *)(copy + sizeof(struct btf_header));
	first->info = 31U << 24;
	assert_int_equal(bpf_percpu_distance(copy, length), 0);
}

/* -1: there is no such variable. */
static int64_t libbpf_offset(const struct btf *types, const char *name)
{
	int section = btf__find_by_name_kind(types, ".data..percpu", BTF_KIND_DATASEC);
	int variable = btf__find_by_name_kind(types, name, BTF_KIND_VAR);
	const struct btf_type *type =
		section > 0 ? btf__type_by_id(types, (uint32_t)section) : NULL;

	for (uint32_t i = 0; type && i < btf_vlen(type); i++)
		if ((int)btf_var_secinfos(type)[i].type == variable)
			return btf_var_secinfos(type)[i].offset;
	return -1;
}

static int64_t libbpf_distance(const struct btf *types)
{
	int64_t queues = libbpf_offset(types, "runqueues");
	int64_t hot = libbpf_offset(types, "pcpu_hot");
	int64_t count = libbpf_offset(types, "__preempt_count");

	if (queues < 0 || (hot < 0 && count < 0))
		return 0;
	return (hot < 0 ? count : hot) - queues;
}

/* Mapped, or read where this kernel cannot map it. */
static void this_kernel_is_read_as_libbpf_reads_it(void **state)
{
	CLEANUP(btf__free_pointer) struct btf *types = btf__load_vmlinux_btf();
	struct host host = { .sys = open("/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };

	(void)state;
	if (!types || host.sys < 0)
		skip();
	assert_int_equal(host_bpf_preempt_distance(&host), libbpf_distance(types));
	close(host.sys);
	host.sys = open("/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* no description in here */
	assert_int_equal(host_bpf_preempt_distance(&host), 0);
	close(host.sys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_found_in_the_section_of_each_cpu),
		cmocka_unit_test(a_hot_structure_goes_first),
		cmocka_unit_test(without_one_of_them_it_is_not_known),
		cmocka_unit_test(what_is_cut_off_is_not_read),
		cmocka_unit_test(a_kind_of_the_future_ends_the_walk),
		cmocka_unit_test(this_kernel_is_read_as_libbpf_reads_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
