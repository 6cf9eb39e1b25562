#include "exporters/memory_timeline/timeline_page.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "exporters/html/data_block.h"
#include "exporters/html/page_text.h"
#include "profiler/analysis/memory/thinned_curve.h"
#include "profiler/base/status_macros.h"
#include "profiler/text/json_text.h"

namespace kymo::memory_timeline {
namespace {

using analysis::ForEachMemoryTimelineRow;
using analysis::MemoryCategory;
using analysis::MemoryTimelineRow;

int64_t Sum(const MemoryTimelineRow& row) {
  return std::accumulate(row.bytes.begin(), row.bytes.end(), int64_t{0});
}

struct Points {
  std::vector<MemoryTimelineRow> rows;  // thinned
  uint64_t count = 0;                   // before
  int64_t max_allocated = 0;
};

void ForEachRow(const TimelinePage& page,
                const std::function<void(const MemoryTimelineRow&)>& visit) {
  if (page.folded == nullptr) {
    ForEachMemoryTimelineRow(page.events, visit);
    return;
  }
  for (const model::FoldedPoint& point : page.folded->live) {
    MemoryTimelineRow row;
    row.time_us = analysis::MemoryTimelineMicroseconds(point.time_ns);
    row.bytes[analysis::Index(MemoryCategory::kUnknown)] = point.bytes;
    visit(row);
  }
}

Points FindPoints(const TimelinePage& page) {
  Points points;
  analysis::ThinnedCurve curve(
      analysis::MemoryTimelineMicroseconds(page.start_ns),
      analysis::MemoryTimelineMicroseconds(page.end_ns), kMaxPagePoints);
  ForEachRow(page, [&](const MemoryTimelineRow& row) {
    const int64_t sum = Sum(row);
    curve.Add({row.time_us, points.count++, sum});
    points.max_allocated = std::max(points.max_allocated, sum);
  });
  // The curve of folded memory is thinned already.
  if (page.folded != nullptr) {
    points.count = static_cast<uint64_t>(page.folded->live_moments);
  }
  const std::vector<analysis::CurvePoint> kept = curve.Points();
  auto next = kept.begin();
  uint64_t position = 0;
  ForEachRow(page, [&](const MemoryTimelineRow& row) {
    if (next == kept.end() || next->order != position++) return;
    points.rows.push_back(row);
    ++next;
  });
  return points;
}

void AppendMember(std::string& out, const char* key, int64_t value) {
  out += "\"";
  out += key;
  out += "\": ";
  json::AppendInt(out, value);
  out += ",\n";
}

void AppendCategories(std::string& out) {
  out += "\"categories\": ";
  const char* separator = "[";
  for (size_t i = 0; i < analysis::kMemoryCategories; ++i) {
    out += separator;
    json::AppendJsonString(
        out, analysis::MemoryCategoryName(static_cast<MemoryCategory>(i)));
    separator = ", ";
  }
  out += "],\n";
}

void AppendPageRow(std::string& out, const MemoryTimelineRow& row) {
  const char* separator = "[";
  for (const int64_t bytes : row.bytes) {
    out += separator;
    json::AppendInt(out, bytes);
    separator = ",";
  }
  out += ']';
}

}  // namespace

std::string TimelinePageData(const TimelinePage& page) {
  const Points points = FindPoints(page);
  const int64_t start_us = analysis::MemoryTimelineMicroseconds(page.start_ns);
  std::string out = "{\"device\": ";
  json::AppendJsonString(out, page.device);
  out += ",\n";
  AppendMember(out, "end_us",
               analysis::MemoryTimelineMicroseconds(page.end_ns) - start_us);
  AppendMember(out, "max_allocated", points.max_allocated);
  AppendMember(out, "max_reserved", page.max_reserved);
  AppendMember(out, "points", static_cast<int64_t>(points.count));
  AppendCategories(out);
  out += "\"times_us\": [";
  const char* separator = "";
  for (const MemoryTimelineRow& row : points.rows) {
    out += separator;
    json::AppendInt(out, std::max<int64_t>(row.time_us - start_us, 0));
    separator = ",";
  }
  out += "],\n\"bytes\": [";
  separator = "\n";
  for (const MemoryTimelineRow& row : points.rows) {
    out += separator;
    AppendPageRow(out, row);
    separator = ",\n";
  }
  return out + "]}";
}

absl::Status WriteTimelinePage(const TimelinePage& page, ByteSink& sink) {
  KYMO_RETURN_IF_ERROR(sink.Append(html::MemoryPageBeforeData()));
  KYMO_RETURN_IF_ERROR(sink.Append("<div hidden id=\"data\">\n"));
  html::DataBlock block("timeline", sink);
  block.Raw(TimelinePageData(page));
  KYMO_RETURN_IF_ERROR(block.End());
  KYMO_RETURN_IF_ERROR(sink.Append("</div>\n"));
  return sink.Append(html::MemoryPageAfterData());
}

}  // namespace kymo::memory_timeline
