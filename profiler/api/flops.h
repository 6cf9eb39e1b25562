// flops.h - formulas for the FLOPs of a program's own operations; see
// profiler/analysis/flops.h.
#ifndef KYMO_PROFILER_API_FLOPS_H_
#define KYMO_PROFILER_API_FLOPS_H_

#include "profiler/analysis/flops.h"  // IWYU pragma: export

#endif  // KYMO_PROFILER_API_FLOPS_H_
