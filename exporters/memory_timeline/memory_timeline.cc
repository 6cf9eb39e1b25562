#include "exporters/memory_timeline/memory_timeline.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exporters/memory_timeline/timeline_json.h"
#include "exporters/memory_timeline/timeline_page.h"
#include "profiler/analysis/memory/memory_timeline.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

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
  const auto events = analysis::MemoryTimeline(trace, device);
  int64_t max_reserved = 0;
  for (const model::MemoryRecord& record : trace.memory()) {
    if (record.device_type == static_cast<int8_t>(device.type) &&
        record.device_index == device.index) {
      max_reserved = std::max(max_reserved, record.total_reserved);
    }
  }
  return memory_timeline::WriteTimelinePage(
      {.events = events,
       .device = analysis::MemoryDeviceName(device),
       .start_ns = trace.start_ns(),
       .end_ns = trace.end_ns(),
       .max_reserved = max_reserved},
      sink);
}

// The form that the path's end names, into `sink`, which is then complete.
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

class MemoryTimelineExporter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    const auto setting = [&](const std::string& key, const char* otherwise) {
      const auto found = options.settings.find(key);
      return found == options.settings.end() ? otherwise : found->second;
    };
    KYMO_ASSIGN_OR_RETURN(const MemoryDeviceId device,
                          Device(setting("device", "cpu")));
    const std::string form = setting("timeline_form", "html");
    std::string name = "memory_timeline.html";
    if (form == "json") {
      name = options.gzip ? "memory_timeline.json.gz" : "memory_timeline.json";
    } else if (form == "raw") {
      name = "memory_timeline.raw.json.gz";
    } else if (form != "html") {
      return absl::InvalidArgumentError(
          absl::StrCat("memory_timeline: setting timeline_form is '", form,
                       "', not html, json or raw"));
    }
    KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, out.Open(name));
    KYMO_RETURN_IF_ERROR(Write(trace, name, device, std::move(sink)));
    if (options.progress) options.progress(1.0);
    return std::vector<std::string>{name};
  }

 private:
  const PluginInfo info_ = {
      .name = "memory_timeline",
      .purpose = "memory by category over time (memory_timeline.html)",
      .options = {{"device", "cpu", "whose memory: cpu, cuda:0, ..."},
                  {"timeline_form", "html",
                   "html, or PyTorch's files: json (rows) or raw (events)"}},
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
