#include "profiler/library/profile_cycle.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exporters/builtin/builtin_exporters.h"
#include "exporters/memory_timeline/memory_timeline.h"
#include "kymo/warning.h"
#include "profiler/analysis/findings/findings.h"
#include "profiler/analysis/flops.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/events/averages/trace_averages.h"
#include "profiler/plugin/library/exporter_library.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/run_exporter.h"
#include "profiler/plugin/settings.h"
#include "profiler/plugin/sink.h"
#include "profiler/plugin/trace_exporter.h"
#include "profiler/text/json_check.h"
#include "profiler/text/json_text.h"

namespace kymo {
namespace {

// An exporter's one file under a path of the caller's choice.
class RenamedOutput : public OutputDirectory {
 public:
  explicit RenamedOutput(std::string path)
      : OutputDirectory(""), file_path_(std::move(path)) {}
  absl::StatusOr<std::unique_ptr<ByteSink>> Open(
      std::string_view name) override {
    name_ = name;
    return NewFileSink(file_path_);
  }
  // The path is the file of one name only.
  void Remove(std::string_view name) noexcept override {
    if (name == name_) unlink(file_path_.c_str());
  }

 private:
  const std::string file_path_;
  std::string name_;  // that was opened last
};

constexpr int64_t kMostFileMib = int64_t{1} << 20;

// The settings of the exporters by their names of today.
absl::StatusOr<SettingMap> SettingsOf(
    const SettingMap& given, const std::string& name,
    const std::vector<const TraceExporter*>& exporters) {
  std::vector<SettingInfo> known;
  for (const TraceExporter* const exporter : exporters) {
    known = JoinSettings({known, exporter->info().settings});
  }
  absl::StatusOr<ResolvedSettings> resolved = ResolveSettings(given, known);
  if (!resolved.ok()) {
    return absl::Status(
        resolved.status().code(),
        absl::StrCat("exporter '", name, "': ", resolved.status().message()));
  }
  for (const std::string& notice : resolved->notices) Warn(notice);
  return std::move(resolved->settings);
}

absl::StatusOr<std::vector<std::string>> RunExporters(
    const std::string& name, const model::Trace& trace,
    const ProfileExportOptions& options, OutputDirectory& out) {
  if (options.max_file_mib < 0 || options.max_file_mib > kMostFileMib) {
    return absl::InvalidArgumentError(absl::StrCat(
        "max_file_mib is ", options.max_file_mib, ", not 0 to ", kMostFileMib));
  }
  ExporterRegistry registry;
  KYMO_RETURN_IF_ERROR(RegisterBuiltinExporters(registry));
  KYMO_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        FindExporters(name, registry));
  std::vector<const TraceExporter*> exporters;
  for (const std::string& found : names) {
    exporters.push_back(registry.Find(found));
  }
  KYMO_ASSIGN_OR_RETURN(const SettingMap settings,
                        SettingsOf(options.settings, name, exporters));
  std::vector<std::string> files;
  for (const TraceExporter* const exporter : exporters) {
    ExportNotes notes;
    ExportOptions how;
    how.gzip = options.gzip;
    how.notes = &notes;
    how.progress = options.progress;
    how.settings = settings;
    KYMO_ASSIGN_OR_RETURN(
        const SplitFiles written,
        RunExporter(*exporter, trace, how, options.max_file_mib << 20, out));
    if (!written.notice.empty()) Warn(written.notice);
    for (const std::string& notice : notes.notices) Warn(notice);
    files.insert(files.end(), written.names.begin(), written.names.end());
  }
  return files;
}

std::string TextOr(absl::StatusOr<std::string> text) {
  return text.ok() ? *std::move(text) : text.status().ToString();
}

absl::Status CheckFileName(const std::string& path) {
  return path.empty()
             ? absl::InvalidArgumentError("the name of the file is empty")
             : absl::OkStatus();
}

absl::Status WithoutMemory() {
  return absl::InvalidArgumentError(
      "profile_memory = true required for memory profiling.");
}

model::Trace WithMetadata(model::Trace trace, std::string_view key,
                          std::string_view json) {
  model::TraceData data = std::move(trace).Release();
  const model::NameId key_id = data.strings.Intern(key);
  const model::NameId value_id = data.strings.Intern(json);
  const auto place = std::find_if(
      data.metadata.begin(), data.metadata.end(),
      [&](const auto& entry) { return data.strings.Get(entry.key) >= key; });
  if (place != data.metadata.end() && place->key == key_id) {
    place->json_value = value_id;
  } else {
    data.metadata.insert(place, {key_id, value_id});
  }
  return model::Trace(std::move(data));
}

}  // namespace

std::string KeyAverages::table(const report::TableOptions& options) const {
  return status_.ok() ? TextOr(averages_.table(options)) : status_.ToString();
}

std::string ToString(const KeyAverages& averages) {
  return averages.status().ok() ? ToString(averages.rows())
                                : averages.status().ToString();
}

std::ostream& operator<<(std::ostream& out, const KeyAverages& averages) {
  return out << averages.table();
}

ProfileCycle::ProfileCycle(int number, std::string trace_id,
                           const ProfileOptions& options, model::Trace trace,
                           ProfilerStats stats,
                           std::vector<int64_t> device_elapsed_us)
    : number_(number),
      trace_id_(std::move(trace_id)),
      use_device_(options.use_device),
      with_flops_(options.with_flops),
      profile_memory_(options.profile_memory),
      with_stack_(options.with_stack),
      trace_only_(options.experimental_config.trace_only),
      timeout_s_(options.post_processing_timeout_s),
      device_elapsed_us_(std::move(device_elapsed_us)),
      trace_(std::move(trace)),
      stats_(stats) {}

template <typename Use>
auto ProfileCycle::WithEventOptions(Use use) {
  TraceEventsOptions options = {.profile_memory = profile_memory_,
                                .with_flops = with_flops_,
                                .timeout_s = timeout_s_};
  if (!use_device_.empty()) options.use_device = use_device_;
  if (!device_elapsed_us_.empty()) {
    options.device_elapsed_us = [&](model::EventIndex event) {
      return device_elapsed_us_[event];
    };
  }
  FlopsEstimate estimate;
  if (with_flops_) {
    estimate = EstimateFlops(trace_, FlopsRegistry::Process());
    for (const std::string& warning : estimate.warnings) AddWarning(warning);
    options.flops = [&](model::EventIndex event) {
      return estimate.flops[event];
    };
  }
  return use(options);
}

void ProfileCycle::AddWarning(const std::string& warning) {
  if (std::find(warnings_.begin(), warnings_.end(), warning) ==
      warnings_.end()) {
    warnings_.push_back(warning);
    Warn(warning);
  }
}

KeyAverages ProfileCycle::key_averages(const KeyAveragesOptions& options) {
  absl::StatusOr<EventAverages> averages;
  if (events_ != nullptr) {
    averages = events_->key_averages(options);
  } else {
    averages = WithEventOptions([&](const TraceEventsOptions& event_options) {
      return AveragesOfTrace(trace_, event_options, options);
    });
  }
  return averages.ok() ? KeyAverages(*std::move(averages))
                       : KeyAverages(averages.status());
}

absl::StatusOr<const EventList*> ProfileCycle::events() {
  if (trace_only_) {
    return absl::FailedPreconditionError(
        "events() is not available when trace_only = true in "
        "ExperimentalConfig. "
        "Use export_chrome_trace() instead.");
  }
  if (events_ == nullptr) {
    const int64_t start_ns = MonotonicNs();
    KYMO_ASSIGN_OR_RETURN(
        ConvertedEvents converted,
        WithEventOptions([&](const TraceEventsOptions& options) {
          return EventsOfTrace(trace_, options);
        }));
    events_ = std::make_unique<EventList>(std::move(converted.events));
    for (const std::string& warning : converted.warnings) AddWarning(warning);
    stats_.number_of_events = static_cast<int64_t>(events_->size());
    stats_.function_events_build_tree_call_duration_us =
        (MonotonicNs() - start_ns) / 1000;
  }
  return events_.get();
}

absl::StatusOr<FunctionEventAvg> ProfileCycle::total_average() {
  KYMO_ASSIGN_OR_RETURN(const EventList* const list, events());
  return list->total_average();
}

absl::StatusOr<double> ProfileCycle::self_cpu_time_total() {
  KYMO_ASSIGN_OR_RETURN(const EventList* const list, events());
  return list->self_cpu_time_total();
}

std::vector<analysis::Finding> ProfileCycle::findings() const {
  return analysis::FindFindings(trace_);
}

std::string ProfileCycle::table(const report::TableOptions& options) {
  const absl::StatusOr<const EventList*> list = events();
  return list.ok() ? TextOr((*list)->table(options)) : list.status().ToString();
}

void ProfileCycle::add_metadata(std::string_view key, std::string_view value) {
  std::string json;
  json::AppendJsonString(json, value);
  trace_ = WithMetadata(std::move(trace_), key, json);
}

absl::Status ProfileCycle::add_metadata_json(std::string_view key,
                                             std::string_view json) {
  KYMO_RETURN_IF_ERROR(json::CheckJson(json));
  trace_ = WithMetadata(std::move(trace_), key, json);
  return absl::OkStatus();
}

absl::Status ProfileCycle::export_chrome_trace(const std::string& path) const {
  KYMO_RETURN_IF_ERROR(CheckFileName(path));
  RenamedOutput out(path);
  return RunExporters("chrome", trace_, {.gzip = path.ends_with(".gz")}, out)
      .status();
}

absl::Status ProfileCycle::export_stacks(const std::string& path,
                                         std::string_view metric) {
  if (!with_stack_) {
    return absl::FailedPreconditionError(
        "export_stacks() requires with_stack = true");
  }
  KYMO_RETURN_IF_ERROR(CheckFileName(path));
  KYMO_ASSIGN_OR_RETURN(const EventList* const list, events());
  return list->export_stacks(path, metric);
}

absl::Status ProfileCycle::export_memory_timeline(
    const std::string& path, std::string_view device) const {
  if (!profile_memory_) {
    return WithoutMemory();
  }
  KYMO_RETURN_IF_ERROR(CheckFileName(path));
  std::string wanted(device);
  if (wanted.empty()) {
    wanted = use_device_.empty() ? "cpu" : use_device_ + ":0";
  }
  return WriteWithinMemory(
      path, [&] { return ExportMemoryTimeline(trace_, path, wanted); });
}

absl::StatusOr<std::vector<std::string>> ProfileCycle::Export(
    const std::string& exporter, const std::string& directory,
    const ProfileExportOptions& options) const {
  if (directory.empty()) {
    return absl::InvalidArgumentError(
        "the name of the folder is empty; \".\" is the working directory");
  }
  if (exporter == "memory_timeline" && !profile_memory_) {
    return WithoutMemory();
  }
  OutputDirectory out(directory);
  return RunExporters(exporter, trace_, options, out);
}

}  // namespace kymo
