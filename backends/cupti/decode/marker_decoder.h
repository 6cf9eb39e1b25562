// marker_decoder.h - NVTX, as CUPTI heard it.
//
//   MarkerDecoder markers(pid, tables, writer);
//   markers.Decode(reader);      // every record of the log
//   markers.Finish();
//
// The same events as of our own NVTX (backends/nvtx): pushed and popped ranges
// are nested ranges of their thread, those that were started (or end on another
// thread) asynchronous ones, marks are instants. Arguments: domain, category,
// color, payload. Names of threads and streams are names of tracks.
//
// CUPTI says less than NVTX: categories are numbers, payloads with a schema are
// "(not shown)", a payload of 0.0 cannot be told from none and is left out, and
// synchronisation objects are not shown.
//
// Threads: none.
#ifndef KYMO_BACKENDS_CUPTI_DECODE_MARKER_DECODER_H_
#define KYMO_BACKENDS_CUPTI_DECODE_MARKER_DECODER_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "backends/cupti/decode/log_tables.h"
#include "backends/cupti/decode/shard_writer.h"
#include "backends/cupti/log/gpu_record.h"
#include "backends/cupti/log/log_reader.h"

namespace kymo::cupti {

class MarkerDecoder {
 public:
  // All must outlive the object.
  MarkerDecoder(int64_t pid, LogTables& tables, ShardWriter& writer)
      : pid_(pid), tables_(tables), writer_(writer) {}

  void Decode(const LogReader& reader);
  // Joins starts, ends and data; moves everything into the shard.
  void Finish();

 private:
  void Marker(const MarkerRecord& marker);
  void Name(const NameRecord& name);
  void Add(const MarkerRecord& marker);
  model::DetailIndex DetailOf(const MarkerRecord& marker);
  void PayloadArg(const MarkerDataRecord& data);
  TrackRows& RowsOf(const MarkerRecord& marker);

  const int64_t pid_;
  LogTables& tables_;
  ShardWriter& writer_;
  std::vector<MarkerRecord> begins_;                     // and instants
  std::unordered_map<uint32_t, MarkerRecord> ends_;      // by id
  std::unordered_map<uint32_t, MarkerDataRecord> data_;  // by id
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_MARKER_DECODER_H_
