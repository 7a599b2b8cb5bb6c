/* SPDX-License-Identifier: MIT */
/*
 * The three parts of a diagnosis.  Each reads only a settled run and sets its
 * whole result.
 */
#ifndef ANALYZE_DIAGNOSIS_PARTS_H
#define ANALYZE_DIAGNOSIS_PARTS_H

#include "analyze/verdict/diagnosis.h"

void syscalls_analyze(const struct run *run, struct syscall_analysis *ret);
void offcpu_analyze(const struct run *run, struct offcpu_analysis *ret);
void verdict_reach(const struct run *run, struct verdict *ret);

#endif
