// nvprof_importer.h - imports databases of nvprof, as PyTorch's load_nvprof
// does.
//
//   nvprof --profile-from-start off -o run.nvvp -- ./program
//   const auto importer = NewNvprofImporter();
//   KYMO_ASSIGN_OR_RETURN(ImportedTrace imported,
//                         importer->Import("run.nvvp", {}));
//
//   table                     | becomes
//   --------------------------+------------------------------------------
//   ..._MARKER                | nvtx_range, by the id that the start and the
//                             | end share; instants; ranges of a process
//                             | (nvtxRangeStart) are asynchronous
//   ..._RUNTIME, ..._DRIVER   | cuda_runtime, cuda_driver
//   ..._CONCURRENT_KERNEL,    | kernel, on the stream that it ran on
//   ..._KERNEL                |
//   ..._MEMCPY, ..._MEMCPY2   | gpu_memcpy, with bytes and GB/s
//   ..._MEMSET                | gpu_memset
//   ..._SYNCHRONIZATION       | cuda_sync, asynchronous
//   ..._OVERHEAD              | overhead, of a thread
//   ..._DEVICE                | metadata `deviceProperties`
//
// Work that a call launched has that call's correlation id. A range encloses
// the calls that its thread made in its time, and lists the work that they
// launched (profiler/events/trace_events.h). Times are nanoseconds; PyTorch
// takes them for microseconds. Databases do not name calls: see api_names.h.
//
// PyTorch refuses some files. Their faults are findings here, in PyTorch's
// words. With the setting strict=true they are errors, kInvalidArgument:
//   duplicate_key   a marker's id, or a call within a range that launched two
//                   kernels (which graphs do): "duplicate key: (1,)"
//   launch_cbid     a kernel that no launch made (IsLaunch):
//                   "Expected cbid to be 211, but got 13"
#ifndef KYMO_IMPORTERS_NVPROF_NVPROF_IMPORTER_H_
#define KYMO_IMPORTERS_NVPROF_NVPROF_IMPORTER_H_

#include <memory>

#include "profiler/plugin/trace_importer.h"

namespace kymo {

std::unique_ptr<TraceImporter> NewNvprofImporter();

}  // namespace kymo

#endif  // KYMO_IMPORTERS_NVPROF_NVPROF_IMPORTER_H_
