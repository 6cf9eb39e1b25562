// raw_importer.h - the `raw` importer: recordings that //tools:profile kept.
//
//   profile --keep_raw=1 --output_dir=out ./a.out
//   report out/kymo.raw
//
// backends/cpu/raw/raw_file.h describes the format. A file whose collector was
// killed is read like any other, up to its last record. Findings tell:
//
//   collector_died   warning  nobody ended the recording
//   chunk_cut        warning  the file ends within a chunk, or holds something
//                             that is no chunk
#ifndef KYMO_IMPORTERS_RAW_RAW_IMPORTER_H_
#define KYMO_IMPORTERS_RAW_RAW_IMPORTER_H_

#include <memory>

#include "profiler/plugin/trace_importer.h"

namespace kymo {

std::unique_ptr<TraceImporter> NewRawImporter();

}  // namespace kymo

#endif  // KYMO_IMPORTERS_RAW_RAW_IMPORTER_H_
