#include "profiler/report/memory_report.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/memory/allocation_frames.h"
#include "profiler/analysis/memory/memory_device.h"
#include "profiler/base/strings.h"
#include "profiler/base/time.h"
#include "profiler/report/allocation_stack.h"
#include "profiler/text/text_cells.h"

namespace kymo::report {
namespace {

using analysis::MemoryDetail;
using analysis::MemoryGroup;
using analysis::MemoryProfile;
using analysis::MemoryStep;
using analysis::StackMemory;
using model::MemorySource;

constexpr size_t kLabelWidth = 18;
constexpr size_t kCountWidth = 12;
constexpr size_t kBytesWidth = 12;
constexpr size_t kShareWidth = 8;
constexpr char kFrameIndent[] = "          ";

std::string Blocks(int64_t count) {
  return absl::StrCat(count, count == 1 ? " block" : " blocks");
}

// Whether records were lost, so that lists of what is alive may contain freed
// blocks.
bool RecordsWereLost(const model::LossLedger& ledger) {
  constexpr model::Loss kLosses[] = {
      model::Loss::kEventsDroppedArenaFull, model::Loss::kMemoryRecordsLeftOut,
      model::Loss::kEventsOverwritten, model::Loss::kDrainBytesLost};
  return std::any_of(std::begin(kLosses), std::end(kLosses),
                     [&](model::Loss loss) { return ledger.Get(loss) != 0; });
}

class Section {
 public:
  Section(const model::Trace& trace, const MemoryProfile& profile,
          const MemoryReportOptions& options, std::string& out)
      : trace_(trace), profile_(profile), options_(options), out_(out) {}

  void Append() {
    AppendTitle();
    AppendTotals();
    if (profile_.detail == MemoryDetail::kCounts) return;
    AppendPeak();
    AppendLeaks();
    AppendSteps();
  }

 private:
  void AppendTitle() {
    const analysis::MemoryPool& pool = profile_.pool;
    absl::StrAppend(&out_, "Memory of ");
    const std::string_view name =
        pool.process == analysis::kNoProcess
            ? std::string_view()
            : trace_.Name(trace_.processes()[pool.process].name);
    if (name.empty()) {
      absl::StrAppend(&out_, "process ", pool.pid, ", ");
    } else {
      absl::StrAppend(&out_, ToAbsl(name), " (process ", pool.pid, "), ");
    }
    switch (pool.source) {
      case MemorySource::kHeap:
        absl::StrAppend(&out_, "heap");
        break;
      case MemorySource::kMapped:
        absl::StrAppend(&out_, "mappings");
        break;
      case MemorySource::kReported:
        absl::StrAppend(&out_, "as reported, ",
                        analysis::MemoryDeviceName(
                            {static_cast<DeviceType>(pool.device_type),
                             pool.device_index}));
        break;
    }
    if (profile_.detail == MemoryDetail::kSamples) {
      absl::StrAppend(&out_, ", estimated from samples");
    }
    absl::StrAppend(&out_, "\n");
  }

  // Appends one line of totals; empty texts leave their cells blank.
  void AppendTotal(std::string_view label, std::string_view count,
                   std::string_view bytes, std::string_view remark = {}) {
    absl::StrAppend(&out_, "  ");
    AppendPadded(out_, label, kLabelWidth, Align::kLeft);
    AppendPadded(out_, count, kCountWidth, Align::kRight);
    if (!bytes.empty()) AppendPadded(out_, bytes, kBytesWidth, Align::kRight);
    if (!remark.empty()) absl::StrAppend(&out_, "  ", ToAbsl(remark));
    absl::StrAppend(&out_, "\n");
  }

  void AppendTotals() {
    const analysis::MemoryTotals& totals = profile_.totals;
    const auto count = [](int64_t n) { return std::to_string(n); };
    AppendTotal("Allocated", count(totals.allocations),
                FormatBytes(totals.allocated_bytes));
    const bool is_counted = profile_.detail == MemoryDetail::kCounts;
    AppendTotal("Freed", count(totals.frees),
                is_counted ? "" : FormatBytes(totals.freed_bytes));
    if (is_counted) return;
    AppendTotal("Alive at the end", count(totals.allocations - totals.frees),
                FormatBytes(totals.alive_bytes));
    if (profile_.detail == MemoryDetail::kRecords && totals.allocations > 0) {
      AppendTotal("Temporary", count(profile_.temporary.count),
                  FormatBytes(profile_.temporary.bytes),
                  absl::StrCat(
                      "(",
                      FormatShare(static_cast<double>(profile_.temporary.count),
                                  static_cast<double>(totals.allocations)),
                      " of allocations)"));
    }
    if (totals.out_of_memory != 0) {
      AppendTotal("Out of memory", count(totals.out_of_memory), "");
    }
  }

  void AppendPeak() {
    const analysis::MemoryPeak& peak = profile_.peak;
    if (peak.bytes == 0) return;
    const double us =
        static_cast<double>(peak.time_ns - trace_.start_ns()) / kNsPerUs;
    AppendTotal("Peak", "", FormatBytes(peak.bytes),
                absl::StrCat("at ", FormatTime(us, ""), " of the recording"));
    if (profile_.peak_by_function.size() < peak.by_stack.size()) {
      AppendNames("Peak by function", profile_.peak_by_function, "[no stack]");
    }
    AppendStacks("Peak by stack", peak.by_stack, peak.bytes);
    const bool has_operations =
        std::any_of(peak.by_operation.begin(), peak.by_operation.end(),
                    [](auto& group) { return group.id != model::kEmptyName; });
    if (!has_operations) return;
    AppendNames("Peak by operation", peak.by_operation,
                "[outside of operations]");
  }

  // Appends what the peak is made of. `no_name` stands for kEmptyName.
  template <typename Group>
  void AppendNames(std::string_view title, const std::vector<Group>& groups,
                   std::string_view no_name) {
    AppendGroups(title, groups, profile_.peak.bytes, [&](const Group& group) {
      const std::string_view name =
          group.id == model::kEmptyName ? no_name : trace_.Name(group.id);
      absl::StrAppend(&out_, "  ", ToAbsl(name), "\n");
    });
  }

  void AppendLeaks() {
    if (profile_.runtime_kept.count != 0) {
      absl::StrAppend(&out_, "  The C and C++ runtime keeps ",
                      FormatBytes(profile_.runtime_kept.bytes), " in ",
                      Blocks(profile_.runtime_kept.count), " for itself.\n");
    }
    if (profile_.leaks.empty()) {
      if (WasAllFreed()) {
        absl::StrAppend(
            &out_, "  Nothing leaked: all ",
            profile_.runtime_kept.count != 0 ? "else" : "that was allocated",
            " has been freed.\n");
      }
      return;
    }
    int64_t bytes = 0;
    for (const StackMemory& leak : profile_.leaks) bytes += leak.bytes;
    AppendStacks(
        "Not freed when the recording ended (leaks, and what was still in use)",
        profile_.leaks, bytes);
    if (RecordsWereLost(trace_.ledger())) {
      absl::StrAppend(&out_,
                      "    Records were lost, maybe those of frees: see what "
                      "the trace lacks.\n");
    }
  }

  // A pool may have no list of leaks for another reason: all its allocations
  // failed, or what is alive has no address, so that nobody knows its frees.
  bool WasAllFreed() const {
    return profile_.totals.allocations != 0 &&
           profile_.totals.alive_bytes <= profile_.runtime_kept.bytes;
  }

  // Appends the first `groups` (largest first), and one line for all beyond the
  // limit.
  template <typename Group, typename AppendRest>
  void AppendGroups(std::string_view title, const std::vector<Group>& groups,
                    int64_t all_bytes, const AppendRest& append_rest) {
    absl::StrAppend(&out_, "  ", ToAbsl(title), "\n");
    const size_t shown = std::min(groups.size(), options_.group_limit);
    Group others;
    for (size_t i = 0; i < groups.size(); ++i) {
      if (i < shown) {
        AppendGroup(groups[i].count, groups[i].bytes, all_bytes);
        append_rest(groups[i]);
      } else {
        others.count += groups[i].count;
        others.bytes += groups[i].bytes;
      }
    }
    if (shown == groups.size()) return;
    AppendGroup(others.count, others.bytes, all_bytes);
    absl::StrAppend(&out_, "  [", groups.size() - shown, " others]\n");
  }

  void AppendGroup(int64_t count, int64_t bytes, int64_t all_bytes) {
    AppendPadded(out_, FormatBytes(bytes), kBytesWidth + 2, Align::kRight);
    AppendPadded(
        out_,
        ShareOrDash(static_cast<double>(bytes), static_cast<double>(all_bytes)),
        kShareWidth + 1, Align::kRight);
    absl::StrAppend(&out_, "  ", Blocks(count));
  }

  // Appends the stacks; a single line if no allocation has a stack.
  void AppendStacks(std::string_view title,
                    const std::vector<StackMemory>& stacks, int64_t all_bytes) {
    analysis::AllocationFrames frames(trace_);
    AppendGroups(title, stacks, all_bytes, [&](const StackMemory& group) {
      if (group.id == model::kEmptyStack) {
        absl::StrAppend(&out_, "  [no stack]\n");
      } else {
        absl::StrAppend(&out_, "\n");
        for (const std::string& frame :
             AllocationStack(trace_, frames, group.id, options_.frame_limit)) {
          absl::StrAppend(&out_, kFrameIndent, frame, "\n");
        }
      }
    });
  }

  void AppendSteps() {
    const std::vector<MemoryStep>& steps = profile_.steps;
    if (steps.empty()) return;
    absl::StrAppend(&out_, "  ");
    AppendPadded(out_, "Steps", kLabelWidth, Align::kLeft);
    for (const char* title : {"growth", "allocations", "allocated"}) {
      AppendPadded(out_, title, kBytesWidth + 1, Align::kRight);
    }
    absl::StrAppend(&out_, "\n");
    AppendStep(absl::StrCat("  first, #", steps.front().number), steps.front(),
               1);
    AppendStep(absl::StrCat("  last, #", steps.back().number), steps.back(), 1);
    MemoryStep sum;
    for (const MemoryStep& step : steps) {
      sum.live_end_bytes += step.live_end_bytes - step.live_begin_bytes;
      sum.allocations += step.allocations;
      sum.allocated_bytes += step.allocated_bytes;
    }
    AppendStep(absl::StrCat("  mean of ", steps.size()), sum,
               static_cast<int64_t>(steps.size()));
  }

  // Appends a step's numbers, or the mean of `count` steps whose sums are
  // given.
  void AppendStep(std::string_view label, const MemoryStep& step,
                  int64_t count) {
    absl::StrAppend(&out_, "  ");
    AppendPadded(out_, label, kLabelWidth, Align::kLeft);
    for (const std::string& cell :
         {FormatBytes((step.live_end_bytes - step.live_begin_bytes) / count),
          std::to_string(step.allocations / count),
          FormatBytes(step.allocated_bytes / count)}) {
      AppendPadded(out_, cell, kBytesWidth + 1, Align::kRight);
    }
    absl::StrAppend(&out_, "\n");
  }

  const model::Trace& trace_;
  const MemoryProfile& profile_;
  const MemoryReportOptions& options_;
  std::string& out_;
};

}  // namespace

std::string MemoryReport(const model::Trace& trace,
                         std::span<const MemoryProfile> profiles,
                         const MemoryReportOptions& options) {
  std::string out;
  for (const MemoryProfile& profile : profiles) {
    if (!out.empty()) out += '\n';
    Section(trace, profile, options, out).Append();
  }
  return out;
}

}  // namespace kymo::report
