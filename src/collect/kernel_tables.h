/* SPDX-License-Identifier: MIT */
/*
 * Parses lines of the host's own files in proc: a name and numbers whose meaning their place tells.
 * Only for kernel_parse.c, which has the formats.
 */
#ifndef COLLECT_KERNEL_TABLES_H
#define COLLECT_KERNEL_TABLES_H

struct kernel_parser;

int kernel_parse_stat(struct kernel_parser *parser, const char *line, const char *end);
int kernel_parse_loads(struct kernel_parser *parser, const char *line, const char *end);
int kernel_parse_meminfo(struct kernel_parser *parser, const char *line, const char *end);
int kernel_parse_disk(struct kernel_parser *parser, const char *line, const char *end);
int kernel_parse_interface(struct kernel_parser *parser, const char *line, const char *end);
int kernel_parse_sockets(struct kernel_parser *parser, const char *line, const char *end);
int kernel_parse_interrupt(struct kernel_parser *parser, const char *line, const char *end);

#endif
