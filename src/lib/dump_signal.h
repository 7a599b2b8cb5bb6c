/*
 * SIGUSR2 as a wish for lines, as long as the program does not use that signal itself.
 */
#ifndef LIB_DUMP_SIGNAL_H
#define LIB_DUMP_SIGNAL_H

/*
 * Only when the signal has its default action.  A forked child still has it taken, and ignores it
 * until it has a heartbeat of its own.
 */
void dump_signal_take(void);
/* The default action again, unless the program has set its own meanwhile.  Signal-safe. */
void dump_signal_give_back(void);

#endif
