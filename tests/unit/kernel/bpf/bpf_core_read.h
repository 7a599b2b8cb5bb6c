/* SPDX-License-Identifier: MIT */
/* Members of the kernel's types are where the compiler puts them, and all but some are there. */
#ifndef TESTS_UNIT_KERNEL_BPF_CORE_READ_H
#define TESTS_UNIT_KERNEL_BPF_CORE_READ_H
#pragma GCC system_header

/* What this kernel has not, as it is written where it is asked for. */
static const char *kernel_lacks = "";

static int kernel_has(const char *what)
{
	static const char *const others[] = { "struct pt_regs___arm64, syscallno",
					      "struct task_struct, thread_info.preempt",
					      "struct pcpu_hot, preempt_count",
					      "struct mm_struct___plain, rss_stat.count" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(what, others[i]) == 0)
			return strcmp(what, kernel_lacks) == 0; /* of an other kernel */
	return strcmp(what, kernel_lacks) != 0;
}

#define bpf_core_field_exists(...) kernel_has(#__VA_ARGS__)
#define bpf_core_type_exists(type) kernel_has(#type)
#define bpf_core_enum_value_exists(type, value) kernel_has(#value)
#define bpf_core_enum_value(type, value) (value)
#define bpf_core_type_size(type) sizeof(type)
#define bpf_core_field_offset(type, member) offsetof(type, member)

/* Reads through a null pointer give 0. */
#define READ_1(pointer, member)                                                                    \
	({                                                                                         \
		__typeof__(pointer) pointer_ = (pointer);                                          \
		pointer_ ? pointer_->member : (__typeof__(pointer_->member))0;                     \
	})
#define READ_2(pointer, first, ...) READ_1(READ_1(pointer, first), __VA_ARGS__)
#define READ_3(pointer, first, ...) READ_2(READ_1(pointer, first), __VA_ARGS__)
#define READ_BY_COUNT(a, b, c, d, name, ...) name
#define BPF_CORE_READ(...) READ_BY_COUNT(__VA_ARGS__, READ_3, READ_2, READ_1, )(__VA_ARGS__)
#define BPF_CORE_READ_BITFIELD(pointer, member) ((pointer)->member)
#define BPF_CORE_READ_INTO(ret, pointer, member) memcpy(ret, &(pointer)->member, sizeof(*(ret)))

#endif
