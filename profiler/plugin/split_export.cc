#include "profiler/plugin/split_export.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/model/trace_slice.h"

namespace kymo {
namespace {

using model::EventIndex;
using model::Trace;
using model::TrackIndex;

constexpr std::string_view kStepPrefix = "ProfilerStep#";

// A step, which lasts until the next one begins.
struct Step {
  std::string number;  // as its name has it
  TimeNs begin_ns = 0;
};

// Steps [first, last).
struct Part {
  size_t first = 0;
  size_t last = 0;
};

// Measures the largest file, and keeps none.
class CountingDirectory : public OutputDirectory {
 public:
  CountingDirectory() : OutputDirectory("") {}
  absl::StatusOr<std::unique_ptr<ByteSink>> Open(std::string_view) override {
    return std::make_unique<Sink>(largest_);
  }
  // It has no folder: of the current one's files, nothing is removed.
  void Remove(std::string_view) noexcept override {}
  int64_t largest() const { return largest_; }

 private:
  class Sink : public ByteSink {
   public:
    explicit Sink(int64_t& largest) : largest_(largest) {}
    absl::Status Append(std::string_view bytes) override {
      bytes_ += static_cast<int64_t>(bytes.size());
      largest_ = std::max(largest_, bytes_);
      return absl::OkStatus();
    }
    absl::Status Commit() override { return absl::OkStatus(); }

   private:
    int64_t& largest_;
    int64_t bytes_ = 0;
  };

  int64_t largest_ = 0;
};

// Writes to `out`, and remembers the largest file.
class MeasuringDirectory : public OutputDirectory {
 public:
  struct File {
    std::string name;
    int64_t bytes = 0;
  };

  explicit MeasuringDirectory(OutputDirectory& out)
      : OutputDirectory(out.path()), out_(out) {}
  absl::StatusOr<std::unique_ptr<ByteSink>> Open(
      std::string_view name) override {
    KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, out_.Open(name));
    return std::make_unique<Sink>(std::string(name), std::move(sink), largest_);
  }
  void Remove(std::string_view name) noexcept override { out_.Remove(name); }
  const File& largest() const { return largest_; }

 private:
  class Sink : public ByteSink {
   public:
    Sink(std::string name, std::unique_ptr<ByteSink> base, File& largest)
        : file_{std::move(name)}, base_(std::move(base)), largest_(largest) {}
    absl::Status Append(std::string_view bytes) override {
      file_.bytes += static_cast<int64_t>(bytes.size());
      return base_->Append(bytes);
    }
    absl::Status Commit() override {
      if (file_.bytes > largest_.bytes) largest_ = file_;
      return base_->Commit();
    }

   private:
    File file_;
    const std::unique_ptr<ByteSink> base_;
    File& largest_;
  };

  OutputDirectory& out_;
  File largest_;
};

// Puts `infix` before the extension of every file: a/trace.json.gz becomes
// a/trace.steps_0-11.json.gz.
class InfixDirectory : public OutputDirectory {
 public:
  InfixDirectory(OutputDirectory& out, std::string infix)
      : OutputDirectory(out.path()), out_(out), infix_(std::move(infix)) {}
  absl::StatusOr<std::unique_ptr<ByteSink>> Open(
      std::string_view name) override {
    names_.push_back(Renamed(name));
    return out_.Open(names_.back());
  }
  void Remove(std::string_view name) noexcept override {
    out_.Remove(Renamed(name));
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  // Viewers recognise a file by its extension, which may have two dots.
  std::string Renamed(std::string_view name) const {
    static constexpr std::string_view kDoubled[] = {".json.gz", ".pftrace.gz",
                                                    ".xplane.pb"};
    size_t dot = name.rfind('.');
    for (const std::string_view extension : kDoubled) {
      if (name.ends_with(extension)) dot = name.size() - extension.size();
    }
    if (dot == std::string_view::npos || dot < name.rfind('/') + 1) {
      dot = name.size();
    }
    return absl::StrCat(ToAbsl(name.substr(0, dot)), ".", infix_,
                        ToAbsl(name.substr(dot)));
  }

  OutputDirectory& out_;
  const std::string infix_;
  std::vector<std::string> names_;
};

std::vector<Step> StepsOfTrack(const Trace& trace, TrackIndex track) {
  std::vector<Step> steps;
  for (EventIndex i = trace.track_begin(track); i < trace.track_end(track);
       ++i) {
    const std::string_view name = trace.EventName(i);
    if (!name.starts_with(kStepPrefix)) continue;
    uint64_t number = 0;
    const std::string text(name.substr(kStepPrefix.size()));
    if (!absl::SimpleAtoi(text, &number)) continue;
    if (!steps.empty() && steps.back().begin_ns == trace.start()[i]) continue;
    steps.push_back({text, trace.start()[i]});
  }
  return steps;
}

std::vector<Step> FindSteps(const Trace& trace) {
  std::vector<Step> most;
  for (TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    std::vector<Step> steps = StepsOfTrack(trace, t);
    if (steps.size() > most.size()) most = std::move(steps);
  }
  return most;
}

class Splitter {
 public:
  Splitter(int64_t max_file_bytes, const TraceExporter& exporter,
           const Trace& trace, const ExportOptions& options,
           OutputDirectory& out)
      : max_file_bytes_(max_file_bytes),
        exporter_(exporter),
        trace_(trace),
        options_(options),
        out_(out),
        steps_(FindSteps(trace)) {
    quiet_ = options;
    quiet_.progress = nullptr;
  }

  absl::StatusOr<SplitFiles> Run() {
    SplitFiles files;
    KYMO_ASSIGN_OR_RETURN(const int64_t bytes, Count(trace_));
    if (bytes <= max_file_bytes_ || steps_.size() < 2) {
      if (bytes > max_file_bytes_) {
        files.notice = absl::StrCat(
            exporter_.info().name, ": could not split the file of ", bytes,
            " bytes: the trace has no steps (ProfilerStep#N)");
      }
      KYMO_ASSIGN_OR_RETURN(files.names,
                            exporter_.Export(trace_, options_, out_));
      return files;
    }
    const size_t parts = static_cast<size_t>(bytes / max_file_bytes_) + 1;
    const size_t each = (steps_.size() + parts - 1) / parts;
    for (size_t first = 0; first < steps_.size(); first += each) {
      KYMO_RETURN_IF_ERROR(
          Plan({first, std::min(first + each, steps_.size())}));
    }
    for (size_t i = 0; i < plan_.size(); ++i) {
      if (const absl::Status status = Write(i, files); !status.ok()) {
        for (const std::string& name : files.names) out_.Remove(name);
        return status;
      }
      if (options_.progress) {
        options_.progress(static_cast<double>(i + 1) /
                          static_cast<double>(plan_.size()));
      }
    }
    files.notice = std::move(notice_);
    return files;
  }

 private:
  absl::StatusOr<int64_t> Count(const Trace& trace) const {
    CountingDirectory counter;
    KYMO_RETURN_IF_ERROR(exporter_.Export(trace, quiet_, counter).status());
    return counter.largest();
  }

  // The part's trace; its metadata say which part it is.
  Trace Slice(const Part& part, size_t number, size_t parts) const {
    constexpr TimeNs kEver = std::numeric_limits<TimeNs>::max();
    constexpr TimeNs kNever = std::numeric_limits<TimeNs>::min();
    model::TraceSlice slice = model::SliceTrace(
        trace_, part.first == 0 ? kNever : steps_[part.first].begin_ns,
        part.last == steps_.size() ? kEver : steps_[part.last].begin_ns);
    model::TraceData data = std::move(slice.trace).Release();
    AddMetadata(
        "kymo_part",
        absl::StrCat("{\"part\": ", number, ", \"parts\": ", parts,
                     ", \"first_step\": ", steps_[part.first].number,
                     ", \"last_step\": ", steps_[part.last - 1].number,
                     ", \"repeated_events\": ", slice.repeated_events, "}"),
        data);
    AddMetadata(
        model::kRecordingKey,
        absl::StrCat("\"", trace_.start_ns(), "-", trace_.end_ns(), "\""),
        data);
    return Trace(std::move(data));
  }

  static void AddMetadata(std::string_view key, std::string_view json,
                          model::TraceData& data) {
    const auto place = std::lower_bound(
        data.metadata.begin(), data.metadata.end(), key,
        [&](const model::Metadata& pair, std::string_view text) {
          return data.strings.Get(pair.key) < text;
        });
    if (place != data.metadata.end() && data.strings.Get(place->key) == key) {
      place->json_value = data.strings.Intern(json);
      return;
    }
    data.metadata.insert(place,
                         {data.strings.Intern(key), data.strings.Intern(json)});
  }

  // Halves a part until its file is small enough.
  absl::Status Plan(const Part& part) {
    // The real file's part numbers are at most as long.
    KYMO_ASSIGN_OR_RETURN(const int64_t bytes,
                          Count(Slice(part, steps_.size(), steps_.size())));
    if (bytes > max_file_bytes_ && part.last - part.first > 1) {
      const size_t middle = part.first + (part.last - part.first) / 2;
      KYMO_RETURN_IF_ERROR(Plan({part.first, middle}));
      return Plan({middle, part.last});
    }
    if (bytes > max_file_bytes_) {
      absl::StrAppend(&notice_, notice_.empty() ? "" : "; ",
                      exporter_.info().name, ": step ",
                      steps_[part.first].number, " alone makes a file of ",
                      bytes, " bytes, and a step cannot be split");
    }
    plan_.push_back(part);
    return absl::OkStatus();
  }

  absl::Status Write(size_t index, SplitFiles& files) {
    const Part& part = plan_[index];
    InfixDirectory out(out_, absl::StrCat("steps_", steps_[part.first].number,
                                          "-", steps_[part.last - 1].number));
    KYMO_RETURN_IF_ERROR(
        exporter_.Export(Slice(part, index + 1, plan_.size()), quiet_, out)
            .status());
    files.names.insert(files.names.end(), out.names().begin(),
                       out.names().end());
    return absl::OkStatus();
  }

  const int64_t max_file_bytes_;
  const TraceExporter& exporter_;
  const Trace& trace_;
  const ExportOptions& options_;
  OutputDirectory& out_;
  const std::vector<Step> steps_;
  ExportOptions quiet_;  // without progress
  std::vector<Part> plan_;
  std::string notice_;
};

}  // namespace

absl::StatusOr<SplitFiles> ExportWithin(int64_t max_file_bytes,
                                        const TraceExporter& exporter,
                                        const Trace& trace,
                                        const ExportOptions& options,
                                        OutputDirectory& out) {
  if (!exporter.info().splits_by_step) {
    SplitFiles files;
    MeasuringDirectory measured(out);
    KYMO_ASSIGN_OR_RETURN(files.names,
                          exporter.Export(trace, options, measured));
    if (measured.largest().bytes > max_file_bytes) {
      files.notice =
          absl::StrCat(exporter.info().name, ": '", measured.largest().name,
                       "' has ", measured.largest().bytes,
                       " bytes: this format cannot be split at steps");
    }
    return files;
  }
  return Splitter(max_file_bytes, exporter, trace, options, out).Run();
}

}  // namespace kymo
