#include "exporters/chrome/memory_events.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/model/folded_memory.h"
#include "profiler/text/json_text.h"

namespace kymo::chrome {
namespace {

using model::MemoryEvent;
using model::MemoryRecord;
using model::MemorySource;

// The text of one element after its head. Its greatest length is known, so the
// string grows once.
class Text {
 public:
  Text& operator<<(std::string_view literal) {
    end_ += literal.copy(end_, literal.size());
    return *this;
  }
  Text& operator<<(std::integral auto number) {
    end_ = std::to_chars(end_, buffer_ + sizeof(buffer_), number).ptr;
    return *this;
  }
  void AppendTime(DurationNs ns) { end_ = json::WriteMicroseconds(end_, ns); }
  std::string_view view() const {
    return {buffer_, static_cast<size_t>(end_ - buffer_)};
  }

 private:
  // The literals of a record make less than 200 bytes, and 9 numbers follow.
  char buffer_[200 + 9 * json::kMaxNumberLength];
  char* end_ = buffer_;
};

std::string Head(std::string_view name, const Row& row) {
  return absl::StrCat(
      "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"",
      ToAbsl(name), "\"", row.ids);
}

// Whether the record is one of those that may be too many. Allocations that
// failed are few.
bool IsHeap(const MemoryRecord& record) {
  return record.source == MemorySource::kHeap &&
         record.event == MemoryEvent::kAllocation;
}

std::string_view SourceMember(MemorySource source) {
  switch (source) {
    case MemorySource::kReported:
      return "";
    case MemorySource::kHeap:
      return ",\"Source\":\"heap\"";
    case MemorySource::kMapped:
      return ",\"Source\":\"mapped\"";
  }
  return "";
}

}  // namespace

bool HeapFits(const model::Trace& trace, int64_t max_heap_records) {
  return max_heap_records < 0 ||
         trace.memory().size() <= static_cast<size_t>(max_heap_records) ||
         std::count_if(trace.memory().begin(), trace.memory().end(), IsHeap) <=
             max_heap_records;
}

MemoryEvents::MemoryEvents(const model::Trace& trace, const Rows& rows,
                           const ExactRecords& exact, TimeNs base_ns,
                           bool with_heap)
    : trace_(trace),
      rows_(rows),
      exact_(exact),
      base_ns_(base_ns),
      counters_(timeline::MemoryCounters(trace)) {
  if (!with_heap) LeaveOutHeap();
  if (record_count() == 0) return;
  for (const Row& row : rows.tracks) heads_.push_back(Head("[memory]", row));
}

void MemoryEvents::LeaveOutHeap() {
  const std::span<const MemoryRecord> records = trace_.memory();
  for (model::MemoryIndex i = 0; i < records.size(); ++i) {
    if (!IsHeap(records[i])) others_.push_back(i);
  }
  left_out_ = records.size() - others_.size();
}

size_t MemoryEvents::item_count() const {
  size_t items = record_count();
  for (const timeline::MemoryCounter& counter : counters_)
    items += counter.points.size();
  return items;
}

void MemoryEvents::AppendMembers(std::string& out) const {
  size_t left_out = left_out_;
  if (trace_.folded_memory() != nullptr) {
    for (const model::FoldedHeap& heap : trace_.folded_memory()->heaps) {
      left_out += static_cast<size_t>(heap.record_count());
    }
  }
  if (left_out == 0) return;
  absl::StrAppend(&out, "\"", kHeapRecordsLeftOut, "\": ", left_out, ",\n");
}

absl::Status MemoryEvents::Write(timeline::OrderedOutput& output) const {
  KYMO_RETURN_IF_ERROR(output.Run(
      record_count(), [&](size_t begin, size_t end, std::string& out) {
        for (size_t i = begin; i < end; ++i) AppendRecord(out, i);
      }));
  for (const timeline::MemoryCounter& counter : counters_) {
    KYMO_RETURN_IF_ERROR(output.Run(
        counter.points.size(), [&](size_t begin, size_t end, std::string& out) {
          for (size_t i = begin; i < end; ++i) {
            AppendPoint(out, counter, counter.points[i]);
          }
        }));
  }
  return absl::OkStatus();
}

void MemoryEvents::AppendRecord(std::string& out, size_t position) const {
  const auto index = static_cast<model::MemoryIndex>(
      left_out_ == 0 ? position : others_[position]);
  const MemoryRecord& record = trace_.memory()[index];
  const bool failed = record.event == MemoryEvent::kOutOfMemory;
  if (failed) {
    out += Head("[OutOfMemory]", rows_.tracks[record.track]);
  } else {
    out += heads_[record.track];
  }
  Text text;
  text.AppendTime(std::max<DurationNs>(record.time_ns - base_ns_, 0));
  text << ",\"args\":{\"Total Reserved\":" << record.total_reserved
       << ",\"Total Allocated\":" << record.total_allocated
       << ",\"Bytes\":" << record.bytes
       << ",\"Device Id\":" << int{record.device_index}
       << ",\"Device Type\":" << int{record.device_type};
  if (!failed) text << ",\"Addr\":" << record.address;
  if (const uint32_t stack = exact_.StackNumber(record.stack); stack != 0) {
    text << ",\"Stack\":" << stack;
  }
  // The sign of its bytes says so of any other free.
  if (record.bytes == 0 && analysis::MemoryBlocks(trace_).IsFree(index)) {
    text << ",\"Free\":true";
  }
  text << SourceMember(record.source)
       << ",\"finished\":false,\"Ev Idx\":" << trace_.event_count() + position
       << "}},\n";
  out += text.view();
}

void MemoryEvents::AppendPoint(std::string& out,
                               const timeline::MemoryCounter& counter,
                               const analysis::CurvePoint& point) const {
  absl::StrAppend(&out, "{\"ph\":\"C\",\"name\":\"", counter.name, "\"",
                  rows_.tracks[counter.track].ids);
  Text text;
  text.AppendTime(std::max<DurationNs>(point.time - base_ns_, 0));
  text << ",\"args\":{\"bytes\":" << point.value << "}},\n";
  out += text.view();
}

}  // namespace kymo::chrome
