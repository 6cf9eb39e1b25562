#include "exporters/timeline/bounded_file.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exporters/timeline/fold_ranges.h"
#include "profiler/base/status_macros.h"

namespace kymo::timeline {
namespace {

using model::Trace;

// No event has a shorter text, in any format.
constexpr uint64_t kLeastEventBytes = 40;

// Passes up to `max_bytes` on, and then sets `is_full` and returns an error.
class BoundedSink final : public ByteSink {
 public:
  BoundedSink(std::unique_ptr<ByteSink> base, uint64_t max_bytes, bool& is_full)
      : base_(std::move(base)), left_(max_bytes), is_full_(is_full) {}

  absl::Status Append(std::string_view bytes) override {
    if (bytes.size() > left_) {
      is_full_ = true;
      return absl::OutOfRangeError("the file is larger than allowed");
    }
    left_ -= bytes.size();
    return base_->Append(bytes);
  }
  absl::Status Commit() override { return base_->Commit(); }

 private:
  const std::unique_ptr<ByteSink> base_;
  uint64_t left_;
  bool& is_full_;
};

class Attempts {
 public:
  Attempts(const BoundedFile& file, const ExportOptions& options,
           OutputDirectory& out, const WriteText& write)
      : file_(file), options_(options), out_(out), write_(write) {}

  absl::StatusOr<std::string> Run(const Trace& trace) {
    const std::string gzip_name = file_.name + ".gz";
    if (file_.max_bytes == 0) {
      FileForm form = {.name = options_.gzip ? gzip_name : file_.name};
      return Write(trace, form, /*is_bounded=*/false);
    }
    if (!options_.gzip &&
        trace.event_count() <= file_.max_bytes / kLeastEventBytes) {
      const auto name = Write(trace, {.name = file_.name}, true);
      if (!is_full_) return name;
    }
    const auto name = Write(trace, {.name = gzip_name}, true);
    if (!is_full_) return name;
    return WriteFolded(trace, gzip_name);
  }

 private:
  absl::StatusOr<std::string> Write(const Trace& trace, const FileForm& form,
                                    bool is_bounded) {
    is_full_ = false;
    KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, out_.Open(form.name));
    if (is_bounded) {
      sink = std::make_unique<BoundedSink>(std::move(sink), file_.max_bytes,
                                           is_full_);
    }
    if (form.name != file_.name) sink = NewGzipSink(std::move(sink));
    KYMO_RETURN_IF_ERROR(write_(trace, form, *sink));
    KYMO_RETURN_IF_ERROR(sink->Commit());
    return form.name;
  }

  absl::StatusOr<std::string> WriteFolded(const Trace& trace,
                                          const std::string& name) {
    const size_t most = trace.event_count() + trace.samples().size();
    for (size_t fold = 2;; fold *= 2) {
      const bool is_last = fold > most;
      const FoldedTrace folded =
          FoldShortRanges(trace, trace.event_count() / fold);
      const FileForm form = {
          .name = name, .fold = fold, .folded_ranges = folded.ranges};
      const auto written = Write(folded.trace, form, !is_last);
      if (is_full_) continue;
      KYMO_RETURN_IF_ERROR(written.status());
      Note(folded.ranges, trace.event_count(), name, is_last);
      return written;
    }
  }

  void Note(uint64_t ranges, size_t events, const std::string& name,
            bool is_too_large) {
    if (options_.notes == nullptr) return;
    // Two files may fold the same ranges.
    model::LossLedger& ledger = options_.notes->ledger;
    const uint64_t known = ledger.Get(model::Loss::kEventsFolded);
    ledger.Add(model::Loss::kEventsFolded, std::max(ranges, known) - known);
    options_.notes->notices.push_back(
        absl::StrCat(name, ": ", ranges, " of ", events,
                     " ranges are folded into others of their name",
                     is_too_large ? ", and it is still larger than --max_size"
                                  : ", to stay within --max_size",
                     "; 0 shows each of them"));
  }

  const BoundedFile& file_;
  const ExportOptions& options_;
  OutputDirectory& out_;
  const WriteText& write_;
  bool is_full_ = false;
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
