#include "trace/tracer.h"

const struct tracer_kind connector_tracer = { .name = "connector" };
