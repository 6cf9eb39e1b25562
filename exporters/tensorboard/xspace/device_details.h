// device_details.h - texts about a device's activity that XProf's kernel
// statistics and breakdowns read.
//
//   KernelDetails(trace, event)
//       // "regs:32 static_shared:0 dynamic_shared:1024 grid:64,1,1
//       //  block:256,1,1 occ_pct:50"
//   CopyDetails(trace, event)      // "num_bytes:4096\nkind_src:..."
//   CopyName("Memcpy HtoD (Pageable -> Device)")   // "MemcpyHToD"
//
// The numbers come from these arguments of the event, which are Kineto's:
//
//   argument                        | what it is
//   registers per thread            | number
//   shared memory                   | bytes, static and dynamic together
//   static shared memory            | static bytes of these; Kymo only
//   grid, block                     | [64, 1, 1], as JSON or text
//   est. achieved occupancy %       | number
//   bytes                           | of a copy or a fill
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_DEVICE_DETAILS_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_DEVICE_DETAILS_H_

#include <string>
#include <string_view>

#include "profiler/model/trace.h"

namespace kymo::tensorboard {

// Never empty: XProf counts only kernels that have details.
std::string KernelDetails(const model::Trace& trace, model::EventIndex event);
std::string CopyDetails(const model::Trace& trace, model::EventIndex event);
std::string FillDetails(const model::Trace& trace, model::EventIndex event);

// The name under which XProf recognises the copy. A name that is no copy comes
// back unchanged.
std::string CopyName(std::string_view name);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_DEVICE_DETAILS_H_
