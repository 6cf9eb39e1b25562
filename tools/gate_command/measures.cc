#include "tools/gate_command/measures.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/averages/duplicates.h"
#include "profiler/analysis/averages/key_averages.h"
#include "profiler/analysis/flops.h"
#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/analysis/memory/memory_groups.h"
#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/analysis/open_events.h"
#include "profiler/base/strings.h"
#include "profiler/base/time.h"

namespace kymo::tools {
namespace {

struct Row {
  const char* name;
  bool is_of_whole;
  bool is_of_parts;
  bool is_counted = false;
  bool depends_on_machine = false;
  bool is_time = false;
};

// In the order of What.
constexpr Row kRows[] = {
    {"CALLS", true, true},
    {"ALLOCATIONS", true, true},
    {"ALLOCATED_BYTES", true, true},
    {"PEAK_BYTES", true, true},
    {"TEMPORARY_ALLOCATIONS", true, false},
    {"LEAKS", true, false},
    {"LEAKED_BYTES", true, false},
    {"FLOPS", true, true},
    {"BLOCKING_CALLS", true, true, true},
    {"FILES_OPENED", true, false, true},
    {"SYSTEM_CALLS", true, false, true, true},
    {"PAGE_FAULTS", true, false, true, true},
    {"BYTES_READ", true, false, true, true},
    {"BYTES_WRITTEN", true, false, true, true},
    {"CPU_TIME_US", true, true, false, false, true},
    {"CPU_SHARE", false, true, false, false, true},
};
static_assert(std::size(kRows) == static_cast<size_t>(What::kCount));

const Row& RowOf(What what) { return kRows[static_cast<size_t>(what)]; }

void AddHeap(const model::Trace& trace, Amounts& amounts) {
  using analysis::MemoryDetail;
  // Without stacks, nobody can tell leaks from what the C++ library keeps.
  bool knows_leaks = true;
  for (const analysis::MemoryProfile& heap : analysis::ProfileMemory(trace)) {
    // Samples are estimates, and no two runs have the same.
    if (heap.pool.source != model::MemorySource::kHeap ||
        heap.detail == MemoryDetail::kSamples) {
      continue;
    }
    const auto add = [&](What what, int64_t amount) {
      amounts.Add({what}, static_cast<double>(amount));
    };
    add(What::kAllocations, heap.totals.allocations);
    add(What::kAllocatedBytes, heap.totals.allocated_bytes);
    if (heap.detail == MemoryDetail::kCounts) continue;
    add(What::kPeakBytes, heap.peak.bytes);
    for (const analysis::OperationMemory& part : heap.peak.by_operation) {
      if (part.id == model::kEmptyName) continue;
      amounts.Add({What::kPeakBytes, std::string(trace.Name(part.id))},
                  static_cast<double>(part.bytes));
    }
    add(What::kTemporaryAllocations, heap.temporary.count);
    int64_t blocks = 0;
    int64_t bytes = 0;
    bool has_stacks = heap.leaks.empty();
    for (const analysis::StackMemory& leak : heap.leaks) {
      blocks += leak.count;
      bytes += leak.bytes;
      has_stacks |= leak.id != model::kEmptyStack;
    }
    knows_leaks &= has_stacks;
    add(What::kLeaks, blocks);
    add(What::kLeakedBytes, bytes);
  }
  if (knows_leaks) return;
  amounts.Remove({What::kLeaks});
  amounts.Remove({What::kLeakedBytes});
}

// Allocations by the innermost range that was open. Nothing if some have no
// record of their own: of many alike, the recorder keeps sums.
void AddHeapOfOperations(const model::Trace& trace, Amounts& amounts) {
  const analysis::MemoryBlocks blocks(trace);
  const auto memory = trace.memory();
  analysis::OperationMemorySums sums;
  std::optional<analysis::OpenEvents> open;
  for (size_t i = 0; i < memory.size(); ++i) {
    const model::MemoryRecord& record = memory[i];
    const auto index = static_cast<model::MemoryIndex>(i);
    if (i == 0 || record.track != memory[i - 1].track) {
      open.emplace(trace, record.track, record.time_ns);
    }
    if (record.source != model::MemorySource::kHeap ||
        !blocks.IsAllocation(index)) {
      continue;
    }
    const model::EventIndex event = open->InnermostAt(record.time_ns);
    sums.Add(event == model::kNoEvent ? model::kEmptyName : trace.name()[event],
             blocks.AmountOf(index));
  }
  double seen = 0;
  const std::vector<analysis::OperationMemory> parts = sums.LargestFirst();
  for (const analysis::OperationMemory& part : parts) {
    seen += static_cast<double>(part.count);
  }
  if (amounts.Find({What::kAllocations}) != seen) return;
  for (const std::string& name : amounts.PartsOf(What::kCalls)) {
    amounts.Set({What::kAllocations, name}, 0);
    amounts.Set({What::kAllocatedBytes, name}, 0);
  }
  for (const analysis::OperationMemory& part : parts) {
    const std::string name(trace.Name(part.id));
    if (name.empty()) continue;
    amounts.Add({What::kAllocations, name}, static_cast<double>(part.count));
    amounts.Add({What::kAllocatedBytes, name}, static_cast<double>(part.bytes));
  }
}

bool HasFlops(const FlopsEstimate& estimate) {
  return std::ranges::any_of(estimate.flops, [](int64_t f) { return f > 0; });
}

}  // namespace

std::string_view WhatName(What what) { return RowOf(what).name; }
bool IsCounted(What what) { return RowOf(what).is_counted; }
bool DependsOnMachine(What what) { return RowOf(what).depends_on_machine; }
bool IsTime(What what) { return RowOf(what).is_time; }
bool IsOfWhole(What what) { return RowOf(what).is_of_whole; }
bool IsOfParts(What what) { return RowOf(what).is_of_parts; }

std::optional<What> ParseWhat(std::string_view name) {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (name == kRows[i].name) return static_cast<What>(i);
  }
  return std::nullopt;
}

std::string AllWhatNames() {
  std::string names;
  for (const Row& row : kRows) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", row.name);
  }
  return names;
}

std::string MeasureText(const Measure& measure) {
  std::string text(WhatName(measure.what));
  if (!measure.of.empty()) absl::StrAppend(&text, " of ", measure.of);
  return text;
}

std::optional<double> Amounts::Find(const Measure& measure) const {
  const auto found = all_.find(measure);
  if (found == all_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Amounts::PartsOf(What what) const {
  std::vector<std::string> parts;
  for (const auto& [measure, amount] : all_) {
    if (measure.what == what && !measure.of.empty()) {
      parts.push_back(measure.of);
    }
  }
  return parts;
}

bool WasRecorded(const model::Trace& trace) {
  return !trace.processes().empty() &&
         trace.ledger().Get(model::Loss::kProcessesNotRecorded) == 0;
}

void AddAmountsOf(const model::Trace& trace, Amounts& amounts) {
  const FlopsEstimate flops = EstimateFlops(trace, FlopsRegistry::Process());
  analysis::KeyAveragesOptions options;
  options.duplicates = analysis::DuplicatesOf(trace);
  options.flops = flops.flops;
  const bool has_flops = HasFlops(flops);
  double self_us = 0;
  if (WasRecorded(trace)) {
    amounts.Add({What::kCalls}, 0);
    amounts.Add({What::kCpuTimeUs}, 0);
  }
  for (const analysis::KeyAverage& row : KeyAverages(trace, options)) {
    // What has no name counts in the whole alone.
    const auto add = [&](What what, double amount) {
      if (!row.name.empty()) amounts.Add({what, row.name}, amount);
    };
    add(What::kCalls, static_cast<double>(row.count));
    amounts.Add({What::kCalls}, static_cast<double>(row.count));
    if (has_flops && row.flops > 0) {
      add(What::kFlops, static_cast<double>(row.flops));
      amounts.Add({What::kFlops}, static_cast<double>(row.flops));
    }
    if (row.is_device || row.is_async) continue;
    const double us =
        static_cast<double>(row.self_cpu_time_total_ns) / kNsPerUs;
    add(What::kCpuTimeUs, us);
    amounts.Add({What::kCpuTimeUs}, us);
    self_us += us;
  }
  for (const std::string& part : amounts.PartsOf(What::kCpuTimeUs)) {
    if (self_us <= 0) break;
    amounts.Set({What::kCpuShare, part},
                amounts.Find({What::kCpuTimeUs, part}).value_or(0) / self_us);
  }
  AddHeap(trace, amounts);
  AddHeapOfOperations(trace, amounts);
}

}  // namespace kymo::tools
