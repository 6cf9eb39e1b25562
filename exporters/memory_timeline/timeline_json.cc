#include "exporters/memory_timeline/timeline_json.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "profiler/text/json_text.h"

namespace kymo::memory_timeline {
namespace {

using analysis::ForEachMemoryTimelineRow;
using analysis::MemoryTimelineEvent;
using analysis::MemoryTimelineRow;

// Gathers the elements of one array, and passes them on in large pieces.
class ArrayText {
 public:
  explicit ArrayText(ByteSink& sink) : sink_(sink) { text_ = "["; }

  // Where the next element is to be appended.
  std::string& Next() {
    if (text_.size() > kPieceBytes) Flush();
    if (!is_first_) text_ += ", ";
    is_first_ = false;
    return text_;
  }

  // The first error of the sink.
  absl::Status End() {
    text_ += ']';
    Flush();
    return status_;
  }

 private:
  static constexpr size_t kPieceBytes = 64 << 10;

  void Flush() {
    status_.Update(sink_.Append(text_));
    text_.clear();
  }

  ByteSink& sink_;
  std::string text_;
  bool is_first_ = true;
  absl::Status status_;
};

void AppendRow(std::string& out, const MemoryTimelineRow& row) {
  out += "[0";
  for (const int64_t bytes : row.bytes) {
    out += ", ";
    json::AppendInt(out, bytes);
  }
  out += ']';
}

}  // namespace

absl::Status WriteTimelineJson(std::span<const MemoryTimelineEvent> events,
                               ByteSink& sink) {
  absl::Status status = sink.Append("[");
  ArrayText times(sink);
  ForEachMemoryTimelineRow(events, [&](const MemoryTimelineRow& row) {
    json::AppendInt(times.Next(), row.time_us);
  });
  status.Update(times.End());
  status.Update(sink.Append(", "));
  ArrayText sizes(sink);
  ForEachMemoryTimelineRow(events, [&](const MemoryTimelineRow& row) {
    AppendRow(sizes.Next(), row);
  });
  status.Update(sizes.End());
  status.Update(sink.Append("]"));
  return status;
}

absl::Status WriteRawTimelineJson(std::span<const MemoryTimelineEvent> events,
                                  ByteSink& sink) {
  ArrayText array(sink);
  for (const MemoryTimelineEvent& event : events) {
    std::string& out = array.Next();
    out += '[';
    json::AppendInt(out, event.time_ns);
    out += ", ";
    json::AppendInt(out, static_cast<int64_t>(event.action));
    out += ", ";
    json::AppendInt(out, event.bytes);
    out += ", ";
    json::AppendUint(out, analysis::Index(event.category));
    out += ']';
  }
  return array.End();
}

}  // namespace kymo::memory_timeline
