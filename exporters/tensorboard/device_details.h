// device_details.h - what XProf's kernel statistics and breakdowns read of a
// device's activity, from Kineto's arguments of it.
//
//   KernelDetails(trace, event)
//       // "regs:32 static_shared:0 dynamic_shared:1024 grid:64,1,1
//       //  block:256,1,1 occ_pct:50"
//   CopyDetails(trace, event)      // "num_bytes:4096\nkind_src:..."
//   CopyName("Memcpy HtoD (Pageable -> Device)")   // "MemcpyHToD"
//
//   argument                        | what it is
//   registers per thread            | number
//   shared memory                   | bytes, static and dynamic together
//   static shared memory            | bytes of these; Kymo's, PyTorch has none
//   grid, block                     | [64, 1, 1], as JSON or text
//   est. achieved occupancy %       | number
//   bytes                           | of a copy or a fill
#ifndef KYMO_EXPORTERS_TENSORBOARD_DEVICE_DETAILS_H_
#define KYMO_EXPORTERS_TENSORBOARD_DEVICE_DETAILS_H_

#include <string>
#include <string_view>

#include "profiler/model/trace.h"

namespace kymo::tensorboard {

// Never empty: XProf counts only kernels that have details.
std::string KernelDetails(const model::Trace& trace, model::EventIndex event);
std::string CopyDetails(const model::Trace& trace, model::EventIndex event);
std::string FillDetails(const model::Trace& trace, model::EventIndex event);

// What XProf takes for a copy; of what is none, the name itself.
std::string CopyName(std::string_view name);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_DEVICE_DETAILS_H_
