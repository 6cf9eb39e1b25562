// marker_decoder.h - decodes NVTX markers, as CUPTI reports them.
//
//   MarkerDecoder markers(pid, tables, writer);
//   markers.Decode(reader);      // every record of the log
//   markers.Finish();
//
// The events are the same as those of our own NVTX capture (backends/nvtx).
// Pushed and popped ranges are nested ranges of their thread. Ranges that were
// started, or end on another thread, are asynchronous. Marks are instants.
// Arguments are domain, category, color and payload. Names of threads and
// streams become names of tracks.
//
// CUPTI says less than NVTX does. Categories are numbers. Payloads with a
// schema are "(not shown)". A payload of 0.0 is left out, since it looks like
// no payload. Synchronisation objects are not shown.
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
  // Joins starts, ends and data, and moves everything into the shard.
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
  std::vector<MarkerRecord> begins_;                     // starts and instants
  std::unordered_map<uint32_t, MarkerRecord> ends_;      // by id
  std::unordered_map<uint32_t, MarkerDataRecord> data_;  // by id
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_MARKER_DECODER_H_
