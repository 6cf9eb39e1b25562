// memory_decoder.h - decodes a device's memory: records, totals and counters.
//
//   MemoryDecoder memory(pid, tables, writer);
//   memory.Decode(reader);      // every record of the log
//   memory.Finish();
//
// Allocations and frees become memory records of the device, each with the
// device's total. Counters tell how many bytes are pinned on the host, how many
// the pools hold, and what unified memory faulted. A record is on the track of
// the thread that asked, if its call is known, else on that of the process's
// first thread.
//
// Threads: none.
#ifndef KYMO_BACKENDS_CUPTI_DECODE_MEMORY_DECODER_H_
#define KYMO_BACKENDS_CUPTI_DECODE_MEMORY_DECODER_H_

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/cupti/decode/log_tables.h"
#include "backends/cupti/decode/shard_writer.h"
#include "backends/cupti/log/gpu_record.h"
#include "backends/cupti/log/log_reader.h"

namespace kymo::cupti {

class MemoryDecoder {
 public:
  // All must outlive the object.
  MemoryDecoder(int64_t pid, LogTables& tables, ShardWriter& writer)
      : pid_(pid), tables_(tables), writer_(writer) {}

  void Decode(const LogReader& reader);
  // Sorts, adds up, and moves everything into the shard.
  void Finish();

 private:
  void Memory(const MemoryRecord& memory);
  void Pool(const PoolRecord& pool);
  void Unified(const UnifiedRecord& unified);
  // From now on one pool of a device holds `used` bytes.
  void SetPool(uint32_t device, uint64_t address, uint64_t time, uint64_t used);
  void PoolCounters();
  model::TrackIndex TrackOf(uint32_t correlation);

  const int64_t pid_;
  LogTables& tables_;
  ShardWriter& writer_;
  std::vector<model::MemoryRecord> records_;
  // Changes of the pinned bytes on the host; they become a counter.
  std::vector<std::pair<TimeNs, int64_t>> pinned_;
  struct PoolChange {
    TimeNs time_ns;
    uint64_t address, used;
  };
  std::map<uint32_t, std::vector<PoolChange>> pools_;  // by device
  // Increments of counters, by device (kOfHost: none) and kind of counter.
  std::map<std::pair<uint32_t, uint32_t>,
           std::vector<std::pair<TimeNs, uint64_t>>>
      faults_;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_MEMORY_DECODER_H_
