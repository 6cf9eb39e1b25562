#include "exporters/tensorboard/tensorboard_exporter.h"

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exporters/tensorboard/event_file/event_file.h"
#include "exporters/tensorboard/program_graph.h"
#include "exporters/tensorboard/step_names.h"
#include "exporters/tensorboard/step_scalars.h"
#include "exporters/tensorboard/xspace/xspace.h"
#include "profiler/base/parallel.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/time.h"

namespace kymo {
namespace {

using model::Trace;
using tensorboard::StepNames;

constexpr char kFolder[] = "tensorboard/";
constexpr char kMemoryEvents[] = "memory_events";
constexpr int64_t kDefaultMemoryEvents = 200'000;
constexpr char kGraphTag[] = "profile";

// "2024_12_31_08_06_00_123": UTC, so that a trace has one name everywhere.
std::string RunName(TimeNs start_ns) {
  const TimeNs time_ns = std::max<TimeNs>(start_ns, 0);
  const time_t seconds = time_ns / kNsPerSecond;
  struct tm utc = {};
  gmtime_r(&seconds, &utc);
  return absl::StrFormat("%04d_%02d_%02d_%02d_%02d_%02d_%03d",
                         utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                         utc.tm_hour, utc.tm_min, utc.tm_sec,
                         time_ns % kNsPerSecond / kNsPerMs);
}

absl::StatusOr<int64_t> MaxHeapRecords(const ExportOptions& options) {
  const auto setting = options.settings.find(kMemoryEvents);
  if (setting == options.settings.end()) return kDefaultMemoryEvents;
  int64_t records = 0;
  if (absl::SimpleAtoi(setting->second, &records) && records >= -1) {
    return records;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("tensorboard: setting ", kMemoryEvents, " is '",
                   setting->second, "', not a number from -1"));
}

std::string EventFile(const Trace& trace, const StepNames& steps) {
  const double start_s =
      static_cast<double>(trace.start_ns()) / static_cast<double>(kNsPerSecond);
  std::string file;
  tensorboard::AppendFileVersion(file, start_s);
  const tensorboard::ProgramGraph graph(trace, steps);
  tensorboard::AppendGraph(file, start_s, graph.GraphDef());
  tensorboard::AppendRunMetadata(file, start_s, kGraphTag, graph.RunMetadata());
  for (const auto& scalar : tensorboard::StepScalars(trace, steps)) {
    tensorboard::AppendScalar(file, scalar);
  }
  return file;
}

class TensorboardExporter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    KYMO_ASSIGN_OR_RETURN(const int64_t max_heap_records,
                          MaxHeapRecords(options));
    const std::string host = tensorboard::HostName();
    const int64_t pid =
        trace.processes().empty() ? 0 : trace.processes().front().pid;
    const std::string space_name =
        absl::StrCat(kFolder, "plugins/profile/", RunName(trace.start_ns()),
                     "/", host, ".xplane.pb");
    const std::string events_name = absl::StrCat(
        kFolder, tensorboard::EventFileName(trace.start_ns() / kNsPerSecond,
                                            host, pid, 0));
    const StepNames steps(trace.strings());
    KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> space,
                          out.Open(space_name));
    // The event file's sweeps over the trace take one thread, the XSpace all.
    absl::Status space_status;
    std::string event_file;
    ParallelForEach(2, [&](size_t task) {
      if (task == 0) {
        space_status = WriteXSpace(
            trace, steps, {.host = host, .max_heap_records = max_heap_records},
            options.progress, *space);
      } else {
        event_file = EventFile(trace, steps);
      }
    });
    KYMO_RETURN_IF_ERROR(space_status);
    KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> events,
                          out.Open(events_name));
    KYMO_RETURN_IF_ERROR(events->Append(event_file));
    KYMO_RETURN_IF_ERROR(events->Commit());
    // Its last bytes may be what the disk has no room for.
    if (const absl::Status status = space->Commit(); !status.ok()) {
      out.Remove(events_name);
      return status;
    }
    if (options.progress) options.progress(1.0);
    return std::vector<std::string>{space_name, events_name};
  }

 private:
  const PluginInfo info_ = {
      .name = "tensorboard",
      .purpose = "a log folder for TensorBoard and XProf (tensorboard/)",
      .options = {{kMemoryEvents, std::to_string(kDefaultMemoryEvents),
                   "most records of the heap to write one by one; of more "
                   "only the extremes of what was in use; -1: all"}},
  };
};

}  // namespace

std::unique_ptr<TraceExporter> NewTensorboardExporter() {
  return std::make_unique<TensorboardExporter>();
}

}  // namespace kymo
