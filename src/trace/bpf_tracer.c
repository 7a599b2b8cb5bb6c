#include "trace/tracer.h"

const struct tracer_kind bpf_tracer = { .name = "bpf" };
