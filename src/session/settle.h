/* SPDX-License-Identifier: MIT */
/*
 * The end of a session: the last looks, what they come to, and the summary.
 */
#ifndef SESSION_SETTLE_H
#define SESSION_SETTLE_H

struct watch;

/* Once, after the loop; then the run is as its readers want it.  0 or -ENOMEM. */
int session_settle(struct watch *watch);

#endif
