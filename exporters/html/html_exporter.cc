#include "exporters/html/html_exporter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "exporters/html/data_block.h"
#include "exporters/html/event_blocks.h"
#include "exporters/html/lane_blocks.h"
#include "exporters/html/page_limits.h"
#include "exporters/html/page_text.h"
#include "exporters/html/used_tables.h"
#include "exporters/summary/summary_exporter.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/analysis/first_time.h"
#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/thread_states.h"
#include "profiler/plugin/sink.h"
#include "profiler/text/json_writer.h"

namespace kymo {
namespace {

using analysis::LazyMemoryProfiles;
using html::DataBlock;
using html::EventBlocks;
using html::LaneBlocks;
using html::PageLimits;
using model::Trace;

constexpr char kFileName[] = "report.html";
// Of more, memory over time has one layer. Chrome's timeline has as many.
constexpr uint64_t kMostHeapRecords = 1'000'000;

// A page that is too large even with its limits divided by this is left out.
constexpr uint64_t kMostDivisor = 4096;

// Passes bytes on and counts them. From `max_bytes` on it returns an error.
class BoundedSink final : public ByteSink {
 public:
  // `base` must outlive it.
  BoundedSink(ByteSink& base, uint64_t max_bytes)
      : base_(base), max_bytes_(max_bytes) {}

  absl::Status Append(std::string_view bytes) override {
    bytes_ += bytes.size();
    if (is_full()) return absl::OutOfRangeError("the page is too large");
    return base_.Append(bytes);
  }
  absl::Status Commit() override { return base_.Commit(); }

  bool is_full() const { return bytes_ > max_bytes_; }

 private:
  ByteSink& base_;
  const uint64_t max_bytes_;
  uint64_t bytes_ = 0;
};

// How long the page's time axis is: from its base to the end of everything.
DurationNs SpanNs(const Trace& trace, TimeNs base_ns) {
  TimeNs end = trace.end_ns();
  for (const TimeNs event_end : trace.end()) end = std::max(end, event_end);
  for (const auto& sample : trace.samples()) {
    end = std::max(end, sample.time_ns);
  }
  return std::max<DurationNs>(end - base_ns, 0);
}

std::string MetaText(const Trace& trace, TimeNs base_ns,
                     const EventBlocks& events, const LaneBlocks& lanes) {
  std::string text;
  json::JsonWriter json(text);
  json.BeginObject();
  json.Member("span_ns", SpanNs(trace, base_ns));
  json.Member("sampling_period_ns", trace.sampling_period_ns());
  events.WriteMeta(json);
  lanes.WriteMeta(json);
  json.Key("types");
  json.BeginArray();
  for (size_t i = 0; i < static_cast<size_t>(model::ActivityType::kCount);
       ++i) {
    json.String(model::ActivityTypeName(static_cast<model::ActivityType>(i)));
  }
  json.EndArray();
  json.Key("tracks");
  json.BeginArray();
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const model::Track& track = trace.tracks()[t];
    json.BeginObject();
    json.Member("is_stream", track.kind == model::TrackKind::kStream);
    json.Member("pid", track.pid);
    json.Member("id", track.id);
    json.Member("device", int64_t{track.device_index});
    json.Member("name", trace.Name(track.name));
    json.Member("events", int64_t{events.ShownOf(t)});
    json.Member("samples", int64_t{lanes.SamplesOf(t)});
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return text;
}

absl::Status WriteBlock(std::string_view name, std::string_view bytes,
                        ByteSink& sink) {
  DataBlock block(name, sink);
  block.Raw(bytes);
  return block.End();
}

// The blocks of one trace, in the element `id`. Returns the number of ranges
// that they lack. `report` gets what is done, 0 to 1.
absl::StatusOr<uint64_t> WriteData(std::string_view id, const Trace& trace,
                                   const LazyMemoryProfiles& memory,
                                   std::string_view summary,
                                   const PageLimits& limits,
                                   const std::function<void(double)>& report,
                                   ByteSink& sink) {
  KYMO_RETURN_IF_ERROR(
      sink.Append(absl::StrCat("<div hidden id=\"", ToAbsl(id), "\">\n")));
  KYMO_RETURN_IF_ERROR(WriteBlock("summary", summary, sink));
  report(0.3);
  const TimeNs base_ns = analysis::FirstTimeNs(trace);
  html::UsedTables tables(trace, limits.text_bytes);
  EventBlocks events(trace, limits, tables);
  LaneBlocks lanes(trace, base_ns, limits, memory, tables);
  tables.NumberStacks();
  report(0.4);
  KYMO_RETURN_IF_ERROR(events.Write(base_ns, sink));
  report(0.8);
  KYMO_RETURN_IF_ERROR(lanes.Write(sink));
  KYMO_RETURN_IF_ERROR(tables.Write(sink));
  KYMO_RETURN_IF_ERROR(
      WriteBlock("meta", MetaText(trace, base_ns, events, lanes), sink));
  KYMO_RETURN_IF_ERROR(sink.Append("</div>\n"));
  return events.left_out();
}

// The same for the page.
absl::StatusOr<uint64_t> WritePage(const Trace& trace,
                                   const LazyMemoryProfiles& memory,
                                   std::string_view summary,
                                   const PageLimits& limits,
                                   const ExportOptions& options,
                                   ByteSink& sink) {
  const double parts = options.before == nullptr ? 1 : 2;
  const auto report = [&](double done) {
    if (options.progress) options.progress(done / parts);
  };
  KYMO_RETURN_IF_ERROR(sink.Append(html::PageBeforeData()));
  KYMO_ASSIGN_OR_RETURN(
      const uint64_t left_out,
      WriteData("data", trace, memory, summary, limits, report, sink));
  if (options.before != nullptr) {
    const Trace& before = *options.before;
    const LazyMemoryProfiles memory_before(before);
    const std::string text =
        SummaryText(before, before.ledger(), nullptr, nullptr, &memory_before);
    const auto left_out_before = WriteData(
        "data-before", before, memory_before, text, limits, [](double) {},
        sink);
    KYMO_RETURN_IF_ERROR(left_out_before.status());
  }
  KYMO_RETURN_IF_ERROR(sink.Append(html::PageAfterData()));
  return left_out;
}

// The limits, or what the trace has of each, so that a part of them is less.
PageLimits LimitsFor(const Trace& trace) {
  PageLimits limits;
  limits.ranges = std::min<uint64_t>(limits.ranges, trace.event_count());
  limits.details = std::min(limits.details, limits.ranges);
  limits.samples = std::min<uint64_t>(limits.samples, trace.samples().size());
  if (trace.thread_states() != nullptr) {
    limits.waits =
        std::min<uint64_t>(limits.waits, trace.thread_states()->waits.size());
  }
  return limits;
}

void AddNotices(const Trace& trace, uint64_t left_out,
                const ExportOptions& options) {
  if (options.notes == nullptr || left_out == 0) return;
  options.notes->notices.push_back(
      absl::StrCat(kFileName, ": the timeline shows the longest ",
                   trace.event_count() - left_out, " ranges and leaves out ",
                   left_out, "; its tables count all of them"));
}

// `summary` makes the text of summary.json, of these profiles.
template <typename Summary>
absl::StatusOr<std::vector<std::string>> WriteFile(const Trace& trace,
                                                   const Summary& summary,
                                                   const ExportOptions& options,
                                                   OutputDirectory& out) {
  constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
  const LazyMemoryProfiles memory(trace, options.memory);
  const std::string text = summary(memory);
  const uint64_t max_bytes = options.max_bytes == 0 ? kAny : options.max_bytes;
  const PageLimits limits = LimitsFor(trace);
  for (uint64_t divisor = 1; divisor <= kMostDivisor; divisor *= 2) {
    KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> file,
                          out.Open(kFileName));
    BoundedSink sink(*file, max_bytes);
    const absl::StatusOr<uint64_t> left_out =
        WritePage(trace, memory, text, limits.Part(divisor), options, sink);
    if (sink.is_full()) continue;
    KYMO_RETURN_IF_ERROR(left_out.status());
    KYMO_RETURN_IF_ERROR(file->Commit());
    AddNotices(trace, *left_out, options);
    if (options.progress) options.progress(1.0);
    return std::vector<std::string>{kFileName};
  }
  out.Remove(kFileName);  // an earlier run's
  if (options.notes != nullptr) {
    options.notes->notices.push_back(absl::StrCat(
        kFileName, " is left out: its tables alone take more than its ",
        max_bytes, " bytes of --max_size; --max_size=0 writes it"));
  }
  if (options.progress) options.progress(1.0);
  return std::vector<std::string>();
}

class HtmlExporter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    return WriteFile(
        trace,
        [&](const LazyMemoryProfiles& memory) {
          return SummaryText(trace, trace.ledger(), options.job, nullptr,
                             &memory, options.ranks);
        },
        options, out);
  }

  HeapRecordNeed HeapRecordsNeeded(const ExportOptions&) const override {
    return {.most = kMostHeapRecords};
  }

  absl::StatusOr<std::vector<std::string>> ExportSums(
      const analysis::WindowSums& sums, const ExportOptions& options,
      OutputDirectory& out) const override {
    const Trace nothing{model::TraceData()};
    return WriteFile(
        sums.rest() == nullptr ? nothing : *sums.rest(),
        [&](const LazyMemoryProfiles&) {
          return SumsText(sums, sums.ledger());
        },
        options, out);
  }

 private:
  const PluginInfo info_ = {
      .name = "html",
      .purpose = "a page with tables, timeline and flame graphs (report.html)",
      .takes_max_bytes = true,
      .compares = true,
      .exports_sums = true,
      .files = {kFileName},
  };
};

}  // namespace

std::unique_ptr<TraceExporter> NewHtmlExporter() {
  return std::make_unique<HtmlExporter>();
}

}  // namespace kymo
