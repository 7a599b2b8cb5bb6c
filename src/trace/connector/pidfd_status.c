/* SPDX-License-Identifier: MIT */
#include "trace/connector/pidfd_status.h"

#include <linux/types.h>
#include <sys/ioctl.h>

/* The kernel's struct pidfd_info, first version.  Older kernel headers lack it. */
struct pidfd_information {
	__u64 mask;
	__u64 cgroup;
	__u32 pid, tgid, parent;
	__u32 identities[8];
	__s32 exit_code;
};

_Static_assert(sizeof(struct pidfd_information) == 64, "as the kernel has it");

#define PIDFD_ASK _IOWR(0xFF, 11, struct pidfd_information)
#define PIDFD_EXIT (1ull << 3)

bool pidfd_exit_status(int pidfd, int *ret)
{
	struct pidfd_information information = { .mask = PIDFD_EXIT };

	if (pidfd < 0 || ioctl(pidfd, PIDFD_ASK, &information) < 0 ||
	    !(information.mask & PIDFD_EXIT))
		return false;
	*ret = information.exit_code;
	return true;
}
