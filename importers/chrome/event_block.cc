#include "importers/chrome/event_block.h"

#include <sys/mman.h>

#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include "profiler/base/parallel.h"

namespace kymo::chrome_import {
namespace {

using model::Track;
using model::TrackIndex;

constexpr TimeNs kEndOfOpen = std::numeric_limits<TimeNs>::max();
// The parts of the file that are copied in parallel. They need a counter for
// each track, so files of very many tracks have one part.
constexpr size_t kParts = 16;
constexpr size_t kMostTracksOfParts = 4096;

// By start, then the longer first. Sorts are stable, so equal ranges keep the
// order of the file.
bool IsBefore(const Range& a, const Range& b) {
  const auto end = [](const Range& r) {
    return r.is_open ? kEndOfOpen : r.end;
  };
  return a.start != b.start ? a.start < b.start : end(a) > end(b);
}

// Gives the pages back now. malloc would keep them for later, where columns of
// other sizes have no use for them.
void Release(RangeBlock& block) {
  constexpr uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<uintptr_t>(block.data());
  const uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const uintptr_t last =
      (begin + block.capacity() * sizeof(Range)) / kPage * kPage;
  if (first < last) {
    madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
  block = {};
}

class BlockMaker {
 public:
  BlockMaker(std::vector<RangeBlock> ranges,
             const std::vector<TrackIndex>& track_of_row,
             const std::vector<Track>& tracks, DurationNs shift)
      : ranges_(std::move(ranges)),
        track_of_row_(track_of_row),
        tracks_(tracks),
        shift_(shift),
        parts_(tracks.size() > kMostTracksOfParts
                   ? std::min<size_t>(ranges_.size(), 1)
                   : std::min(ranges_.size(), kParts)),
        of_track_(tracks.size()) {}

  model::EventBlock Run() {
    ParallelForEach(parts_.size(), [&](size_t p) { Count(p); });
    JoinCounts();
    FindRows();
    Resize();
    GatherUnsorted();
    ParallelForEach(parts_.size(), [&](size_t p) { CopyPart(p); });
    ParallelForEach(tracks_.size(), [&](size_t t) { CopySorted(t); });
    FindDepths();
    return std::move(block_);
  }

  uint64_t out_of_order() const { return out_of_order_; }

 private:
  // The ranges of one track in one part of the file.
  struct Counted {
    size_t count = 0;
    size_t row = 0;  // of the next one in the block
    uint64_t out_of_order = 0;
    bool is_sorted = true;
    const Range* first = nullptr;
    const Range* last = nullptr;
  };
  struct Part {
    std::vector<Counted> of_track;
    bool has_details = false;
  };
  struct OfTrack {
    size_t begin = 0;  // rows in the block
    size_t end = 0;
    bool is_sorted = true;
    std::vector<Range> unsorted;
  };

  size_t BlocksBegin(size_t part) const {
    return part * ranges_.size() / parts_.size();
  }

  static void Compare(const Range& last, const Range& next, Counted& in) {
    in.out_of_order += next.start < last.start;
    in.is_sorted = in.is_sorted && !IsBefore(next, last);
  }

  void Count(size_t p) {
    Part& part = parts_[p];
    part.of_track.resize(tracks_.size());
    for (size_t b = BlocksBegin(p); b < BlocksBegin(p + 1); ++b) {
      for (const Range& range : ranges_[b]) {
        Counted& of_track = part.of_track[track_of_row_[range.row]];
        if (of_track.count++ == 0) {
          of_track.first = &range;
        } else {
          Compare(*of_track.last, range, of_track);
        }
        of_track.last = &range;
        part.has_details |= range.detail != model::kNoDetail;
      }
    }
  }

  void JoinCounts() {
    for (size_t t = 0; t < tracks_.size(); ++t) {
      Counted all;
      for (const Part& part : parts_) {
        const Counted& of_track = part.of_track[t];
        if (of_track.count == 0) continue;
        if (all.count != 0) Compare(*all.last, *of_track.first, all);
        all.count += of_track.count;
        all.out_of_order += of_track.out_of_order;
        all.is_sorted = all.is_sorted && of_track.is_sorted;
        all.last = of_track.last;
      }
      of_track_[t].end = all.count;
      of_track_[t].is_sorted = all.is_sorted;
      out_of_order_ += all.out_of_order;
    }
  }

  // Lays the tracks out in the order of a trace.
  void FindRows() {
    std::vector<TrackIndex> order(tracks_.size());
    std::iota(order.begin(), order.end(), TrackIndex{0});
    const auto key = [&](TrackIndex t) {
      const Track& track = tracks_[t];
      return std::tie(track.pid, track.kind, track.device_index, track.id);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return key(a) < key(b); });
    size_t rows = 0;
    for (const TrackIndex t : order) {
      OfTrack& track = of_track_[t];
      const size_t count = track.end;
      track.begin = rows;
      for (Part& part : parts_) {
        part.of_track[t].row = rows;
        rows += part.of_track[t].count;
      }
      track.end = rows;
      if (count != 0) block_.parts.push_back({.track = t, .end = rows});
    }
    rows_ = rows;
  }

  void Resize() {
    block_.start_ns.resize(rows_);
    block_.end_ns.resize(rows_);
    block_.name.resize(rows_);
    block_.type.resize(rows_);
    block_.scope.resize(rows_);
    block_.flags.resize(rows_);
    for (const Part& part : parts_) has_details_ |= part.has_details;
    if (has_details_) block_.detail.resize(rows_);
  }

  void GatherUnsorted() {
    const bool are_sorted =
        std::all_of(of_track_.begin(), of_track_.end(),
                    [](const OfTrack& track) { return track.is_sorted; });
    if (are_sorted) return;
    for (OfTrack& track : of_track_) {
      if (!track.is_sorted) track.unsorted.reserve(track.end - track.begin);
    }
    for (const RangeBlock& block : ranges_) {
      for (const Range& range : block) {
        OfTrack& track = of_track_[track_of_row_[range.row]];
        if (!track.is_sorted) track.unsorted.push_back(range);
      }
    }
  }

  void CopyPart(size_t p) {
    std::vector<Counted>& of_track = parts_[p].of_track;
    for (size_t b = BlocksBegin(p); b < BlocksBegin(p + 1); ++b) {
      for (const Range& range : ranges_[b]) {
        const TrackIndex t = track_of_row_[range.row];
        if (of_track_[t].is_sorted) Fill(of_track[t].row++, range);
      }
      Release(ranges_[b]);
    }
  }

  void CopySorted(size_t t) {
    OfTrack& track = of_track_[t];
    if (track.is_sorted) return;
    std::stable_sort(track.unsorted.begin(), track.unsorted.end(), IsBefore);
    size_t row = track.begin;
    for (const Range& range : track.unsorted) Fill(row++, range);
    track.unsorted = {};
  }

  void Fill(size_t row, const Range& range) {
    block_.start_ns[row] = MovedBy(shift_, range.start);
    block_.end_ns[row] = range.is_open ? 0 : MovedBy(shift_, range.end);
    block_.name[row] = range.name;
    block_.type[row] = range.type;
    block_.scope[row] = range.type == model::ActivityType::kUserAnnotation
                            ? model::RecordScope::kUserScope
                            : model::RecordScope::kFunction;
    block_.flags[row] = range.flags;
    if (has_details_) block_.detail[row] = range.detail;
  }

  // All tracks or none: a block has either all depths or none.
  void FindDepths() {
    block_.depth.resize(rows_);
    std::vector<uint8_t> nests(tracks_.size());
    ParallelForEach(tracks_.size(), [&](size_t t) {
      nests[t] = FindDepths(of_track_[t].begin, of_track_[t].end);
    });
    if (std::find(nests.begin(), nests.end(), 0) != nests.end()) {
      block_.depth = {};
    }
  }

  // False where ranges overlap, or where lanes decide what becomes of them
  // (profiler/normalize/lanes.h). A range is over when the next one begins at
  // its end, as there.
  bool FindDepths(size_t begin, size_t end) {
    constexpr uint8_t kTakesLanes = model::kEventAsync | model::kEventOpen;
    std::vector<TimeNs> open;
    for (size_t row = begin; row < end; ++row) {
      const TimeNs start_ns = block_.start_ns[row];
      const TimeNs end_ns = block_.end_ns[row];
      const uint8_t flags = block_.flags[row];
      while (!open.empty() && open.back() <= start_ns) open.pop_back();
      block_.depth[row] = static_cast<uint32_t>(open.size());
      if ((flags & kTakesLanes) != 0) return false;
      if ((flags & model::kEventInstant) != 0) continue;
      const bool fits = open.empty() || end_ns <= open.back();
      if (end_ns < start_ns || !fits) return false;
      open.push_back(end_ns);
    }
    return true;
  }

  std::vector<RangeBlock> ranges_;
  const std::vector<TrackIndex>& track_of_row_;
  const std::vector<Track>& tracks_;
  const DurationNs shift_;
  std::vector<Part> parts_;
  std::vector<OfTrack> of_track_;
  model::EventBlock block_;
  size_t rows_ = 0;
  bool has_details_ = false;
  uint64_t out_of_order_ = 0;
};

}  // namespace

model::EventBlock MakeBlock(std::vector<RangeBlock> ranges,
                            const std::vector<TrackIndex>& track_of_row,
                            const std::vector<Track>& tracks, DurationNs shift,
                            uint64_t& out_of_order) {
  BlockMaker maker(std::move(ranges), track_of_row, tracks, shift);
  model::EventBlock block = maker.Run();
  out_of_order = maker.out_of_order();
  return block;
}

}  // namespace kymo::chrome_import
