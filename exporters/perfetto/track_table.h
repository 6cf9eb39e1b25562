// track_table.h - the tracks of a file: their uuids and descriptors.
//
//   TrackTable tracks(trace);
//   tracks.of(track).uuid            // for ranges of a thread or stream
//   const uint64_t uuid = tracks.AddChild(tracks.of(track).uuid, "samples");
//   sink.Append(tracks.packets());   // before any use of a uuid
//
//   process app                   ProcessDescriptor
//     thread worker               ThreadDescriptor with pid and tid
//       lane 2                    ranges that overlap others of the thread
//       asynchronous, samples, counters
//     GPU 0
//       Stream 7
//
// Perfetto has no room for the ids 0, which is its idle task, and for ids of
// more than 31 bits. Such an id is replaced by a number that nothing else has,
// and the descriptor's description states the original id. A process that the
// trace knows only by its threads gets a descriptor without a name.
#ifndef KYMO_EXPORTERS_PERFETTO_TRACK_TABLE_H_
#define KYMO_EXPORTERS_PERFETTO_TRACK_TABLE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exporters/proto/proto_writer.h"
#include "profiler/model/trace.h"

namespace kymo::perfetto {

struct TrackIds {
  uint64_t uuid = 0;
  uint64_t process_uuid = 0;
  int64_t pid = 0;  // as written; threads only
  int64_t tid = 0;
};

enum class CounterUnit : uint8_t { kNone, kBytes };

class TrackTable {
 public:
  // `trace` must outlive this object.
  explicit TrackTable(const model::Trace& trace);

  const TrackIds& of(model::TrackIndex track) const { return ids_[track]; }

  // Both add a track below `parent_uuid`; 0 is no parent. Viewers show children
  // of one name as one row, with overlapping slices below each other.
  uint64_t AddChild(uint64_t parent_uuid, std::string_view name);
  uint64_t AddCounter(uint64_t parent_uuid, std::string_view name,
                      CounterUnit unit);

  // The descriptors of all tracks that were added so far.
  const std::string& packets() const { return packets_; }

 private:
  template <typename Write>
  uint64_t AddDescriptor(const Write& write);
  void AddProcesses();
  void AddThreads();
  void AddStreams();
  uint64_t DeviceUuid(const model::Track& track);
  uint64_t ProcessOfDevice(const model::Track& track) const;
  int64_t FitId(int64_t id);

  const model::Trace& trace_;
  std::vector<TrackIds> ids_;  // by track
  std::map<int64_t, TrackIds> processes_;
  std::map<std::pair<int64_t, int32_t>, uint64_t> devices_;
  std::set<int64_t> taken_ids_;
  std::map<int64_t, int64_t> new_ids_;  // by an id that does not fit
  int64_t next_id_ = 1'000'000'000;
  uint64_t last_uuid_ = 0;
  std::string packets_;
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_TRACK_TABLE_H_
