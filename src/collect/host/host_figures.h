/* SPDX-License-Identifier: MIT */
/*
 * The host's own figures: CPU time, memory, disks, network interfaces, sockets, interrupts.  They
 * are the values of the files of host_figures.def, as readings of the host's sheet.
 */
#ifndef COLLECT_HOST_FIGURES_H
#define COLLECT_HOST_FIGURES_H

struct capture;
struct host;
struct snapshot;

enum host_file_id {
#define HOST_FILE(id, ...) HOST_FILE_##id,
#include "collect/host/host_figures.def"
	HOST_FILE_COUNT,
};

/* The files, open from one sample to the next.  All zeros is valid. */
struct host_figure_files {
	int fds[HOST_FILE_COUNT]; /* plus one; 0 is not open */
	char *buffer;
};

void host_figure_files_clear(struct host_figure_files *files);

/* Reads the figures into the host's sheet.  0 or -ENOMEM. */
int host_figures_collect(struct capture *capture);
/*
 * The same for a snapshot without a capture, and not in detail: the readings of the section
 * host-usage.  0 or -ENOMEM.
 */
int host_usage_read(const struct host *host, struct snapshot *snapshot);

#endif
