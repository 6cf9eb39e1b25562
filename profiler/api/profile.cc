#include "profiler/api/profile.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/builtin/builtin_backends.h"
#include "exporters/builtin/builtin_exporters.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/sink.h"
#include "profiler/session/recording.h"

namespace kymo {
namespace {

// An exporter's one file under a path of the caller's choice.
class RenamedOutput : public OutputDirectory {
 public:
  explicit RenamedOutput(std::string path)
      : OutputDirectory(""), file_path_(std::move(path)) {}
  absl::StatusOr<std::unique_ptr<ByteSink>> Open(std::string_view) override {
    return NewFileSink(file_path_);
  }

 private:
  const std::string file_path_;
};

absl::StatusOr<const TraceExporter*> FindExporter(
    const ExporterRegistry& registry, const std::string& name) {
  const TraceExporter* const exporter = registry.Find(name);
  if (exporter == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no exporter '", name, "'; it is one of: ", registry.Names()));
  }
  return exporter;
}

absl::Status NoResults() {
  return absl::FailedPreconditionError(
      "no results yet: call Start() and Stop() first");
}

}  // namespace

struct Profile::State {
  BackendRegistry registry;
  std::unique_ptr<Recording> recording;
};

std::string KeyAverages::table(const report::TableOptions& options) const {
  const absl::StatusOr<std::string> text =
      report::FormatTable(report::TableRows(rows_), options);
  return text.ok() ? *text : text.status().ToString();
}

Profile::Profile(ProfileOptions options) : options_(std::move(options)) {}

Profile::~Profile() {
  if (state_ != nullptr) state_->recording->Stop().IgnoreError();
}

absl::Status Profile::Start() {
  if (state_ != nullptr) {
    return absl::FailedPreconditionError("the profile has already started");
  }
  auto state = std::make_unique<State>();
  KYMO_RETURN_IF_ERROR(RegisterBuiltinBackends(state->registry));
  SessionOptions options;
  options.settings = options_.settings;
  KYMO_ASSIGN_OR_RETURN(
      state->recording,
      Recording::Create(state->registry, options_.activities, options));
  KYMO_RETURN_IF_ERROR(state->recording->Prepare(nullptr));
  KYMO_RETURN_IF_ERROR(state->recording->Start(getpid()));
  state_ = std::move(state);
  return absl::OkStatus();
}

absl::Status Profile::Stop() {
  if (state_ == nullptr) {
    return absl::FailedPreconditionError("the profile has not started");
  }
  const std::unique_ptr<State> state = std::move(state_);
  KYMO_RETURN_IF_ERROR(state->recording->Stop());
  KYMO_ASSIGN_OR_RETURN(model::Trace trace, state->recording->Finish({}));
  trace_ = std::make_unique<model::Trace>(std::move(trace));
  return absl::OkStatus();
}

KeyAverages Profile::key_averages() const {
  return KeyAverages(trace_ == nullptr ? std::vector<analysis::KeyAverage>()
                                       : analysis::KeyAverages(*trace_));
}

absl::Status Profile::export_chrome_trace(const std::string& path) const {
  if (trace_ == nullptr) return NoResults();
  ExporterRegistry registry;
  KYMO_RETURN_IF_ERROR(RegisterBuiltinExporters(registry));
  KYMO_ASSIGN_OR_RETURN(const TraceExporter* const exporter,
                        FindExporter(registry, "chrome"));
  ExportOptions options;
  options.gzip = path.ends_with(".gz");
  RenamedOutput out(path);
  return exporter->Export(*trace_, options, out).status();
}

absl::StatusOr<std::vector<std::string>> Profile::Export(
    const std::string& exporter_name, const std::string& directory) const {
  if (trace_ == nullptr) return NoResults();
  ExporterRegistry registry;
  KYMO_RETURN_IF_ERROR(RegisterBuiltinExporters(registry));
  KYMO_ASSIGN_OR_RETURN(const TraceExporter* const exporter,
                        FindExporter(registry, exporter_name));
  OutputDirectory out(directory);
  return exporter->Export(*trace_, ExportOptions(), out);
}

}  // namespace kymo
