// cupti_library.h - the real CUPTI, loaded when it is needed.
//
//   const CuptiApi* api = LoadCupti("/usr/local/cuda/lib64/libcupti.so.13",
//                                   problem, sizeof(problem));
//
// A libcupti that the program has loaded itself counts first: two in one
// process would be two clients of one driver. Else the first path of the list
// that can be loaded; a path without '/' is looked for by the loader. The
// library stays loaded.
//
// Where Kymo was built without CUDA's headers, there is none (kHasCupti).
//
// Threads: one at a time. Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_CUPTI_LIBRARY_H_
#define KYMO_BACKENDS_CUPTI_TARGET_CUPTI_LIBRARY_H_

#include <cstddef>

#include "backends/cupti/target/cupti_api.h"

namespace kymo::cupti {

// Whether this build has what it takes to read CUPTI's records.
extern const bool kHasCupti;

// `paths`: separated by ':'. Null when there is none; `problem` then says why.
const CuptiApi* LoadCupti(const char* paths, char* problem,
                          size_t problem_size) noexcept;

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CUPTI_LIBRARY_H_
