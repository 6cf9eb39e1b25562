// nvtx_route.h - leads a program's NVTX calls to CUPTI.
//
//   KYMO_RETURN_IF_ERROR(RouteNvtx(library_paths, setup));  // of a child
//   KYMO_RETURN_IF_ERROR(CheckNvtxRoute());                // of this process
//
// At its first call, NVTX loads one library, which NVTX_INJECTION64_PATH names,
// and then reports every call to it. CUPTI sees markers only if that library is
// the very libcupti that records. Kymo's own capture of NVTX is such a library,
// too, so only one of the two can capture; both together would give each range
// twice.
//
// Threads: as for getenv. Errors: kFailedPrecondition, which says what to
//   change.
#ifndef KYMO_BACKENDS_CUPTI_NVTX_ROUTE_H_
#define KYMO_BACKENDS_CUPTI_NVTX_ROUTE_H_

#include <string>

#include "absl/status/status.h"
#include "profiler/plugin/target_setup.h"

namespace kymo::cupti {

// `library_paths`: as LoadCupti takes them; the first that exists is named.
// If the user has already set a libcupti, that setting stays. REQUIRES: every
// other backend that captures NVTX has prepared `setup` before.
absl::Status RouteNvtx(const std::string& library_paths, TargetSetup* setup);

// NVTX of this process can no longer be redirected, so this checks that the
// variable is set already.
absl::Status CheckNvtxRoute();

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_NVTX_ROUTE_H_
