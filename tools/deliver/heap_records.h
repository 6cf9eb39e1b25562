// heap_records.h - whether sums of the heap's records are enough for files.
//
//   const HeapRecordNeed need = HeapRecordsNeeded(names, options, exporters);
//   if (records > need.most) ...   // sums are enough
#ifndef KYMO_TOOLS_DELIVER_HEAP_RECORDS_H_
#define KYMO_TOOLS_DELIVER_HEAP_RECORDS_H_

#include <string>
#include <vector>

#include "profiler/plugin/registry.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo::tools {

// What the files of the named exporters need together. Without exporters:
// sums. REQUIRES: they are registered.
HeapRecordNeed HeapRecordsNeeded(const std::vector<std::string>& names,
                                 const ExportOptions& options,
                                 const ExporterRegistry& exporters);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_DELIVER_HEAP_RECORDS_H_
