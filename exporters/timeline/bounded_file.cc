#include "exporters/timeline/bounded_file.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "exporters/timeline/fold_ranges.h"
#include "exporters/timeline/thin_trace.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/trace_slice.h"

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

// Counts bytes.
class CountingSink final : public ByteSink {
 public:
  explicit CountingSink(uint64_t& bytes) : bytes_(bytes) {}

  absl::Status Append(std::string_view bytes) override {
    bytes_ += bytes.size();
    return absl::OkStatus();
  }
  absl::Status Commit() override { return absl::OkStatus(); }

 private:
  uint64_t& bytes_;
};

// Some of many events, from all over the trace, and nothing else. Neighbours
// have much in common, and compress well together.
struct EventSample {
  static constexpr size_t kRunEvents = 1024;
  static constexpr size_t kRuns = 32;

  explicit EventSample(const Trace& trace) : keep(trace.event_count()) {
    const size_t step = keep.size() / kRuns;
    for (size_t i = 0; i < keep.size(); ++i) {
      keep[i] = i % step < kRunEvents;
      count += keep[i];
    }
  }

  std::vector<uint8_t> keep;  // by event
  size_t count = 0;
};

// Of a trace with fewer events, an attempt takes less time than a sample.
constexpr size_t kFewEvents = 200'000;

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
    // An earlier run may have left the file, or its other form.
    if (name != file_.name) out_.Remove(file_.name);
    if (name != gzip_name_ && file_.compresses) out_.Remove(gzip_name_);
    return name;
  }

 private:
  static constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
  // A sample may be wrong by a few percent.
  static constexpr double kSure = 0.9;

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
    KYMO_RETURN_IF_ERROR(SampleEvents(trace));
    bytes_ = static_cast<uint64_t>(LeastBytes(trace.event_count()) +
                                   kSure * static_cast<double>(of_others_));
    if (bytes_ <= file_.max_bytes) {
      const auto name = WriteBounded(trace, {.name = folded_name_});
      if (bytes_ <= file_.max_bytes) return name;
    }
    if (file_.keeps_ranges) {
      const size_t fold = file_.obeys_fold ? NextFold(1, 2) : 1;
      return Write(trace, {.name = folded_name_, .fold = fold}, kAny, kAny);
    }
    return WriteSmaller(trace);
  }

  // How many bytes an event of a large trace takes at least.
  absl::Status SampleEvents(const Trace& trace) {
    if (trace.event_count() < kFewEvents) return absl::OkStatus();
    const EventSample sample(trace);
    uint64_t bytes = 0;
    KYMO_RETURN_IF_ERROR(Measure(trace, sample.keep, bytes));
    KYMO_RETURN_IF_ERROR(
        Measure(trace, std::vector<uint8_t>(sample.keep.size()), of_others_));
    least_of_event_ = kSure *
                      static_cast<double>(bytes - std::min(bytes, of_others_)) /
                      static_cast<double>(sample.count);
    return absl::OkStatus();
  }

  double LeastBytes(size_t events) const {
    return least_of_event_ * static_cast<double>(events);
  }

  // Whether so many events leave no room, even without anything else.
  // REQUIRES: bytes_ is of a file with all of them.
  bool AreEventsTooMany(size_t events) const {
    if (least_of_event_ == 0) return false;  // not known
    return bytes_ > file_.max_bytes + of_others_ ||
           LeastBytes(events) > static_cast<double>(file_.max_bytes);
  }

  absl::Status Measure(const Trace& trace, const std::vector<uint8_t>& keep,
                       uint64_t& bytes) {
    const Trace part = model::SelectEvents(
        trace, keep, std::vector<bool>(trace.tracks().size(), true),
        [](model::TrackIndex, TimeNs) { return false; });
    std::unique_ptr<ByteSink> sink = std::make_unique<CountingSink>(bytes);
    if (file_.compresses) sink = NewGzipSink(std::move(sink));
    KYMO_RETURN_IF_ERROR(write_(part, {.name = folded_name_}, *sink));
    return sink->Commit();
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

  absl::StatusOr<std::string> WriteSmaller(const Trace& trace) {
    const uint64_t whole_bytes = bytes_;
    FileForm form = {.name = folded_name_};
    std::optional<FoldedTrace> folded;
    for (const Foldable what : {Foldable::kPlain, Foldable::kAny}) {
      bytes_ = whole_bytes;
      KYMO_ASSIGN_OR_RETURN(const bool fits, Fold(trace, what, form, folded));
      if (fits) return Noted(form, trace);
    }
    const Trace& shown = folded ? folded->trace : trace;
    KYMO_ASSIGN_OR_RETURN(const bool fits, Thin(shown, form));
    if (fits) return Noted(form, trace);
    if (options_.notes != nullptr) {
      NoteLoss(model::Loss::kTimelineLeftOut, RecordCount(trace));
      options_.notes->notices.push_back(absl::StrCat(
          file_.name, " is left out: even without records it would have ",
          bytes_, " bytes, and its part of --max_size is ", file_.max_bytes,
          "; --max_size=0 writes it"));
    }
    return std::string();
  }

  // Folds ever more of the trace. Returns whether the file fits. If not,
  // `folded` is what was tried last, if anything helped.
  absl::StatusOr<bool> Fold(const Trace& trace, Foldable what, FileForm& form,
                            std::optional<FoldedTrace>& folded) {
    RangeFolder folder(trace, what);
    const size_t least = folder.Plan(0);
    size_t shown = folded ? folded->trace.event_count() : trace.event_count();
    if (!IsMuchLess(least, shown) &&
        (what == Foldable::kAny || !file_.obeys_fold ||
         AreEventsTooMany(shown))) {
      return false;
    }
    if (LeastBytes(least) > static_cast<double>(file_.max_bytes)) return false;
    const size_t most = RecordCount(trace);
    size_t growth = 2;
    size_t fold = 1;
    for (int idle = 0; idle < 2 && fold <= most; growth *= 2) {
      const uint64_t bytes = bytes_;
      fold = NextFold(fold, growth);
      const size_t left = folder.Plan(trace.event_count() / fold);
      const bool has_fewer = IsMuchLess(left, shown);
      if (!has_fewer && !file_.obeys_fold) continue;
      if (has_fewer) {
        folded.emplace(folder.Make());
        shown = left;
        form.folded_ranges = folded->ranges;
        form.without_details = folded->without_details;
      }
      form.fold = fold;
      const absl::Status status =
          WriteBounded(folded ? folded->trace : trace, form).status();
      if (bytes_ <= file_.max_bytes) {
        KYMO_RETURN_IF_ERROR(status);
        return true;
      }
      // More than is measured may have become less.
      const bool is_less = IsMuchLess(bytes_, bytes) || bytes_ > MostMeasured();
      idle = is_less ? 0 : idle + 1;
    }
    return false;
  }

  static bool IsMuchLess(uint64_t less, uint64_t than) {
    return less < than - than / 16;
  }

  // Leaves ever more out. Returns whether the file fits.
  absl::StatusOr<bool> Thin(const Trace& trace, FileForm& form) {
    const size_t most = RecordCount(trace);
    constexpr size_t kMostFold = 1'000'000'000;  // fits as a factor of times
    const size_t fold = std::max<size_t>(form.fold, 2);
    uint64_t divisor = 1;
    for (size_t growth = 2; divisor != kNothing; growth *= 2) {
      divisor = NextFold(divisor, growth);
      if (divisor > most) divisor = kNothing;
      const ThinnedTrace thinned = ThinTrace(trace, divisor);
      form.left_out = thinned.left_out;
      form.fold = std::max(fold, std::min(kMostFold / fold, divisor) * fold);
      const absl::Status status = WriteBounded(thinned.trace, form).status();
      if (bytes_ <= file_.max_bytes) {
        KYMO_RETURN_IF_ERROR(status);
        return true;
      }
    }
    return false;
  }

  // Two files may fold and leave out the same.
  void NoteLoss(model::Loss loss, uint64_t count) {
    model::LossLedger of_file;
    of_file.Add(loss, count);
    options_.notes->ledger.MergeEqual(of_file);
  }

  // Says what the file does not show. Returns its name.
  std::string Noted(const FileForm& form, const Trace& trace) {
    if (options_.notes == nullptr) return form.name;
    NoteLoss(model::Loss::kEventsFolded, form.folded_ranges);
    NoteLoss(model::Loss::kTimelineLeftOut,
             form.left_out + form.without_details);
    std::vector<std::string>& notices = options_.notes->notices;
    if (form.folded_ranges > 0) {
      notices.push_back(absl::StrCat(
          form.name, ": ", form.folded_ranges, " of ", trace.event_count(),
          " ranges are folded into others of their name, to stay "
          "within --max_size; 0 shows each of them"));
    }
    if (form.without_details > 0) {
      notices.push_back(absl::StrCat(
          form.name, ": ", form.without_details,
          " of the folded ranges had arguments, stacks or links, which are "
          "left out"));
    }
    if (form.left_out > 0) {
      notices.push_back(absl::StrCat(
          form.name, ": ", form.left_out, " ", WhatIsLeftOut(trace),
          " are left out, to stay within --max_size; 0 shows each of them"));
    }
    return form.name;
  }

  // "ranges, marks and samples", of what the trace has.
  static std::string WhatIsLeftOut(const Trace& trace) {
    std::vector<std::string> kinds;
    if (trace.event_count() != 0) kinds = {"ranges", "marks"};
    if (!trace.counters().empty()) kinds.push_back("values of counters");
    if (trace.has_samples()) kinds.push_back("samples");
    if (trace.thread_states() != nullptr) kinds.push_back("waits");
    if (!trace.memory().empty()) kinds.push_back("records of memory");
    const std::string last = kinds.empty() ? "records" : kinds.back();
    if (kinds.size() < 2) return last;
    kinds.pop_back();
    return absl::StrCat(absl::StrJoin(kinds, ", "), " and ", last);
  }

  const BoundedFile& file_;
  const std::string gzip_name_;
  const std::string folded_name_;  // what a file that is too large is called
  const ExportOptions& options_;
  OutputDirectory& out_;
  const WriteText& write_;
  uint64_t bytes_ = 0;         // of the latest attempt
  double least_of_event_ = 0;  // bytes; 0: not known
  uint64_t of_others_ = 0;     // bytes of all that is no event, if it is known
};

}  // namespace

model::LossLedger LedgerOf(const Trace& trace, const FileForm& form) {
  model::LossLedger ledger = trace.ledger();
  ledger.Add(model::Loss::kEventsFolded, form.folded_ranges);
  ledger.Add(model::Loss::kTimelineLeftOut,
             form.left_out + form.without_details);
  return ledger;
}

absl::StatusOr<std::string> WriteBounded(const BoundedFile& file,
                                         const Trace& trace,
                                         const ExportOptions& options,
                                         OutputDirectory& out,
                                         const WriteText& write) {
  return Attempts(file, options, out, write).Run(trace);
}

}  // namespace kymo::timeline
