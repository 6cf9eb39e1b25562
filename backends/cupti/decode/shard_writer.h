// shard_writer.h - writes events of a device and of its callers into a shard.
//
//   ShardWriter writer(shard);
//   TrackRows& rows = writer.Stream(pid, device, stream);
//   writer.BeginDetail(correlation);
//   writer.Arg(model::Arg::Int(key, 1));
//   rows.Add(start_ns, end_ns, name, type, writer.EndDetail());
//   writer.Finish();                        // once: sorts
//
// Threads: none.
#ifndef KYMO_BACKENDS_CUPTI_DECODE_SHARD_WRITER_H_
#define KYMO_BACKENDS_CUPTI_DECODE_SHARD_WRITER_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "profiler/base/column.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo::cupti {

// The events of one track, in any order until Finish.
class TrackRows {
 public:
  explicit TrackRows(model::TrackIndex track) { events_.track = track; }

  // Both times must be known (not 0). `flags`: model::EventFlag bits.
  void Add(TimeNs start_ns, TimeNs end_ns, model::NameId name,
           model::ActivityType type, model::DetailIndex detail,
           uint8_t flags = 0) {
    if (start_ns < last_start_ns_) is_sorted_ = false;
    last_start_ns_ = start_ns;
    events_.start_ns.push_back(start_ns);
    events_.end_ns.push_back(end_ns);
    events_.name.push_back(name);
    events_.type.push_back(type);
    events_.detail.push_back(detail);
    events_.flags.push_back(flags);
  }

  model::TrackIndex track() const { return events_.track; }
  // The events in start order, the longer first. Empties the object.
  model::TrackEvents Take();

 private:
  model::TrackEvents events_;
  TimeNs last_start_ns_ = 0;
  bool is_sorted_ = true;
};

class ShardWriter {
 public:
  // `shard` is borrowed. Other writers may have written into it before.
  explicit ShardWriter(model::TraceShard& shard) : shard_(shard) {}
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;

  // Rows are made on first use, and are valid as long as the writer.
  TrackRows& Thread(int64_t pid, int64_t tid);
  TrackRows& Stream(int64_t pid, int32_t device, int64_t stream);
  // The row for waits for a stream: a row of its own, as in Kineto, so that
  // waits hide no kernel. `stream` -1: for waits for a whole context.
  TrackRows& SyncStream(int64_t pid, int32_t device, int64_t stream);

  // Makes room for so many more at once, so that the columns need not grow in
  // steps.
  void Reserve(size_t details, size_t args);
  void BeginDetail(uint64_t correlation_id) {
    detail_ = {};
    detail_.correlation_id = correlation_id;
    detail_.args_begin = static_cast<uint32_t>(shard_.args.size());
  }
  void Arg(const model::Arg& arg) { shard_.args.push_back(arg); }
  void Args(std::span<const model::Arg> args) {
    shard_.args.insert(shard_.args.end(), args.begin(), args.end());
  }
  model::DetailIndex EndDetail() {
    detail_.args_end = static_cast<uint32_t>(shard_.args.size());
    shard_.details.push_back(detail_);
    return static_cast<model::DetailIndex>(shard_.details.size() - 1);
  }

  model::TraceShard& shard() { return shard_; }

  // Moves the rows into the shard.
  void Finish();

 private:
  struct Key {
    model::TrackKind kind;
    int32_t device;
    int64_t pid, id;
    auto operator<=>(const Key&) const = default;
  };

  TrackRows& Rows(const Key& key, const char* name_suffix);

  model::TraceShard& shard_;
  model::Detail detail_;
  std::map<Key, TrackRows*> by_key_;
  std::deque<TrackRows> rows_;
  // The tracks that were used last, by a hash of their key.
  struct Recent {
    Key key;
    TrackRows* rows = nullptr;
  };
  std::array<Recent, 64> recent_;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_SHARD_WRITER_H_
