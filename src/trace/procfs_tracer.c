#include "trace/tracer.h"

const struct tracer_kind procfs_tracer = { .name = "procfs" };
