/* SPDX-License-Identifier: MIT */
/* The protocol between the oracle and its helper, which is a separate program. */
#ifndef HOST_ORACLE_HELPER_H
#define HOST_ORACLE_HELPER_H

/*
 * argv of the helper: its name, the path that the library was preloaded from, the name of its
 * mallctl ("": one of the usual), the number of the fd to answer on.  It exits with 0 after an
 * answer, else with an errno: ENOENT (the library is not in the process), ENOSYS (it has no such
 * function), ENODATA (the function gives no address, or there is no TLS block), ERANGE (a counter
 * is not within the TLS block).  The answer is a struct tsd_layout.
 */
enum oracle_argument {
	ORACLE_ARGUMENT_NAME,
	ORACLE_ARGUMENT_LIBRARY,
	ORACLE_ARGUMENT_MALLCTL,
	ORACLE_ARGUMENT_ANSWER,
	ORACLE_ARGUMENTS,
};

#endif
