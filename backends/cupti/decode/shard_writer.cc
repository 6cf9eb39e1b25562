#include "backends/cupti/decode/shard_writer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

namespace kymo::cupti {
namespace {

using model::kSyncRows;

// Makes room in `rows` for so many more. Asks for huge pages, whose first touch
// is several times cheaper (profiler/base/column.h); the kernel may refuse.
template <typename T>
void ReserveMore(std::vector<T>& rows, size_t more) {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  rows.reserve(rows.size() + more);
  const auto data = reinterpret_cast<uintptr_t>(rows.data());
  const uintptr_t begin =
      (data + rows.size() * sizeof(T) + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end =
      (data + rows.capacity() * sizeof(T)) / kHugePage * kHugePage;
  if (begin < end) {
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }
}

template <typename T>
void Permute(Column<T>& column, const std::vector<uint32_t>& order) {
  Column<T> sorted(order.size());
  for (size_t i = 0; i < order.size(); ++i) sorted[i] = column[order[i]];
  column = std::move(sorted);
}

}  // namespace

model::TrackEvents TrackRows::Take() {
  const size_t n = events_.size();
  if (!is_sorted_) {
    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return events_.start_ns[a] != events_.start_ns[b]
                 ? events_.start_ns[a] < events_.start_ns[b]
                 : events_.end_ns[a] > events_.end_ns[b];
    });
    Permute(events_.start_ns, order);
    Permute(events_.end_ns, order);
    Permute(events_.name, order);
    Permute(events_.type, order);
    Permute(events_.detail, order);
    Permute(events_.flags, order);
  }
  events_.scope.assign(n, model::RecordScope::kFunction);
  return std::move(events_);
}

void ShardWriter::Reserve(size_t details, size_t args) {
  ReserveMore(shard_.details, details);
  ReserveMore(shard_.args, args);
}

TrackRows& ShardWriter::Rows(const Key& key, const char* name_suffix) {
  const uint64_t hash =
      (static_cast<uint64_t>(key.id) * 31 + static_cast<uint32_t>(key.device)) *
          31 +
      static_cast<uint64_t>(key.kind);
  Recent& recent = recent_[hash % recent_.size()];
  if (recent.rows != nullptr && recent.key == key) [[likely]] {
    return *recent.rows;
  }
  TrackRows*& rows = by_key_[key];
  if (rows == nullptr) {
    model::Track track;
    track.kind = key.kind;
    track.pid = key.pid;
    track.id = key.id;
    track.device_index = key.device;
    if (name_suffix != nullptr) {
      track.name = shard_.strings.Intern(
          "stream " + std::to_string(key.id - kSyncRows) + name_suffix);
    }
    shard_.tracks.push_back(track);
    rows = &rows_.emplace_back(
        static_cast<model::TrackIndex>(shard_.tracks.size() - 1));
  }
  recent = {key, rows};
  return *rows;
}

TrackRows& ShardWriter::Thread(int64_t pid, int64_t tid) {
  return Rows({model::TrackKind::kThread, -1, pid, tid}, nullptr);
}

TrackRows& ShardWriter::Stream(int64_t pid, int32_t device, int64_t stream) {
  return Rows({model::TrackKind::kStream, device, pid, stream}, nullptr);
}

TrackRows& ShardWriter::SyncStream(int64_t pid, int32_t device,
                                   int64_t stream) {
  if (stream < 0) return Stream(pid, device, -1);
  return Rows({model::TrackKind::kStream, device, pid, stream + kSyncRows},
              " (sync)");
}

void ShardWriter::Finish() {
  for (TrackRows& rows : rows_) shard_.events.push_back(rows.Take());
  rows_.clear();
  by_key_.clear();
  recent_ = {};
}

}  // namespace kymo::cupti
