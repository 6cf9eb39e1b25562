// nvtx_route.h - how what a program says through NVTX gets to CUPTI.
//
//   KYMO_RETURN_IF_ERROR(RouteNvtx(library_paths, setup));  // of a child
//   KYMO_RETURN_IF_ERROR(CheckNvtxRoute());                // of this process
//
// NVTX asks at its first call for one library, which NVTX_INJECTION64_PATH
// names, and tells it everything: CUPTI hears of markers where that is the very
// libcupti that records. Kymo's own capture of NVTX is such a library, too, so
// that it is one or the other; both would give each range twice.
//
// Threads: those of getenv. Errors: kFailedPrecondition, with what to change.
#ifndef KYMO_BACKENDS_CUPTI_NVTX_ROUTE_H_
#define KYMO_BACKENDS_CUPTI_NVTX_ROUTE_H_

#include <string>

#include "absl/status/status.h"
#include "profiler/plugin/target_setup.h"

namespace kymo::cupti {

// `library_paths`: as LoadCupti takes them; the first that exists is named.
// What the user has set stays if it is a libcupti. REQUIRES: whoever else
// captures NVTX has prepared `setup` before.
absl::Status RouteNvtx(const std::string& library_paths, TargetSetup* setup);

// This process's NVTX cannot be led elsewhere any more: the variable has to be
// there.
absl::Status CheckNvtxRoute();

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_NVTX_ROUTE_H_
