// recorded_nesting.h - the events of one track whose recorder counted depth.
//
// This is the usual case, at the speed of memory. The events of one source go
// to their final rows unchanged. The parent of an event is the latest event
// that is one less deep; the times only confirm it. Rows are split into
// segments, which are worked on in parallel, even if all of them belong to one
// thread:
//
//   RecordedNesting nesting(source, window, {&data, track, first_row});
//   ParallelForEach(nesting.segment_count(), nesting.Copy);
//   if (nesting.Join()) {
//     ParallelForEach(nesting.segment_count(), nesting.Finish);
//   }
//
// Copy nests each segment by itself. A segment does not know which ranges
// enclose its first events. These orphans form groups of equal depth: few
// groups, however many events there are. Join finds the parent of each group;
// it goes over groups, not over events. Finish writes the parents down.
//
// Join returns false where the result would differ from that of NestTrack
// (lanes.h), and then leaves the source unchanged. That is so for ranges that
// are asynchronous, that overlap, that their source has ended, or whose end was
// lost. It is also so for events out of order or outside of the window.
//
// Threads: Copy and Finish may run at the same time for different segments.
#ifndef KYMO_PROFILER_NORMALIZE_RECORDED_NESTING_H_
#define KYMO_PROFILER_NORMALIZE_RECORDED_NESTING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"
#include "profiler/normalize/lanes.h"

namespace kymo::normalize {

// Where a track's events stand in the trace. The rows must exist.
struct TrackRows {
  model::TraceData* data = nullptr;
  model::TrackIndex track = 0;
  model::EventIndex first = 0;
};

class RecordedNesting {
 public:
  // A row takes 27 bytes: a segment and what it writes stay in the L2 cache.
  static constexpr size_t kSegmentRows = size_t{8} << 10;

  // The source's columns may be those of `rows` already, with the trace's ids;
  // then they are not copied.
  RecordedNesting(const TrackSource& source, const Window& window,
                  const TrackRows& rows, size_t segment_rows = kSegmentRows);

  size_t segment_count() const noexcept { return segments_.size(); }
  void Copy(size_t segment);
  [[nodiscard]] bool Join();
  // REQUIRES: Join returned true.
  void Finish(size_t segment);
  void AddLosses(model::LossLedger& ledger) const;

 private:
  // Orphans of one segment that share a parent, and the events inside them.
  struct Group {
    size_t first_orphan = 0;  // in Segment::orphans
    uint32_t depth = 0;
    TimeNs first_start = 0;
    TimeNs last_end = 0;
    model::EventIndex parent = model::kNoEvent;
  };
  // A range that may enclose the next events.
  struct Level {
    TimeNs end = 0;  // kOpenEnd while it is open at the end of the recording
    model::EventIndex event = model::kNoEvent;
    uint32_t depth = 0;
  };
  // A run is a stretch of rows whose depth never rises by more than one. These
  // are the ends of its parts of Segment::groups and Segment::levels.
  struct Run {
    size_t groups_end = 0;
    size_t levels_end = 0;
  };
  struct OpenRow {
    size_t row = 0;
    TimeNs end = 0;
  };
  struct Segment {
    bool failed = false;
    std::vector<Group> groups;
    // Rows without a parent in the segment, ascending. Rows of depth 0 are not
    // among them: they need no parent.
    std::vector<uint32_t> orphans;
    std::vector<Run> runs;
    std::vector<Level> levels;  // open at each run's end, outermost first
    std::vector<OpenRow> open;
  };
  class Scanner;

  size_t RowsBegin(size_t segment) const { return segment * segment_rows_; }
  size_t RowsEnd(size_t segment) const;
  void CopyColumns(size_t begin, size_t end);
  bool JoinRun(Segment& segment, size_t run, std::vector<Level>& stack);
  void FindCloseTime();

  const TrackSource source_;
  const Window window_;
  const TrackRows rows_;
  const size_t row_count_;
  const size_t segment_rows_;
  TimeNs close_ns_ = 0;  // where ranges end that nothing else ends
  std::vector<Segment> segments_;
};

}  // namespace kymo::normalize

#endif  // KYMO_PROFILER_NORMALIZE_RECORDED_NESTING_H_
