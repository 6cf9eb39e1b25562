#include "importers/chrome/row_tracks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "importers/chrome/events/event_args.h"
#include "importers/chrome/json/decimal.h"
#include "importers/chrome/row_names.h"

namespace kymo::chrome_import {
namespace {

using model::kNoTrack;
using model::NameId;
using model::Track;
using model::TrackIndex;
using model::TrackKind;

// An id that more processes share tells nothing of a stream's process.
constexpr size_t kMostCallers = 1024;

class TrackFinder {
 public:
  explicit TrackFinder(EventStore& store) : store_(store) {
    for (const FileRow& row : store.rows) {
      for (const std::string* text : {&row.key.pid, &row.key.tid}) {
        if (const auto number = ParseInt(*text)) taken_.insert(*number);
      }
    }
    names_.resize(store.rows.size(), model::kEmptyName);
    std::map<std::pair<std::string_view, std::string_view>, NameId> names;
    for (const FileRow& row : store.rows) {
      if (row.thread_name != model::kEmptyName) {
        names[{row.key.pid, row.key.tid}] = row.thread_name;
      }
    }
    for (size_t r = 0; r < store.rows.size(); ++r) {
      const auto it =
          names.find({store.rows[r].key.pid, store.rows[r].key.tid});
      if (it != names.end()) names_[r] = it->second;
    }
  }

  RowTracks Run() {
    found_.of_row.assign(store_.rows.size(), kNoTrack);
    found_.is_samples.assign(store_.rows.size(), 0);
    found_.is_waits.assign(store_.rows.size(), 0);
    for (RowIndex r = 0; r < store_.rows.size(); ++r) {
      if (!IsStream(r) && IsWanted(r)) AddThread(r);
    }
    FindOnlyProcess();
    for (RowIndex r = 0; r < store_.rows.size(); ++r) {
      if (IsStream(r) && store_.rows[r].has_events) AddStream(r);
    }
    AddProcesses();
    return std::move(found_);
  }

 private:
  std::string_view NameOf(RowIndex r) const {
    return store_.shard.strings.Get(names_[r]);
  }

  bool HasDeviceLabel(RowIndex r) const {
    const NameId labels = store_.processes[store_.rows[r].pid].labels;
    return store_.shard.strings.Get(labels).starts_with("GPU");
  }

  bool IsStream(RowIndex r) const {
    const FileRow& row = store_.rows[r];
    return row.key.has_stream || row.has_device_work ||
           ParseStreamName(NameOf(r)) || HasDeviceLabel(r);
  }

  // Rows with events, and named threads, which a recording has, too.
  bool IsWanted(RowIndex r) const {
    const FileRow& row = store_.rows[r];
    return row.has_events || (row.thread_name != model::kEmptyName &&
                              ParseInt(row.key.pid) && ParseInt(row.key.tid));
  }

  // The number that `text` says; a new number if it says none.
  int64_t NumberOf(const std::string& text) {
    if (const auto number = ParseInt(text)) return *number;
    const auto [it, is_new] = numbers_.try_emplace(text, 0);
    if (is_new) {
      while (!taken_.insert(next_number_).second) ++next_number_;
      it->second = next_number_;
    }
    return it->second;
  }

  void AddThread(RowIndex r) {
    const FileRow& row = store_.rows[r];
    Track track;
    track.pid = NumberOf(row.key.pid);
    // Events of a process as a whole go to its main thread.
    track.id = NumberOf(row.key.tid.empty() ? row.key.pid : row.key.tid);
    track.name = names_[r];
    const auto name = ParseThreadName(NameOf(r));
    if (name && (name->is_lane || name->is_samples || name->id == track.id ||
                 IsOwnId(track.id))) {
      found_.is_samples[r] = name->is_samples;
      found_.is_waits[r] = name->is_waits && IsOwnId(track.id);
      track.id = name->id;
      track.name = store_.shard.strings.Intern(name->name);
    }
    Add(r, track);
  }

  // From this number on, Kymo numbers rows that have no number of their own.
  static bool IsOwnId(int64_t id) { return id >= 1'000'000'000; }

  void AddStream(RowIndex r) {
    const FileRow& row = store_.rows[r];
    const auto name = ParseStreamName(NameOf(r));
    Track track;
    track.kind = TrackKind::kStream;
    track.device_index = row.key.has_stream
                             ? row.key.device
                             : AsDevice(NumberOf(row.key.pid)).value_or(-1);
    track.id = row.key.has_stream ? row.key.stream
               : name             ? name->id
                                  : NumberOf(row.key.tid);
    if (!name) track.name = names_[r];
    track.pid = name && name->pid ? *name->pid : ProcessOf(r);
    Add(r, track);
  }

  void Add(RowIndex r, const Track& track) {
    const auto [it, is_new] = tracks_.try_emplace(
        std::tuple(track.pid, track.kind, track.device_index, track.id),
        static_cast<TrackIndex>(found_.tracks.size()));
    if (is_new) found_.tracks.push_back(track);
    found_.of_row[r] = it->second;
  }

  void FindOnlyProcess() {
    std::set<int64_t> pids;
    for (const Track& track : found_.tracks) pids.insert(track.pid);
    if (pids.size() == 1) only_process_ = *pids.begin();
    if (pids.size() < 2) return;
    // For each correlation id, the processes that have a call with it.
    ForEachCorrelated([&](const Range& range, uint64_t id) {
      const TrackIndex track = found_.of_row[range.row];
      if (track != kNoTrack) callers_[id].insert(found_.tracks[track].pid);
    });
    ForEachCorrelated([&](const Range& range, uint64_t id) {
      if (found_.of_row[range.row] != kNoTrack) return;
      const auto it = callers_.find(id);
      if (it == callers_.end() || it->second.size() > kMostCallers) return;
      for (const int64_t pid : it->second) ++votes_[range.row][pid];
    });
  }

  template <typename F>
  void ForEachCorrelated(const F& f) const {
    for (const RangeBlock& block : store_.ranges) {
      for (const Range& range : block) {
        if (range.detail == model::kNoDetail ||
            !HasDriverCorrelation(range.type)) {
          continue;
        }
        const uint64_t id = store_.shard.details[range.detail].correlation_id;
        if (id != 0) f(range, id);
      }
    }
  }

  int64_t ProcessOf(RowIndex r) {
    if (only_process_) return *only_process_;
    const auto it = votes_.find(r);
    if (it == votes_.end()) return NumberOf(store_.rows[r].key.pid);
    return std::max_element(
               it->second.begin(), it->second.end(),
               [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  // Adds the processes of threads, and those that have a name and are no
  // device.
  void AddProcesses() {
    std::set<uint32_t> wanted;
    std::set<uint32_t> devices;
    for (RowIndex r = 0; r < store_.rows.size(); ++r) {
      const FileRow& row = store_.rows[r];
      if (IsStream(r)) {
        devices.insert(row.pid);
      } else if (found_.of_row[r] != kNoTrack) {
        wanted.insert(row.pid);
      }
    }
    for (uint32_t p = 0; p < store_.processes.size(); ++p) {
      const FileProcess& process = store_.processes[p];
      const bool is_named =
          process.name != model::kEmptyName && ParseInt(process.pid);
      if (!wanted.contains(p) && (!is_named || devices.contains(p))) continue;
      found_.processes.push_back(
          {.pid = NumberOf(process.pid), .name = process.name});
    }
  }

  EventStore& store_;
  RowTracks found_;
  std::vector<NameId> names_;  // by row
  std::set<int64_t> taken_;
  std::map<std::string, int64_t> numbers_;
  int64_t next_number_ = 1'000'000'000;
  std::map<std::tuple<int64_t, TrackKind, int32_t, int64_t>, TrackIndex>
      tracks_;
  std::optional<int64_t> only_process_;
  std::map<uint64_t, std::set<int64_t>> callers_;
  std::map<RowIndex, std::map<int64_t, uint64_t>> votes_;
};

}  // namespace

RowTracks FindTracks(EventStore& store) { return TrackFinder(store).Run(); }

}  // namespace kymo::chrome_import
