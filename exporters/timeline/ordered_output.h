// ordered_output.h - writes text in order that many threads make.
//
//   OrderedOutput output(*sink, total_items, options.progress);
//   KYMO_RETURN_IF_ERROR(output.Run(events, [&](size_t begin, size_t end,
//                                               std::string& out) { ... }));
//
// Items are formatted in ranges. While one batch of ranges is formatted, the
// batch before it is written. The text of the last batch decides how many items
// the next ranges get. Two batches are in memory at a time, which is about 2 *
// kBatchRanges * kRangeBytes = 32 MiB.
//
// Threads: call Run from one thread at a time; it works on all cores. Errors:
//   Run returns the first error of the sink and writes nothing after it.
#ifndef KYMO_EXPORTERS_TIMELINE_ORDERED_OUTPUT_H_
#define KYMO_EXPORTERS_TIMELINE_ORDERED_OUTPUT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "profiler/base/parallel.h"
#include "profiler/plugin/sink.h"

namespace kymo::timeline {

class OrderedOutput {
 public:
  static constexpr size_t kFirstRangeItems = 256;
  static constexpr size_t kMaxRangeItems = 4096;
  static constexpr size_t kRangeBytes = size_t{1} << 20;
  static constexpr size_t kBatchRanges = 16;

  // `progress` gets the share of `total_items` that is done. It may be empty.
  OrderedOutput(ByteSink& sink, size_t total_items,
                std::function<void(double)> progress)
      : sink_(sink),
        total_items_(total_items),
        progress_(std::move(progress)) {}

  // Calls format(begin, end, out), on any thread, for ranges that together
  // cover [0, n). `format` appends to `out`.
  template <typename Format>
  absl::Status Run(size_t n, const Format& format) {
    Batch now;
    Batch before;
    absl::Status status;
    size_t range_items = kFirstRangeItems;
    for (size_t first = 0; first < n && status.ok();) {
      const size_t items = std::min(range_items * kBatchRanges, n - first);
      const size_t ranges = ParallelRangeCount(items, range_items);
      // But for the first batch, task 0 writes. No other task touches the sink
      // or the batch before.
      const size_t writers = first == 0 ? 0 : 1;
      ParallelForEach(ranges + writers, [&](size_t task) {
        if (task < writers) {
          status = Write(before);
          return;
        }
        const size_t range = task - writers;
        const size_t begin = first + range * range_items;
        format(begin, std::min(begin + range_items, first + items), now[range]);
      });
      range_items = RangeItems(items, now);
      first += items;
      std::swap(now, before);
      Report(items);
    }
    if (status.ok()) status = Write(before);
    return status;
  }

 private:
  using Batch = std::array<std::string, kBatchRanges>;

  // The items for a range of the next batch, if `items` items made the text of
  // this batch.
  static size_t RangeItems(size_t items, const Batch& batch) {
    size_t bytes = 1;
    for (const std::string& text : batch) bytes += text.size();
    return std::clamp(kRangeBytes * items / bytes, size_t{1}, kMaxRangeItems);
  }

  // Empties the buffers and keeps their memory.
  absl::Status Write(Batch& batch) {
    absl::Status status;
    for (std::string& text : batch) {
      if (status.ok() && !text.empty()) status = sink_.Append(text);
      text.clear();
    }
    return status;
  }

  void Report(size_t items) {
    done_items_ += items;
    if (progress_) {
      progress_(static_cast<double>(done_items_) /
                static_cast<double>(std::max(total_items_, done_items_)));
    }
  }

  ByteSink& sink_;
  const size_t total_items_;
  size_t done_items_ = 0;
  const std::function<void(double)> progress_;
};

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_ORDERED_OUTPUT_H_
