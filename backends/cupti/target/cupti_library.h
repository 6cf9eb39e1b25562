// cupti_library.h - the real CUPTI library, loaded when it is needed.
//
//   const CuptiApi* api = LoadCupti("/usr/local/cuda/lib64/libcupti.so.13",
//                                   problem, sizeof(problem));
//
// If the program has loaded a libcupti itself, that one is used: two in one
// process would be two clients of one driver. Else the first path of the list
// that can be loaded is used; the loader searches for a path without '/'. The
// library stays loaded.
//
// If Kymo was built without CUDA's headers, there is no library (kHasCupti).
//
// Threads: one at a time. Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_CUPTI_LIBRARY_H_
#define KYMO_BACKENDS_CUPTI_TARGET_CUPTI_LIBRARY_H_

#include <cstddef>

#include "backends/cupti/target/cupti_api.h"

namespace kymo::cupti {

// Whether this build can read CUPTI's records.
extern const bool kHasCupti;

// `paths` are separated by ':'. Null if no library can be used; `problem` says
// why.
const CuptiApi* LoadCupti(const char* paths, char* problem,
                          size_t problem_size) noexcept;

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CUPTI_LIBRARY_H_
