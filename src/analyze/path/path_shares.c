/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_shares.h"

#include <string.h>

static double share(const struct critical_path *path, uint64_t ns)
{
	return path->total_ns ? (double)ns / (double)path->total_ns : 0;
}

static bool fits(const struct path_part *part, uint8_t kind, uint8_t via)
{
	return (kind == PATH_ANY || kind == part->kind) && (via == PATH_ANY || via == part->via);
}

double path_share(const struct critical_path *path, uint8_t kind, uint8_t via)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < path->parts.count; i++)
		if (fits(&path->parts.data[i], kind, via))
			ns += path->parts.data[i].ns;
	return share(path, ns);
}

double path_share_by_tree(const struct critical_path *path)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < path->parts.count; i++)
		ns += path->parts.data[i].by_tree_ns;
	return share(path, ns);
}

double path_share_by_outside(const struct critical_path *path)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < path->parts.count; i++)
		ns += path->parts.data[i].by_outside_ns;
	return share(path, ns);
}

double path_share_of_peers(const struct critical_path *path, uint8_t kind)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < path->parts.count; i++)
		if (path->parts.data[i].kind == kind)
			ns += path->parts.data[i].peer_ns;
	return share(path, ns);
}

const struct path_part *path_main_part(const struct critical_path *path, uint8_t kind, uint8_t via)
{
	const struct path_part *most = NULL;

	for (size_t i = 0; i < path->parts.count; i++) {
		const struct path_part *part = &path->parts.data[i];

		if (!fits(part, kind, via) || strcmp(part->program, PATH_OTHERS) == 0)
			continue;
		if (!most || part->ns > most->ns)
			most = part;
	}
	return most;
}
