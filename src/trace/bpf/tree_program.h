/* SPDX-License-Identifier: MIT */
/*
 * The skeleton of the programs that follow a tree: their maps, variables and descriptors.  It defines
 * functions that only the loader needs; as a system header it does not make the others complain.
 */
#ifndef TRACE_BPF_TREE_PROGRAM_H
#define TRACE_BPF_TREE_PROGRAM_H

#pragma GCC system_header
#include "tree.skel.h"

#endif
