// window_sums.h - averages, call paths and counters of a trace that is read in
// windows, one after the other.
//
//   WindowSums sums;
//   while (...) sums.Add(window, is_last);       // then free the window
//   sums.Averages()                              // as KeyAverages()
//   for (const WindowSums::Path& path : sums.paths()) ...
//   for (const WindowSums::Counter& counter : sums.Counters()) ...
//
// Events that windows repeat carry kEventRepeated and count once. The averages
// are by name, device and kind. They equal those of the whole trace with
// duplicates kept, except that their first events are no events of any trace.
//
// Memory: names, groups, paths and counters. Beyond kMostPaths paths, a new
//   path counts for the known path around it, and paths_left_out() says how
//   often that happened. Beyond kMostCounters counters, the values of new ones
//   are lost (kCounterValuesDropped).
#ifndef KYMO_PROFILER_ANALYSIS_AVERAGES_WINDOW_SUMS_H_
#define KYMO_PROFILER_ANALYSIS_AVERAGES_WINDOW_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/analysis/averages/counter_values.h"
#include "profiler/analysis/averages/key_averages.h"
#include "profiler/base/time.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/records.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

class WindowSums {
 public:
  static constexpr uint32_t kNoPath = ~uint32_t{0};
  static constexpr size_t kMostPaths = 1'000'000;
  static constexpr size_t kMostCounters = 1'000'000;

  // Ranges of one name inside of ranges with the same names; outermost: the
  // process.
  struct Path {
    uint32_t parent = kNoPath;  // an earlier path; kNoPath: this is a process
    model::NameId name = model::kEmptyName;
    DurationNs self_ns = 0;
    int64_t calls = 0;
  };

  struct Counter {
    int64_t pid = 0;
    int64_t id = 0;  // the track's: of a thread, or of a stream
    std::string name;
    CounterValues values;  // without track and name
  };

  explicit WindowSums(size_t most_paths = kMostPaths,
                      size_t most_counters = kMostCounters)
      : most_paths_(most_paths), most_counters_(most_counters) {}

  // Add windows in the order of time. `is_last`: this is the last window, and
  // only its open ranges count as open at the end of the recording.
  void Add(const model::Trace& window, bool is_last);
  // The same for a window whose counters and losses the rest has, too: adds the
  // events.
  void AddEvents(const model::Trace& window);

  // Adds the part of the recording that is not read in windows, such as CPU
  // samples, with what was lost of it. `rest` must outlive the object.
  void SetRest(const model::Trace& rest) {
    rest_ = &rest;
    ledger_.Merge(rest.ledger());
  }
  // The same for a rest that also has the newest ranges of the windows.
  void SetNewest(const model::Trace& rest) {
    SetRest(rest);
    rest_has_windows_ranges_ = true;
  }
  // Null if there is none.
  const model::Trace* rest() const { return rest_; }
  // Whether the ranges of the rest are in the sums already.
  bool rest_has_windows_ranges() const { return rest_has_windows_ranges_; }

  // In the order of the groups' first events.
  std::vector<KeyAverage> Averages() const;
  const std::vector<Path>& paths() const { return paths_; }
  std::string_view PathName(const Path& path) const {
    return names_.Get(path.name);
  }
  uint64_t paths_left_out() const { return paths_left_out_; }
  // Those of the windows and those of the rest, by process and thread, then by
  // name.
  std::vector<Counter> Counters() const;
  // Whether a counter of the rest has earlier values in the windows.
  bool HasEarlierValues(const model::CounterSample& of_rest) const;
  const model::LossLedger& ledger() const { return ledger_; }
  uint64_t event_count() const { return event_count_; }

 private:
  // Name, device, annotation, frame.
  using GroupId = std::tuple<std::string, bool, bool, bool>;
  struct Group {
    KeyAverage sums;
    TimeNs first_start = 0;
    TimeNs first_end = 0;
  };

  // Process, kind of track, device, track, name.
  using CounterId =
      std::tuple<int64_t, model::TrackKind, int32_t, int64_t, std::string>;

  static CounterId IdOf(const model::Trace& trace,
                        const model::CounterSample& sample);
  void AddAverages(const model::Trace& window);
  void AddCounters(const model::Trace& window);
  void AddPaths(const model::Trace& window);
  void AddTrack(const model::Trace& window, model::TrackIndex track,
                uint32_t root);
  void AddLosses(const model::LossLedger& ledger, bool is_last);
  uint32_t RootOf(const model::Trace& window, const model::Track& track);
  uint32_t Find(uint32_t parent, model::NameId name);

  size_t most_paths_;
  size_t most_counters_;
  std::map<GroupId, Group> groups_;
  model::StringTable names_;
  std::vector<model::NameId> name_of_window_;  // by the window's name ids
  absl::flat_hash_map<uint64_t, uint32_t> path_ids_;  // by parent and name
  std::vector<Path> paths_;
  uint64_t paths_left_out_ = 0;
  std::map<CounterId, CounterSum> counters_;
  TimeNs end_ns_ = 0;  // of the last window
  uint64_t event_count_ = 0;
  model::LossLedger ledger_;
  const model::Trace* rest_ = nullptr;
  bool rest_has_windows_ranges_ = false;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_AVERAGES_WINDOW_SUMS_H_
