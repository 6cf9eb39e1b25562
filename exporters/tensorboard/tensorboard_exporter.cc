#include "exporters/tensorboard/tensorboard_exporter.h"

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "exporters/tensorboard/event_file/event_file.h"
#include "exporters/tensorboard/program_graph.h"
#include "exporters/tensorboard/step_names.h"
#include "exporters/tensorboard/step_scalars.h"
#include "exporters/tensorboard/xspace/xspace.h"
#include "exporters/timeline/bounded_file.h"
#include "profiler/base/parallel.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/time.h"
#include "profiler/plugin/settings.h"

namespace kymo {
namespace {

using model::Trace;
using tensorboard::StepNames;
using timeline::FileForm;

constexpr char kFolder[] = "tensorboard/";
constexpr char kGraphTag[] = "profile";

struct TensorboardSettings {
  int64_t memory_events = 200'000;  // -1: all
};

SettingTable<TensorboardSettings> TensorboardTable() {
  return SettingTable<TensorboardSettings>(
      "tensorboard",
      {{.name = "memory_events",
        .value = setting::Integer(&TensorboardSettings::memory_events, -1),
        .purpose = "Most records of the heap that are written one by one. Of "
                   "more there are only the extremes of what was in use. -1 = "
                   "all.",
        .old_name = "memory_events"}});
}

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

absl::Status WriteFile(const std::string& name, const std::string& bytes,
                       OutputDirectory& out) {
  KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, out.Open(name));
  KYMO_RETURN_IF_ERROR(sink->Append(bytes));
  return sink->Commit();
}

class TensorboardExporter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    KYMO_ASSIGN_OR_RETURN(const TensorboardSettings settings,
                          TensorboardTable().Read(options.settings));
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
    const auto write_space = [&](const Trace& shown, const FileForm& form,
                                 ByteSink& sink) {
      // Folded ranges are elsewhere than what they allocated.
      return WriteXSpace(
          shown, steps,
          {.host = host,
           .max_heap_records = form.fold > 1 ? 0 : settings.memory_events,
           .folded_ranges = form.folded_ranges,
           .left_out = form.left_out + form.without_details},
          options.progress, sink);
    };
    const uint64_t most_events = options.max_bytes / 8;  // of bytes
    // The event file's sweeps over the trace take one thread, the XSpace all.
    absl::StatusOr<std::string> space;
    std::string event_file;
    ParallelForEach(2, [&](size_t task) {
      if (task == 0) {
        space = timeline::WriteBounded(
            {.name = space_name,
             .max_bytes = options.max_bytes - most_events,
             .compresses = false},
            trace, options, out, write_space);
      } else {
        event_file = EventFile(trace, steps);
      }
    });
    KYMO_RETURN_IF_ERROR(space.status());
    std::vector<std::string> names;
    if (!space->empty()) names.push_back(space_name);
    if (options.progress) options.progress(1.0);
    if (options.max_bytes != 0 && event_file.size() > most_events) {
      out.Remove(events_name);  // an earlier run's
      if (options.notes != nullptr) {
        options.notes->notices.push_back(absl::StrCat(
            events_name, " is left out: it has ", event_file.size(),
            " bytes, and its part of --max_size is ", most_events,
            "; --max_size=0 writes it"));
      }
      return names;
    }
    if (const absl::Status status = WriteFile(events_name, event_file, out);
        !status.ok()) {
      out.Remove(space_name);
      return status;
    }
    names.push_back(events_name);
    return names;
  }

 private:
  const PluginInfo info_ = {
      .name = "tensorboard",
      .purpose = "a log folder for TensorBoard and XProf (tensorboard/)",
      .settings = TensorboardTable().infos(),
      .takes_max_bytes = true,
  };
};

}  // namespace

std::unique_ptr<TraceExporter> NewTensorboardExporter() {
  return std::make_unique<TensorboardExporter>();
}

}  // namespace kymo
