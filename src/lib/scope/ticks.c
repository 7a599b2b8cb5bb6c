/* SPDX-License-Identifier: MIT */
#include "lib/scope/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <stdbool.h>
#include <sys/prctl.h>

enum scope_clock ticks_clock = SCOPE_CLOCK_MONOTONIC;

#if defined(__x86_64__)

enum { CPUID_POWER = 0x80000007, CPUID_INVARIANT_TSC = 1 << 8 };

static bool tsc_is_invariant(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(CPUID_POWER, &a, &b, &c, &d) && (d & CPUID_INVARIANT_TSC);
}

/* A sandbox may have forbidden the instruction: using it would end the program. */
static bool tsc_is_allowed(void)
{
	int mode = PR_TSC_ENABLE;

	return prctl(PR_GET_TSC, &mode, 0, 0, 0) != 0 || mode == PR_TSC_ENABLE;
}

#endif

void ticks_choose(void)
{
#if defined(__x86_64__)
	if (tsc_is_invariant() && tsc_is_allowed())
		ticks_clock = SCOPE_CLOCK_TSC;
#elif defined(__aarch64__)
	ticks_clock = SCOPE_CLOCK_CNTVCT;
#endif
}
