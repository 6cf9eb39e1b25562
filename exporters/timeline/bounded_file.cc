#include "exporters/timeline/bounded_file.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exporters/timeline/fold_ranges.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/thread_states.h"

namespace kymo::timeline {
namespace {

using model::Trace;

// Bytes up to which a file that is too large is measured, in its allowed size.
constexpr uint64_t kMostMeasured = 16;

// Counts bytes and passes up to `max_bytes` of them on. Of a file with more, it
// drops the rest, and returns an error where `max_measured` end.
class BoundedSink final : public ByteSink {
 public:
  BoundedSink(std::unique_ptr<ByteSink> base, uint64_t max_bytes,
              uint64_t max_measured, uint64_t& bytes)
      : base_(std::move(base)),
        max_bytes_(max_bytes),
        max_measured_(max_measured),
        bytes_(bytes) {}

  absl::Status Append(std::string_view bytes) override {
    bytes_ += bytes.size();
    if (bytes_ > max_measured_) return TooLarge();
    return bytes_ > max_bytes_ ? absl::OkStatus() : base_->Append(bytes);
  }
  absl::Status Commit() override {
    return bytes_ > max_bytes_ ? TooLarge() : base_->Commit();
  }

 private:
  static absl::Status TooLarge() {
    return absl::OutOfRangeError("the file is larger than allowed");
  }

  const std::unique_ptr<ByteSink> base_;
  const uint64_t max_bytes_;
  const uint64_t max_measured_;
  uint64_t& bytes_;
};

class Attempts {
 public:
  Attempts(const BoundedFile& file, const ExportOptions& options,
           OutputDirectory& out, const WriteText& write)
      : file_(file),
        gzip_name_(file.name + ".gz"),
        folded_name_(file.compresses ? gzip_name_ : file.name),
        options_(options),
        out_(out),
        write_(write) {}

  absl::StatusOr<std::string> Run(const Trace& trace) {
    KYMO_ASSIGN_OR_RETURN(std::string name, WriteSome(trace));
    if (!file_.compresses) return name;
    // An earlier run may have left the file in its other form.
    out_.Remove(name == gzip_name_ ? file_.name : gzip_name_);
    return name;
  }

 private:
  static constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();

  absl::StatusOr<std::string> WriteSome(const Trace& trace) {
    if (file_.max_bytes == 0) {
      return Write(trace, {.name = options_.gzip ? folded_name_ : file_.name},
                   kAny, kAny);
    }
    if (file_.compresses && !options_.gzip &&
        file_.least_bytes <= file_.max_bytes &&
        trace.event_count() <= file_.max_bytes / file_.least_event_bytes) {
      const auto name =
          Write(trace, {.name = file_.name}, file_.max_bytes, file_.max_bytes);
      if (bytes_ <= file_.max_bytes) return name;
    }
    const auto name = WriteBounded(trace, {.name = folded_name_});
    return bytes_ <= file_.max_bytes ? name : WriteFolded(trace);
  }

  // Sets bytes_ to the size of the file, or to what was measured of it.
  absl::StatusOr<std::string> Write(const Trace& trace, const FileForm& form,
                                    uint64_t max_bytes, uint64_t max_measured) {
    bytes_ = 0;
    KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, out_.Open(form.name));
    sink = std::make_unique<BoundedSink>(std::move(sink), max_bytes,
                                         max_measured, bytes_);
    if (form.name != file_.name) sink = NewGzipSink(std::move(sink));
    KYMO_RETURN_IF_ERROR(write_(trace, form, *sink));
    KYMO_RETURN_IF_ERROR(sink->Commit());
    return form.name;
  }
  absl::StatusOr<std::string> WriteBounded(const Trace& trace,
                                           const FileForm& form) {
    return Write(trace, form, file_.max_bytes, MostMeasured());
  }

  uint64_t MostMeasured() const {
    return file_.max_bytes > kAny / kMostMeasured
               ? kAny
               : file_.max_bytes * kMostMeasured;
  }

  // REQUIRES: bytes_ is of the attempt with `fold`, and too large. `growth`
  // sees to an end where folding helps little.
  size_t NextFold(size_t fold, size_t growth) const {
    const size_t ratio = std::min(bytes_, MostMeasured()) / file_.max_bytes + 1;
    return fold * std::max(growth, ratio);
  }

  absl::StatusOr<std::string> WriteFolded(const Trace& trace) {
    const size_t waits = trace.thread_states() == nullptr
                             ? 0
                             : trace.thread_states()->waits.size();
    const size_t most = trace.event_count() + trace.samples().size() +
                        trace.memory().size() + waits;
    std::optional<FoldedTrace> folded;
    FileForm form = {.name = folded_name_};
    const Trace* shown = &trace;
    size_t growth = 2;
    for (int idle = 0; idle < 2 && form.fold <= most; growth *= 2) {
      const uint64_t bytes = bytes_;
      const size_t fold = NextFold(form.fold, growth);
      FoldedTrace next = FoldShortRanges(trace, trace.event_count() / fold);
      const bool has_fewer = next.trace.event_count() < shown->event_count();
      if (!has_fewer && !file_.obeys_fold) break;
      form.fold = fold;
      form.folded_ranges = next.ranges;
      folded.emplace(std::move(next));
      shown = &folded->trace;
      const auto name = WriteBounded(*shown, form);
      if (bytes_ <= file_.max_bytes) {
        KYMO_RETURN_IF_ERROR(name.status());
        Note(form, trace);
        return name;
      }
      // More than is measured may have become less.
      const bool is_less = bytes_ < bytes || bytes_ > MostMeasured();
      idle = has_fewer || is_less ? 0 : idle + 1;
    }
    KYMO_ASSIGN_OR_RETURN(std::string name, Write(*shown, form, kAny, kAny));
    Note(form, trace);
    return name;
  }

  // Of a file that was folded, or is too large.
  void Note(const FileForm& form, const Trace& trace) {
    if (options_.notes == nullptr) return;
    // Two files may fold the same ranges.
    model::LossLedger& ledger = options_.notes->ledger;
    const uint64_t known = ledger.Get(model::Loss::kEventsFolded);
    ledger.Add(model::Loss::kEventsFolded,
               std::max(form.folded_ranges, known) - known);
    if (form.folded_ranges > 0) {
      options_.notes->notices.push_back(absl::StrCat(
          form.name, ": ", form.folded_ranges, " of ", trace.event_count(),
          " ranges are folded into others of their name, to stay "
          "within --max_size; 0 shows each of them"));
    }
    if (bytes_ > file_.max_bytes) {
      options_.notes->notices.push_back(absl::StrCat(
          form.name, " has ", bytes_, " bytes, more than its ", file_.max_bytes,
          " of --max_size: nothing ", form.fold > 1 ? "more of it" : "of it",
          " can be folded"));
    }
  }

  const BoundedFile& file_;
  const std::string gzip_name_;
  const std::string folded_name_;  // what a file that is too large is called
  const ExportOptions& options_;
  OutputDirectory& out_;
  const WriteText& write_;
  uint64_t bytes_ = 0;  // of the latest attempt
};

}  // namespace

absl::StatusOr<std::string> WriteBounded(const BoundedFile& file,
                                         const Trace& trace,
                                         const ExportOptions& options,
                                         OutputDirectory& out,
                                         const WriteText& write) {
  return Attempts(file, options, out, write).Run(trace);
}

}  // namespace kymo::timeline
