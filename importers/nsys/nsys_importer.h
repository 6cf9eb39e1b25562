// nsys_importer.h - imports SQLite exports of Nsight Systems.
//
//   nsys profile -o report ./program
//   nsys export --type sqlite -o report.sqlite report.nsys-rep
//   const auto importer = NewNsysImporter();
//   KYMO_ASSIGN_OR_RETURN(ImportedTrace imported,
//                         importer->Import("report.sqlite", {}));
//
//   table                           | becomes
//   --------------------------------+-----------------------------------------
//   NVTX_EVENTS                     | nvtx_range and instants with domain,
//                                   | category, payload; ranges of start and
//                                   | end are asynchronous
//   CUPTI_ACTIVITY_KIND_RUNTIME     | cuda_runtime, cuda_driver
//   CUPTI_ACTIVITY_KIND_KERNEL,     | kernel, on the stream that it ran on; a
//   ..._GRAPH_TRACE                 | graph whose nodes were not traced is one
//   ..._MEMCPY, ..._MEMSET          | gpu_memcpy, gpu_memset with bytes, GB/s
//   ..._SYNCHRONIZATION             | cuda_sync, asynchronous
//   CUDA_GPU_MEMORY_USAGE_EVENTS    | memory records of the device
//   PROCESSES, ThreadNames          | names
//   TARGET_INFO_GPU, META_DATA_...  | metadata: `deviceProperties`, the
//                                   | version of the schema, the host
//
// Work that a call launched has that call's correlation id and process. Times
// become absolute by TARGET_INFO_SESSION_START_TIME, if the file has it.
//
// Schemas differ between releases: every table and most columns may be absent.
// Findings say what is missing or was not read: `no_device_work`, `no_calls`,
// `no_session_start`, `table_not_read` (CPU samples, OS calls, GPU metrics),
// `schema_unknown` (a major version that is not 2 or 3).
#ifndef KYMO_IMPORTERS_NSYS_NSYS_IMPORTER_H_
#define KYMO_IMPORTERS_NSYS_NSYS_IMPORTER_H_

#include <memory>

#include "profiler/plugin/trace_importer.h"

namespace kymo {

std::unique_ptr<TraceImporter> NewNsysImporter();

}  // namespace kymo

#endif  // KYMO_IMPORTERS_NSYS_NSYS_IMPORTER_H_
