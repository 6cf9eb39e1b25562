// no_cupti.cc - takes the place of cupti_library.cc if CUDA's headers are
// missing.
#include <stdio.h>

#include "backends/cupti/target/cupti_library.h"

namespace kymo::cupti {

const bool kHasCupti = false;

const CuptiApi* LoadCupti(const char*, char* problem,
                          size_t problem_size) noexcept {
  snprintf(problem, problem_size,
           "this Kymo was built without CUDA: no cupti.h of CUDA 13 or newer "
           "was found; build it with CUDA_HOME set");
  return nullptr;
}

}  // namespace kymo::cupti
