/* SPDX-License-Identifier: MIT */
/* Sends events about members.  Part of trace/proc/members.h. */
#ifndef TRACE_MEMBERS_TELL_H
#define TRACE_MEMBERS_TELL_H

#include "trace/proc/members.h"

void members_tell_account(struct members *members, struct member_thread *thread, uint64_t time_ns,
			  bool ended);
void members_tell_end(struct members *members, struct member *member, uint64_t time_ns);

#endif
