// raw_importer.h - the `raw` importer: recordings that //tools:profile kept.
//
//   profile --cpu_keep_raw --output_dir=out ./a.out
//   report out/kymo.raw
//
// backends/stream/raw/raw_file.h describes the format. A file whose collector
// was killed is read like any other, up to its last record. Findings tell:
//
//   collector_died   warning  nobody ended the recording
//   chunk_cut        warning  the file ends within a chunk, or holds something
//                             that is no chunk
#ifndef KYMO_IMPORTERS_RAW_RAW_IMPORTER_H_
#define KYMO_IMPORTERS_RAW_RAW_IMPORTER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "profiler/plugin/settings.h"
#include "profiler/plugin/trace_importer.h"

namespace kymo {

// Whether a recording is read part by part, as one is that is larger than
// memory.
enum class InWindows { kAuto, kAlways, kNever };

struct RawSettings {
  InWindows windows = InWindows::kAuto;
  std::optional<uint64_t> max_memory;  // bytes; what kAuto goes by
  int64_t fold_above = -1;             // records of the heap; -1 = keep each
};

SettingTable<RawSettings> RawTable();

std::unique_ptr<TraceImporter> NewRawImporter();

}  // namespace kymo

#endif  // KYMO_IMPORTERS_RAW_RAW_IMPORTER_H_
