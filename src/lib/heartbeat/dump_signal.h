/* SPDX-License-Identifier: MIT */
/*
 * Makes SIGUSR2 ask for the heartbeat's lines, unless the program uses that signal itself.
 */
#ifndef LIB_DUMP_SIGNAL_H
#define LIB_DUMP_SIGNAL_H

#include <stdbool.h>

/*
 * Says whether SIGUSR2 asks for lines from now on.  The handler is installed only in place of the
 * default action, and it stays: a signal that comes after the stop, or in a forked child without a
 * heartbeat, does nothing instead of ending the program.
 */
void dump_signal_choose(bool is_wanted);

#endif
