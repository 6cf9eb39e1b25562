#include "tools/deliver/heap_records.h"

#include <utility>

namespace kymo::tools {

HeapRecordNeed HeapRecordsNeeded(const std::vector<std::string>& names,
                                 const ExportOptions& options,
                                 const ExporterRegistry& exporters) {
  HeapRecordNeed all = {.most = 0};
  for (const std::string& name : names) {
    HeapRecordNeed need = exporters.Find(name)->HeapRecordsNeeded(options);
    if (need.most > all.most) all = std::move(need);
  }
  return all;
}

}  // namespace kymo::tools
