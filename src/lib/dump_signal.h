/* SPDX-License-Identifier: MIT */
/*
 * SIGUSR2 as a wish for lines, as long as the program does not use that signal itself.
 */
#ifndef LIB_DUMP_SIGNAL_H
#define LIB_DUMP_SIGNAL_H

#include <stdbool.h>

/*
 * Whether it is one from now on.  Only a signal with its default action is taken, and it stays taken:
 * one that comes after the stop, or in a forked child without a heartbeat, does nothing instead of
 * ending the program.
 */
void dump_signal_choose(bool is_wanted);

#endif
