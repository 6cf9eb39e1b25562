// recorded_nesting.h - the events of one track whose recorder counted depth.
//
// The usual case, at the speed of memory: the events of one source go to their
// final rows as they are, and a parent is the latest event that is one less
// deep. Times only confirm it. Rows are split into segments that are worked on
// in parallel, also when all of them are one thread's:
//
//   RecordedNesting nesting(source, window, {&data, track, first_row});
//   ParallelForEach(nesting.segment_count(), nesting.Copy);
//   if (nesting.Join()) {
//     ParallelForEach(nesting.segment_count(), nesting.Finish);
//   }
//
// Copy nests each segment by itself. What a segment's first events are inside
// of is not known there: these orphans form groups of equal depth, few however
// many events they are, and Join, which goes over groups and not over events,
// finds the parent of each. Finish writes it down.
//
// Join says no where the result would not be what NestTrack (lanes.h) makes:
// asynchronous ranges, ranges whose end was lost, that their source has ended
// or that overlap, events out of order or of the window. The source is
// unchanged then.
//
// Threads: Copy and Finish may run at once for different segments.
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

// Where a track's events stand in the trace; the rows exist.
struct TrackRows {
  model::TraceData* data = nullptr;
  model::TrackIndex track = 0;
  model::EventIndex first = 0;
};

class RecordedNesting {
 public:
  // 27 bytes a row: with what is written, a segment stays in the L2 cache.
  static constexpr size_t kSegmentRows = size_t{8} << 10;

  // Columns of the source may be those of `rows` already, with the trace's ids;
  // they are not copied then.
  RecordedNesting(const TrackSource& source, const Window& window,
                  const TrackRows& rows, size_t segment_rows = kSegmentRows);

  size_t segment_count() const noexcept { return segments_.size(); }
  void Copy(size_t segment);
  [[nodiscard]] bool Join();
  // REQUIRES: Join said yes.
  void Finish(size_t segment);
  void AddLosses(model::LossLedger& ledger) const;

 private:
  // Orphans of one segment that have one parent, and what is below them.
  struct Group {
    size_t first_orphan = 0;  // in Segment::orphans
    uint32_t depth = 0;
    TimeNs first_start = 0;
    TimeNs last_end = 0;
    model::EventIndex parent = model::kNoEvent;
  };
  // A range that is open for what comes next.
  struct Level {
    TimeNs end = 0;  // kOpenEnd while it is open at the end of the recording
    model::EventIndex event = model::kNoEvent;
    uint32_t depth = 0;
  };
  // A stretch of rows whose depth never rises by more than one: ends of lists.
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
    // Rows without a parent in the segment, ascending. None of depth 0, which
    // need none.
    std::vector<uint32_t> orphans;
    std::vector<Run> runs;
    std::vector<Level> levels;  // open at the end of each run, outermost first
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
