/* SPDX-License-Identifier: MIT */
/* Ends a session: takes the last samples, completes the run, and writes the summary. */
#ifndef SESSION_FINISH_H
#define SESSION_FINISH_H

struct watch;

/* Call it once, after the loop.  The run is then settled.  0 or -ENOMEM. */
int session_finish(struct watch *watch);

#endif
