// remarks.h - what the user should know about CUPTI's part in a recording.
//
//   RemarksOf(decoded, 130000)
//     "CUPTI did not record what was asked for: unified memory: ... (28)"
//     "this libcupti is the first of CUDA 13.0, ...: install its update"
#ifndef KYMO_BACKENDS_CUPTI_DECODE_REMARKS_H_
#define KYMO_BACKENDS_CUPTI_DECODE_REMARKS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/cupti/decode/decode.h"

namespace kymo::cupti {

// The remarks for all processes, each sentence once. `version`: the newest
// CUPTI's.
std::vector<std::string> RemarksOf(std::span<const DecodedLog> logs,
                                   uint32_t version);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_REMARKS_H_
