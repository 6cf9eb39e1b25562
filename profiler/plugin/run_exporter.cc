#include "profiler/plugin/run_exporter.h"

#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

// Knows which file was opened last, and which files are complete.
class WatchedDirectory : public OutputDirectory {
 public:
  explicit WatchedDirectory(OutputDirectory& out)
      : OutputDirectory(out.path()), out_(out) {}

  absl::StatusOr<std::unique_ptr<ByteSink>> Open(
      std::string_view name) override {
    opened_ = name;
    KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, out_.Open(name));
    return std::make_unique<Sink>(std::string(name), std::move(sink),
                                  complete_);
  }
  void Remove(std::string_view name) noexcept override {
    std::erase(complete_, name);
    out_.Remove(name);
  }
  void RemoveAll() noexcept {
    for (const std::string& name : complete_) out_.Remove(name);
  }
  // Empty: no file was opened.
  const std::string& opened() const { return opened_; }

 private:
  class Sink : public ByteSink {
   public:
    Sink(std::string name, std::unique_ptr<ByteSink> base,
         std::vector<std::string>& complete)
        : name_(std::move(name)), base_(std::move(base)), complete_(complete) {}
    absl::Status Append(std::string_view bytes) override {
      return base_->Append(bytes);
    }
    absl::Status Commit() override {
      complete_.reserve(complete_.size() + 1);
      KYMO_RETURN_IF_ERROR(base_->Commit());
      complete_.push_back(std::move(name_));
      return absl::OkStatus();
    }

   private:
    std::string name_;
    const std::unique_ptr<ByteSink> base_;
    std::vector<std::string>& complete_;
  };

  OutputDirectory& out_;
  std::string opened_;
  std::vector<std::string> complete_;
};

absl::Status NotEnoughMemoryFor(const std::string& path) {
  return absl::ResourceExhaustedError(
      absl::StrCat("not enough memory to write '", path, "'"));
}

// `run` with the directory to write into.
template <typename Run>
auto Guarded(const TraceExporter& exporter, OutputDirectory& out, Run run)
    -> decltype(run(out)) {
  WatchedDirectory watched(out);
  try {
    return run(watched);
  } catch (const std::bad_alloc&) {
    watched.RemoveAll();
    if (!watched.opened().empty()) return NotEnoughMemoryFor(watched.opened());
    return absl::ResourceExhaustedError(absl::StrCat(
        "not enough memory for the files of '", exporter.info().name, "'"));
  }
}

}  // namespace

absl::StatusOr<SplitFiles> RunExporter(const TraceExporter& exporter,
                                       const model::Trace& trace,
                                       const ExportOptions& options,
                                       int64_t max_file_bytes,
                                       OutputDirectory& out) {
  return Guarded(
      exporter, out, [&](OutputDirectory& to) -> absl::StatusOr<SplitFiles> {
        if (max_file_bytes != 0) {
          return ExportWithin(max_file_bytes, exporter, trace, options, to);
        }
        SplitFiles files;
        KYMO_ASSIGN_OR_RETURN(files.names, exporter.Export(trace, options, to));
        return files;
      });
}

absl::StatusOr<std::vector<std::string>> RunExporterOnSums(
    const TraceExporter& exporter, const analysis::WindowSums& sums,
    const ExportOptions& options, OutputDirectory& out) {
  return Guarded(exporter, out, [&](OutputDirectory& to) {
    return exporter.ExportSums(sums, options, to);
  });
}

absl::Status WriteWithinMemory(const std::string& path,
                               const std::function<absl::Status()>& write) {
  try {
    return write();
  } catch (const std::bad_alloc&) {
    return NotEnoughMemoryFor(path);
  }
}

}  // namespace kymo
