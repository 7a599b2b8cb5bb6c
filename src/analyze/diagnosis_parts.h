/* SPDX-License-Identifier: MIT */
/*
 * The three parts of a diagnosis, each pure and of a settled run.  Each sets the whole of its
 * result.
 */
#ifndef ANALYZE_DIAGNOSIS_PARTS_H
#define ANALYZE_DIAGNOSIS_PARTS_H

#include "analyze/diagnosis.h"

void syscalls_analyze(const struct run *run, struct syscall_analysis *ret);
void offcpu_analyze(const struct run *run, struct offcpu_analysis *ret);
void verdict_reach(const struct run *run, struct verdict *ret);

#endif
