#include "exporters/memory_timeline/memory_timeline.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exporters/memory_timeline/timeline_json.h"
#include "exporters/memory_timeline/timeline_page.h"
#include "profiler/analysis/memory/timeline/memory_timeline.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/settings.h"

namespace kymo {
namespace {

using analysis::MemoryDeviceId;
using model::Trace;

absl::StatusOr<MemoryDeviceId> Device(std::string_view name) {
  const auto device = analysis::ParseMemoryDevice(name);
  if (device) return *device;
  return absl::InvalidArgumentError(
      absl::StrCat("memory timeline: '", ToAbsl(name),
                   "' is no device; write it as 'cpu' or 'cuda:0'"));
}

absl::Status WritePage(const Trace& trace, MemoryDeviceId device,
                       ByteSink& sink) {
  const bool is_folded =
      trace.folded_memory() != nullptr && device == MemoryDeviceId();
  Column<analysis::MemoryTimelineEvent> events;
  if (!is_folded) events = analysis::MemoryTimeline(trace, device);
  int64_t max_reserved = 0;
  for (const model::MemoryRecord& record : trace.memory()) {
    if (record.device_type == static_cast<int8_t>(device.type) &&
        record.device_index == device.index) {
      max_reserved = std::max(max_reserved, record.total_reserved);
    }
  }
  return memory_timeline::WriteTimelinePage(
      {.events = events,
       .folded = is_folded ? trace.folded_memory() : nullptr,
       .device = analysis::MemoryDeviceName(device),
       .start_ns = trace.start_ns(),
       .end_ns = trace.end_ns(),
       .max_reserved = max_reserved},
      sink);
}

// Writes the form that the path's end names into `sink`, and commits it.
absl::Status Write(const Trace& trace, std::string_view path,
                   MemoryDeviceId device, std::unique_ptr<ByteSink> sink) {
  if (path.ends_with(".gz")) sink = NewGzipSink(std::move(sink));
  if (path.ends_with(".html")) {
    KYMO_RETURN_IF_ERROR(WritePage(trace, device, *sink));
  } else {
    const auto events = analysis::MemoryTimeline(trace, device);
    KYMO_RETURN_IF_ERROR(
        path.ends_with("raw.json.gz")
            ? memory_timeline::WriteRawTimelineJson(events, *sink)
            : memory_timeline::WriteTimelineJson(events, *sink));
  }
  return sink->Commit();
}

enum class Form { kHtml, kJson, kRaw };

// The page of so many records tells temporary memory from other memory. Of more
// it shows the sum.
constexpr uint64_t kMostWithCategories = 1'000'000;

struct TimelineSettings {
  MemoryDeviceId device;
  Form form = Form::kHtml;
};

SettingTable<TimelineSettings> TimelineTable() {
  using S = TimelineSettings;
  return SettingTable<S>(
      "memory_timeline",
      {{.name = "device",
        .value = setting::Custom<S, MemoryDeviceId>(
            &S::device, analysis::ParseMemoryDevice, analysis::MemoryDeviceName,
            "a device, such as cpu or cuda:0", "DEVICE"),
        .purpose = "Whose memory is shown.",
        .old_name = "device"},
       {.name = "form",
        .value = setting::Word(&S::form, {{"html", Form::kHtml},
                                          {"json", Form::kJson},
                                          {"raw", Form::kRaw}}),
        .purpose = "A page (html), or one of PyTorch's files: rows (json) or "
                   "events (raw).",
        .old_name = "timeline_form"}});
}

std::string FileName(Form form, bool gzip) {
  switch (form) {
    case Form::kHtml:
      return "memory_timeline.html";
    case Form::kJson:
      return gzip ? "memory_timeline.json.gz" : "memory_timeline.json";
    case Form::kRaw:
      break;
  }
  return "memory_timeline.raw.json.gz";
}

class MemoryTimelineExporter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    KYMO_ASSIGN_OR_RETURN(const TimelineSettings settings,
                          TimelineTable().Read(options.settings));
    const std::string name = FileName(settings.form, options.gzip);
    KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, out.Open(name));
    KYMO_RETURN_IF_ERROR(Write(trace, name, settings.device, std::move(sink)));
    if (options.notes != nullptr && trace.folded_memory() != nullptr &&
        settings.device == MemoryDeviceId() && analysis::HasOperations(trace)) {
      options.notes->notices.push_back(absl::StrCat(
          name,
          ": memory is not divided into categories, because only sums of the "
          "allocations were kept; --memory_fold_above=-1 keeps each of them"));
    }
    if (options.progress) options.progress(1.0);
    return std::vector<std::string>{name};
  }

  HeapRecordNeed HeapRecordsNeeded(
      const ExportOptions& options) const override {
    const auto settings = TimelineTable().Read(options.settings);
    if (settings.ok() && settings->form == Form::kHtml) {
      return {.most = kMostWithCategories};
    }
    return {.option = absl::StrCat("--memory_timeline_form=",
                                   settings.ok() && settings->form == Form::kRaw
                                       ? "raw"
                                       : "json")};
  }

 private:
  const PluginInfo info_ = {
      .name = "memory_timeline",
      .purpose = "memory by category over time (memory_timeline.html)",
      .settings = TimelineTable().infos(),
      .files = {FileName(Form::kHtml, false), FileName(Form::kJson, false),
                FileName(Form::kJson, true), FileName(Form::kRaw, true)},
  };
};

}  // namespace

absl::Status ExportMemoryTimeline(const Trace& trace, const std::string& path,
                                  std::string_view device) {
  KYMO_ASSIGN_OR_RETURN(const MemoryDeviceId id, Device(device));
  KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, NewFileSink(path));
  return Write(trace, path, id, std::move(sink));
}

std::unique_ptr<TraceExporter> NewMemoryTimelineExporter() {
  return std::make_unique<MemoryTimelineExporter>();
}

}  // namespace kymo
