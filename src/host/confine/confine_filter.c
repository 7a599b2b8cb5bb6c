/* SPDX-License-Identifier: MIT */
#include "host/confine/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/collection/array.h"

#if defined(__x86_64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "say which system calls this architecture has"
#endif

#define IN_SERVICE (1u << CONFINE_SERVICE)
#define IN_PARSER (1u << CONFINE_PARSER | IN_SERVICE)
#define IN_PROGRAM (1u << CONFINE_PROGRAM)
#define IN_ALL (IN_PARSER | IN_PROGRAM)

#define CONDITIONS 2
#define INSTRUCTIONS 1024

/* All flags with which open() can change anything; without them it only reads. */
#define WRITING_FLAGS                                                                              \
	((uint32_t)(O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY)))

/* True when the argument's bits under the mask equal the value; always true for an empty mask. */
struct condition {
	unsigned argument;
	uint64_t mask;
	uint64_t value;
};

struct rule {
	int number;
	unsigned in;
	struct condition conditions[CONDITIONS];
	bool program_fd; /* the first argument must be program_fd */
	bool is_asked;	 /* the tracer decides; without a tracer the call fails with ENOSYS */
};

/* For int arguments the kernel uses the lower half only, and so does a condition. */
#define INT_IS(position, wanted)                                                                   \
	{                                                                                          \
		(position), UINT32_MAX, (uint32_t)(wanted)                                         \
	}
#define POINTER_IS_NULL(position)                                                                  \
	{                                                                                          \
		(position), UINT64_MAX, 0                                                          \
	}
#define IS_ANONYMOUS(position)                                                                     \
	{                                                                                          \
		(position), MAP_ANONYMOUS, MAP_ANONYMOUS                                           \
	}
#define READS_ONLY(position)                                                                       \
	{                                                                                          \
		(position), WRITING_FLAGS, 0                                                       \
	}

/*
 * A call may have several rows: it is allowed if one of them matches.  The most frequent calls
 * come first, since the kernel checks the rows in order.
 */
static const struct rule rules[] = {
	{ SYS_pread64, IN_ALL, {}, false, false },
	{ SYS_read, IN_ALL, {}, false, false },
	{ SYS_write, IN_ALL, {}, false, false },
	{ SYS_mmap, IN_PARSER, {}, false, false },
	{ SYS_mmap, IN_PROGRAM, { IS_ANONYMOUS(3) }, false, false },
	{ SYS_mmap, IN_PROGRAM, {}, false, true },
	{ SYS_munmap, IN_ALL, {}, false, false },
	{ SYS_mremap, IN_ALL, {}, false, false },
	{ SYS_mprotect, IN_ALL, {}, false, false },
	{ SYS_madvise, IN_ALL, {}, false, false },
	{ SYS_brk, IN_ALL, {}, false, false },
	{ SYS_lseek, IN_ALL, {}, false, false },
	{ SYS_fstat, IN_ALL, {}, false, false },
	{ SYS_newfstatat, IN_ALL, {}, false, false },
	{ SYS_readv, IN_ALL, {}, false, false },
	{ SYS_writev, IN_ALL, {}, false, false },
	{ SYS_preadv, IN_ALL, {}, false, false },
	{ SYS_close, IN_ALL, {}, false, false },
	{ SYS_exit, IN_ALL, {}, false, false },
	{ SYS_exit_group, IN_ALL, {}, false, false },
	{ SYS_futex, IN_ALL, {}, false, false },
	{ SYS_sched_yield, IN_ALL, {}, false, false },
	{ SYS_sched_getaffinity, IN_ALL, {}, false, false },
	{ SYS_rt_sigaction, IN_ALL, {}, false, false },
	{ SYS_rt_sigprocmask, IN_ALL, {}, false, false },
	{ SYS_rt_sigreturn, IN_ALL, {}, false, false },
	{ SYS_sigaltstack, IN_ALL, {}, false, false },
	{ SYS_clock_gettime, IN_ALL, {}, false, false },
	{ SYS_clock_getres, IN_ALL, {}, false, false },
	{ SYS_gettimeofday, IN_ALL, {}, false, false },
	{ SYS_getpid, IN_ALL, {}, false, false },
	{ SYS_gettid, IN_ALL, {}, false, false },
	{ SYS_getppid, IN_ALL, {}, false, false },
	{ SYS_getrandom, IN_ALL, {}, false, false },
	{ SYS_restart_syscall, IN_ALL, {}, false, false },
	/* Not the commands that make the kernel send signals for a file. */
	{ SYS_fcntl, IN_ALL, { INT_IS(1, F_GETFL) }, false, false },
	{ SYS_fcntl, IN_ALL, { INT_IS(1, F_GETFD) }, false, false },
	{ SYS_fcntl, IN_ALL, { INT_IS(1, F_SETFD) }, false, false },
	{ SYS_fcntl, IN_ALL, { INT_IS(1, F_DUPFD_CLOEXEC) }, false, false },
	/* Only reading its own limits. */
	{ SYS_prlimit64, IN_ALL, { INT_IS(0, 0), POINTER_IS_NULL(2) }, false, false },

	{ SYS_recvmsg, IN_SERVICE, {}, false, false },
	{ SYS_execveat, IN_PROGRAM, { INT_IS(4, AT_EMPTY_PATH) }, true, false },
	{ SYS_openat, IN_PROGRAM, { READS_ONLY(2) }, false, false },
	{ SYS_set_tid_address, IN_PROGRAM, {}, false, false },
	{ SYS_set_robust_list, IN_PROGRAM, {}, false, false },
	{ SYS_clock_nanosleep, IN_PROGRAM, {}, false, false },
	{ SYS_nanosleep, IN_PROGRAM, {}, false, false },
	{ SYS_faccessat, IN_PROGRAM, {}, false, false },
	{ SYS_readlinkat, IN_PROGRAM, {}, false, false },
	{ SYS_statfs, IN_PROGRAM, {}, false, false },
	{ SYS_fstatfs, IN_PROGRAM, {}, false, false },
	{ SYS_getdents64, IN_PROGRAM, {}, false, false },
	{ SYS_getcwd, IN_PROGRAM, {}, false, false },
	{ SYS_dup, IN_PROGRAM, {}, false, false },
	{ SYS_dup3, IN_PROGRAM, {}, false, false },
	{ SYS_pipe2, IN_PROGRAM, {}, false, false },
	{ SYS_ppoll, IN_PROGRAM, {}, false, false },
	{ SYS_uname, IN_PROGRAM, {}, false, false },
	{ SYS_sysinfo, IN_PROGRAM, {}, false, false },
	{ SYS_getrusage, IN_PROGRAM, {}, false, false },
	{ SYS_times, IN_PROGRAM, {}, false, false },
	{ SYS_getcpu, IN_PROGRAM, {}, false, false },
	{ SYS_getuid, IN_PROGRAM, {}, false, false },
	{ SYS_geteuid, IN_PROGRAM, {}, false, false },
	{ SYS_getgid, IN_PROGRAM, {}, false, false },
	{ SYS_getegid, IN_PROGRAM, {}, false, false },
#ifdef SYS_statx
	{ SYS_statx, IN_PROGRAM, {}, false, false },
#endif
#ifdef SYS_rseq
	{ SYS_rseq, IN_PROGRAM, {}, false, false },
#endif
#ifdef SYS_faccessat2
	{ SYS_faccessat2, IN_PROGRAM, {}, false, false },
#endif
/* Older calls for the same, which newer architectures lack. */
#ifdef SYS_arch_prctl
	{ SYS_arch_prctl, IN_PROGRAM, {}, false, false },
#endif
#ifdef SYS_open
	{ SYS_open, IN_PROGRAM, { READS_ONLY(1) }, false, false },
#endif
#ifdef SYS_access
	{ SYS_access, IN_PROGRAM, {}, false, false },
#endif
#ifdef SYS_stat
	{ SYS_stat, IN_PROGRAM, {}, false, false },
#endif
#ifdef SYS_lstat
	{ SYS_lstat, IN_PROGRAM, {}, false, false },
#endif
#ifdef SYS_readlink
	{ SYS_readlink, IN_PROGRAM, {}, false, false },
#endif
#ifdef SYS_poll
	{ SYS_poll, IN_PROGRAM, {}, false, false },
#endif
#ifdef SYS_dup2
	{ SYS_dup2, IN_PROGRAM, {}, false, false },
#endif
#ifdef SYS_time
	{ SYS_time, IN_PROGRAM, {}, false, false },
#endif
#ifdef SYS_getrlimit
	{ SYS_getrlimit, IN_PROGRAM, {}, false, false },
#endif
};

struct filter {
	struct sock_filter code[INSTRUCTIONS];
	size_t count;
};

/* If the filter is full, only counts; that is noticed at the end. */
static void emit(struct filter *filter, struct sock_filter instruction)
{
	if (filter->count < INSTRUCTIONS)
		filter->code[filter->count] = instruction;
	filter->count++;
}

static void emit_load(struct filter *filter, size_t offset)
{
	emit(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void emit_return(struct filter *filter, uint32_t action)
{
	emit(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* Continues with the next instruction if the value matches, else skips `otherwise` instructions. */
static void emit_require(struct filter *filter, uint32_t value, size_t otherwise)
{
	emit(filter,
	     (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, (uint8_t)otherwise));
}

/* Half a condition takes three instructions, or none when its mask is empty. */
#define HALF_LENGTH 3

static size_t half_length(uint64_t mask, unsigned half)
{
	return (uint32_t)(mask >> 32 * half) ? HALF_LENGTH : 0;
}

static size_t conditions_length(const struct rule *rule)
{
	size_t length = 0;

	for (unsigned i = 0; i < CONDITIONS; i++)
		length += half_length(rule->conditions[i].mask, 0) +
			  half_length(rule->conditions[i].mask, 1);
	return length;
}

/* Both architectures are little-endian: the lower half of a number comes first. */
static void emit_half(struct filter *filter, const struct condition *condition, unsigned half,
		      size_t *rest)
{
	uint32_t mask = (uint32_t)(condition->mask >> 32 * half);
	uint32_t value = (uint32_t)(condition->value >> 32 * half);

	if (!mask)
		return;
	*rest -= HALF_LENGTH;
	emit_load(filter, offsetof(struct seccomp_data, args) + 8 * condition->argument + 4 * half);
	emit(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
	emit_require(filter, value, *rest);
}

/* The call's number is loaded again before each rule, since conditions overwrite it. */
static void emit_rule(struct filter *filter, const struct rule *rule)
{
	size_t rest = conditions_length(rule) + 1; /* including the return */

	emit_require(filter, (uint32_t)rule->number, rest);
	for (unsigned i = 0; i < CONDITIONS; i++)
		for (unsigned half = 0; half < 2; half++)
			emit_half(filter, &rule->conditions[i], half, &rest);
	emit_return(filter, rule->is_asked ? SECCOMP_RET_TRACE : SECCOMP_RET_ALLOW);
	if (conditions_length(rule))
		emit_load(filter, offsetof(struct seccomp_data, nr));
}

static void emit_rules(struct filter *filter, const struct confine_limits *limits)
{
	emit_load(filter, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct rule rule = rules[i];

		if (!(rule.in & 1u << limits->rules))
			continue;
		if (rule.program_fd)
			rule.conditions[1] = (struct condition)INT_IS(0, limits->program_fd);
		emit_rule(filter, &rule);
	}
}

int confine_filter_install(const struct confine_limits *limits)
{
	struct filter filter = { .count = 0 };
	struct sock_fprog program = { .filter = filter.code };

	emit_load(&filter, offsetof(struct seccomp_data, arch));
	emit_require(&filter, NATIVE_ARCHITECTURE, 1);
	emit(&filter, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
	emit_return(&filter, SECCOMP_RET_KILL_PROCESS);
	emit_rules(&filter, limits);
	emit_return(&filter, SECCOMP_RET_ERRNO | EPERM);
	if (filter.count > INSTRUCTIONS)
		return -E2BIG;
	program.len = (unsigned short)filter.count;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}
