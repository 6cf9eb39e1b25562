#include "profiler/analysis/memory/timeline/memory_timeline.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/analysis/memory/memory_usage.h"
#include "profiler/analysis/memory/timeline/block_categories.h"
#include "profiler/analysis/open_events.h"
#include "profiler/base/parallel.h"
#include "profiler/base/parallel_sort.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::kNoEvent;
using model::kNoMemory;
using model::MemoryIndex;
using model::MemoryRecord;
using model::Trace;
using model::TrackIndex;

bool IsOperation(const Trace& trace, EventIndex event) {
  return trace.type()[event] == model::ActivityType::kCpuOp &&
         trace.scope()[event] != model::RecordScope::kUserScope &&
         (trace.flags()[event] & model::kEventModule) == 0;
}

// Finds allocations that were freed inside of the leaf operation that made
// them.
class TemporaryBlocks {
 public:
  explicit TemporaryBlocks(const Trace& trace)
      : trace_(trace),
        blocks_(trace),
        has_ranges_(trace.event_count()),
        is_temporary_(trace.memory().size()) {
    ParallelForEach(trace.tracks().size(),
                    [&](size_t t) { MarkTrack(static_cast<TrackIndex>(t)); });
  }

  bool Contain(MemoryIndex allocation) const {
    return is_temporary_[allocation] != 0;
  }

 private:
  void MarkTrack(TrackIndex track) {
    const auto [first, last] = std::equal_range(
        trace_.memory().begin(), trace_.memory().end(),
        MemoryRecord{.track = track},
        [](const auto& a, const auto& b) { return a.track < b.track; });
    if (first == last) return;
    for (EventIndex i = trace_.track_begin(track); i < trace_.track_end(track);
         ++i) {
      const EventIndex parent = trace_.parent()[i];
      if (parent != kNoEvent && model::IsRange(trace_.flags()[i]))
        has_ranges_[parent] = 1;
    }
    OpenEvents open(trace_, track, first->time_ns);
    for (auto record = first; record != last; ++record) {
      const auto i = static_cast<MemoryIndex>(record - trace_.memory().begin());
      is_temporary_[i] = EndsInside(i, open.InnermostAt(record->time_ns));
    }
  }

  bool EndsInside(MemoryIndex i, EventIndex event) const {
    if (event == kNoEvent || has_ranges_[event] ||
        !IsOperation(trace_, event) || !blocks_.IsAllocation(i) ||
        blocks_.EndOf(i) != BlockEnd::kFreed) {
      return false;
    }
    const MemoryRecord& record = trace_.memory()[i];
    const MemoryRecord& end = trace_.memory()[record.partner];
    return end.track == record.track && end.time_ns <= trace_.end()[event];
  }

  const Trace& trace_;
  const MemoryBlocks blocks_;
  // By event, and by record. Bytes and not bits, because threads write
  // neighbours.
  std::vector<uint8_t> has_ranges_;
  std::vector<uint8_t> is_temporary_;
};

// Adds the events of one block.
class BlockEvents {
 public:
  explicit BlockEvents(Column<MemoryTimelineEvent>& events) : events_(events) {}

  // `category` has the category of each version.
  template <typename Category>
  void Add(MemoryTimelineEvent first, std::span<const TimeNs> changes,
           std::optional<TimeNs> end_ns, const Category& category) {
    first.category = category(0);
    events_.push_back(first);
    MemoryTimelineEvent event = first;
    for (const TimeNs time_ns : changes) {
      event.time_ns = time_ns;
      event.action = MemoryAction::kIncrementVersion;
      event.bytes = -first.bytes;
      event.category = category(event.version);
      events_.push_back(event);
      event.bytes = first.bytes;
      event.category = category(event.version + 1);
      events_.push_back(event);
      ++event.version;
    }
    if (!end_ns) return;
    event.time_ns = *end_ns;
    event.action = MemoryAction::kDestroy;
    event.bytes = -first.bytes;
    event.category = category(event.version);
    events_.push_back(event);
  }

 private:
  Column<MemoryTimelineEvent>& events_;
};

}  // namespace

Column<MemoryTimelineEvent> MemoryTimeline(const Trace& trace,
                                           MemoryDeviceId device) {
  const model::MemorySource host_source = HostSource(trace);
  const TemporaryBlocks temporary(trace);
  const BlockCategories said(trace, device, host_source);
  const MemoryBlocks blocks(trace);
  Column<MemoryTimelineEvent> events;
  BlockEvents adder(events);
  for (MemoryIndex i = 0; i < trace.memory().size(); ++i) {
    const MemoryRecord& record = trace.memory()[i];
    if (!IsOfDevice(record, device, host_source)) continue;
    const int64_t bytes = blocks.AmountOf(i).bytes;
    if (blocks.IsAllocation(i)) {
      std::optional<TimeNs> end_ns;
      if (record.partner != kNoMemory) {
        end_ns = trace.memory()[record.partner].time_ns;
      }
      adder.Add({.time_ns = record.time_ns, .bytes = bytes, .block = i},
                said.ChangesOf(i), end_ns, [&](uint32_t version) {
                  const MemoryCategory category = said.At(i, version);
                  return temporary.Contain(i)
                             ? Stronger(category, MemoryCategory::kTemporary)
                             : category;
                });
    } else if (record.address == 0 && record.partner == kNoMemory &&
               blocks.IsFree(i)) {
      events.push_back({record.time_ns, -bytes, i, MemoryAction::kDestroy});
    }
  }
  auto number = static_cast<MemoryIndex>(trace.memory().size());
  for (const PreexistingBlock& block : said.preexisting()) {
    adder.Add({.time_ns = kBeforeRecording,
               .bytes = block.bytes,
               .block = number++,
               .action = MemoryAction::kPreexisting},
              block.life.changed_ns, block.end_ns,
              [&](uint32_t version) { return block.life.At(version); });
  }
  const auto order = [](const MemoryTimelineEvent& e) {
    return std::tie(e.time_ns, e.action, e.block, e.version, e.bytes,
                    e.category);
  };
  ParallelSort(
      events.begin(), events.end(),
      [&order](const MemoryTimelineEvent& a, const MemoryTimelineEvent& b) {
        return order(a) < order(b);
      });
  return events;
}

bool HasOperations(const Trace& trace) {
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    if (IsOperation(trace, i) && model::IsRange(trace.flags()[i])) return true;
  }
  return false;
}

int64_t MemoryTimelineMicroseconds(TimeNs time_ns) {
  // A double holds whole microseconds exactly, so only the sum is rounded.
  return static_cast<int64_t>(static_cast<double>(time_ns / kNsPerUs) +
                              static_cast<double>(time_ns % kNsPerUs) /
                                  static_cast<double>(kNsPerUs));
}

void ForEachMemoryTimelineRow(
    std::span<const MemoryTimelineEvent> events,
    const std::function<void(const MemoryTimelineRow&)>& visit) {
  const auto recorded = std::find_if(events.begin(), events.end(),
                                     [](const MemoryTimelineEvent& event) {
                                       return event.time_ns != kBeforeRecording;
                                     });
  const auto time_of = [](const MemoryTimelineEvent& event) {
    return MemoryTimelineMicroseconds(event.time_ns);
  };
  MemoryTimelineRow row;
  for (auto event = events.begin(); event != events.end();) {
    auto next = event;
    if (event < recorded) {
      next = recorded;
      row.time_us = recorded == events.end() ? 0 : time_of(*recorded);
    } else {
      row.time_us = time_of(*event);
      while (next != events.end() && time_of(*next) == row.time_us) ++next;
    }
    for (; event != next; ++event) {
      row.bytes[Index(event->category)] += event->bytes;
    }
    visit(row);
  }
}

}  // namespace kymo::analysis
