#include "profiler/normalize/recorded_nesting.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "profiler/base/column.h"

namespace kymo::normalize {
namespace {

using model::EventIndex;
using model::kNoEvent;

constexpr TimeNs kOpenEnd = std::numeric_limits<TimeNs>::max();
// Ranges with these flags are left to NestTrack, which can place and count
// them.
constexpr uint8_t kTakesLanes = model::kEventAsync | model::kEventOpen;
constexpr TimeNs kNever = std::numeric_limits<TimeNs>::min();

template <typename T>
void CopyRows(std::span<const T> from, Column<T>& to, size_t first,
              size_t begin, size_t end) {
  T* const rows = to.data() + first;
  if (from.data() == rows) return;  // already in place
  std::memcpy(rows + begin, from.data() + begin, (end - begin) * sizeof(T));
}

}  // namespace

// Nests the rows of one segment.
class RecordedNesting::Scanner {
 public:
  Scanner(const RecordedNesting& nesting, Segment& segment)
      : start_(nesting.source_.start_ns.data()),
        end_(nesting.source_.end_ns.data()),
        depth_(nesting.source_.depth.data()),
        flags_(nesting.source_.flags.data()),
        first_(nesting.rows_.first),
        parent_(nesting.rows_.data->parent.data() + first_),
        window_(nesting.window_),
        segment_(segment),
        levels_(64) {}

  // Returns false where times and depths contradict each other.
  bool Scan(size_t begin, size_t end) {
    previous_ = begin == 0 ? window_.start_ns : start_[begin - 1];
    bool is_wrong = start_[end - 1] > window_.end_ns;
    OpenGroup(begin);
    for (size_t row = begin; row < end && !is_wrong; ++row) {
      const uint32_t depth = depth_[row];
      if (depth > may_be_) {
        EndRun();
        OpenGroup(row);
      } else if (depth < base_) {
        is_wrong = !BeginGroup(row);
      }
      const size_t level = depth - base_;
      if (level > deepest_) [[unlikely]]
        Deepen(level);
      if (level == 0 && depth != 0) [[unlikely]] {
        segment_.orphans.push_back(static_cast<uint32_t>(row));
      }
      is_wrong |= !Place(row, level);
    }
    EndRun();
    return !is_wrong;
  }

 private:
  bool Place(size_t row, size_t level) {
    const Level parent = levels_[level];
    Level& sibling = levels_[level + 1];
    const TimeNs start = start_[row];
    TimeNs end = end_[row];
    // Ranges that are over were inside of the sibling, which has to be over
    // too.
    bool is_right = start >= previous_ && sibling.end <= start;
    previous_ = start;
    parent_[row] = parent.event;
    may_be_ = base_ + static_cast<uint32_t>(level);
    if ((flags_[row] & model::kEventInstant) != 0) {
      return is_right && end == start && end <= parent.end;
    }
    if (end == 0 || end > window_.end_ns) [[unlikely]] {
      end = parent.end;
      segment_.open.push_back({row, end});
    }
    is_right = is_right && end >= start && end <= parent.end &&
               (flags_[row] & kTakesLanes) == 0;
    sibling.end = end;
    sibling.event = static_cast<EventIndex>(first_ + row);
    ++may_be_;
    return is_right;
  }

  // Opens a level for the group's first event on it.
  void Deepen(size_t level) {
    if (level + 2 > levels_.size()) levels_.resize(2 * (level + 2));
    deepest_ = level;
    levels_[level + 1].end = kNever;
  }

  // Begins a group at a row that is less deep than every earlier row of the
  // run.
  bool BeginGroup(size_t row) {
    const bool is_right = levels_[1].end <= start_[row];
    CloseGroup();
    OpenGroup(row);
    return is_right;
  }

  void OpenGroup(size_t row) {
    base_ = depth_[row];
    may_be_ = base_;
    segment_.groups.push_back({.first_orphan = segment_.orphans.size(),
                               .depth = base_,
                               .first_start = start_[row]});
    levels_[0] = {.end = kOpenEnd, .event = kNoEvent};
    Deepen(0);
  }

  void CloseGroup() {
    // Siblings follow one another: the last one's end is the latest.
    segment_.groups.back().last_end = std::max(levels_[1].end, previous_);
  }

  void EndRun() {
    CloseGroup();
    for (uint32_t depth = base_; depth < may_be_; ++depth) {
      segment_.levels.push_back(levels_[depth - base_ + 1]);
      segment_.levels.back().depth = depth;
    }
    segment_.runs.push_back({segment_.groups.size(), segment_.levels.size()});
  }

  const TimeNs* const start_;
  const TimeNs* const end_;
  const uint32_t* const depth_;
  const uint8_t* const flags_;
  const size_t first_;
  EventIndex* const parent_;
  const Window window_;
  Segment& segment_;

  // levels_[n + 1] is the latest event n levels below the group's depth, so
  // levels_[n] is the parent of level n. levels_[0] stands for the group's
  // parent.
  std::vector<Level> levels_;
  size_t deepest_ = 0;   // entries behind it are an earlier group's
  uint32_t base_ = 0;    // depth of the group
  uint32_t may_be_ = 0;  // largest depth that the next event can have
  TimeNs previous_ = 0;  // start of the row before
};

RecordedNesting::RecordedNesting(const TrackSource& source,
                                 const Window& window, const TrackRows& rows,
                                 size_t segment_rows)
    : source_(source),
      window_(window),
      rows_(rows),
      row_count_(source.size()),
      segment_rows_(segment_rows),
      close_ns_(window.end_ns),
      segments_((row_count_ + segment_rows - 1) / segment_rows) {}

size_t RecordedNesting::RowsEnd(size_t segment) const {
  return std::min(row_count_, RowsBegin(segment) + segment_rows_);
}

void RecordedNesting::Copy(size_t segment) {
  const size_t begin = RowsBegin(segment);
  const size_t end = RowsEnd(segment);
  if (!Scanner(*this, segments_[segment]).Scan(begin, end)) {
    segments_[segment].failed = true;
    return;
  }
  CopyColumns(begin, end);
}

void RecordedNesting::CopyColumns(size_t begin, size_t end) {
  const TrackSource& from = source_;
  model::TraceData& to = *rows_.data;
  const size_t first = rows_.first;
  CopyRows(from.start_ns, to.start, first, begin, end);
  CopyRows(from.end_ns, to.end, first, begin, end);
  CopyRows(from.type, to.type, first, begin, end);
  CopyRows(from.scope, to.scope, first, begin, end);
  CopyRows(from.flags, to.flags, first, begin, end);
  if (from.name.data() != to.name.data() + first) {
    for (size_t row = begin; row < end; ++row) {
      to.name[first + row] = (*from.names)[Index(from.name[row])];
    }
  }
  std::fill(to.track.begin() + first + begin, to.track.begin() + first + end,
            rows_.track);
  if (from.detail.empty()) {
    std::fill(to.detail.begin() + first + begin,
              to.detail.begin() + first + end, model::kNoDetail);
    return;
  }
  for (size_t row = begin; row < end; ++row) {
    const model::DetailIndex detail = from.detail[row];
    to.detail[first + row] =
        detail == model::kNoDetail ? detail : detail + source_.first_detail;
  }
}

bool RecordedNesting::Join() {
  std::vector<Level> stack;
  bool has_open = false;
  for (Segment& segment : segments_) {
    if (segment.failed) return false;
    has_open = has_open || !segment.open.empty();
    for (size_t run = 0; run < segment.runs.size(); ++run) {
      if (!JoinRun(segment, run, stack)) return false;
    }
  }
  if (has_open) FindCloseTime();
  return true;
}

bool RecordedNesting::JoinRun(Segment& segment, size_t run,
                              std::vector<Level>& stack) {
  const Run begins = run == 0 ? Run() : segment.runs[run - 1];
  const Run& ends = segment.runs[run];
  for (size_t g = begins.groups_end; g < ends.groups_end; ++g) {
    Group& group = segment.groups[g];
    while (!stack.empty() && stack.back().depth >= group.depth) {
      if (stack.back().end > group.first_start) return false;
      stack.pop_back();
    }
    if (stack.empty()) continue;
    if (group.last_end > stack.back().end) return false;
    group.parent = stack.back().event;
  }
  stack.insert(stack.end(), segment.levels.begin() + begins.levels_end,
               segment.levels.begin() + ends.levels_end);
  return true;
}

// Open ranges end with the thread, but not before anything that happened
// inside them.
void RecordedNesting::FindCloseTime() {
  const TimeNs thread_end_ns = window_.thread_end_ns;
  if (thread_end_ns == 0 || thread_end_ns >= window_.end_ns) return;
  close_ns_ = thread_end_ns;
  const TrackSource& events = source_;
  for (size_t row = 0; row < row_count_; ++row) {
    const TimeNs end = events.end_ns[row];
    const bool is_open = end == 0 || end > window_.end_ns;
    close_ns_ = std::max(close_ns_, is_open ? events.start_ns[row] : end);
  }
}

void RecordedNesting::Finish(size_t index) {
  const Segment& segment = segments_[index];
  model::TraceData& to = *rows_.data;
  EventIndex* const parent = to.parent.data() + rows_.first;
  for (size_t g = 0; g < segment.groups.size(); ++g) {
    const size_t end = g + 1 < segment.groups.size()
                           ? segment.groups[g + 1].first_orphan
                           : segment.orphans.size();
    for (size_t i = segment.groups[g].first_orphan; i < end; ++i) {
      parent[segment.orphans[i]] = segment.groups[g].parent;
    }
  }
  for (const OpenRow& open : segment.open) {
    to.end[rows_.first + open.row] =
        open.end == kOpenEnd ? close_ns_ : open.end;
    to.flags[rows_.first + open.row] |= model::kEventOpen;
  }
}

void RecordedNesting::AddLosses(model::LossLedger& ledger) const {
  for (const Segment& segment : segments_) {
    ledger.Add(model::Loss::kRangesOpenAtEnd, segment.open.size());
  }
}

}  // namespace kymo::normalize
