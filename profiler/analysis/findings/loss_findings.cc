#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"
#include "profiler/base/strings.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/sample_weights.h"

namespace kymo::analysis {
namespace {

using model::Loss;
using model::Trace;

// Less than a twentieth changes no answer here: no finding needs more exact
// numbers.
constexpr uint64_t kLeastLostPart = 20;

// Losses that make numbers too low, what they are a part of, and what helps.
struct Doubt {
  Loss loss;
  uint64_t (*kept)(const Trace& trace);
  std::string_view numbers;  // that are in doubt
  std::string_view next_step;
};

uint64_t Events(const Trace& trace) { return trace.event_count(); }
uint64_t MemoryRecords(const Trace& trace) { return trace.memory().size(); }

constexpr Doubt kDoubts[] = {
    {Loss::kEventsDroppedArenaFull, Events, "times and counts of ranges",
     "Give the recording more memory with --cpu_arena_mib"},
    {Loss::kEventsDroppedNoStream, Events, "times and counts of ranges",
     "Use fewer threads, or keep them instead of starting new ones"},
    {Loss::kDeviceRecordsDropped, Events, "times of devices",
     "Record for a shorter time"},
    {Loss::kSamplesLost, model::SampledPeriods, "CPU times of functions",
     "Sample less often with --sampling_hz"},
    {Loss::kSamplesNotDelivered, model::SampledPeriods,
     "CPU times of functions",
     "Try the other --sampling_sampler (perf or timer), or sample less often "
     "with --sampling_hz"},
    {Loss::kStacksIncomplete, model::CountUnwoundStacks, "callers of functions",
     "Build with unwind tables (-fasynchronous-unwind-tables). Code that a "
     "program makes while it runs needs frame pointers: start Java with "
     "-XX:+PreserveFramePointer. Kymo finds no callers in 32-bit programs: "
     "build them for 64 bits"},
    {Loss::kMemoryRecordsLeftOut, MemoryRecords, "numbers of memory",
     "Record a shorter part of the program"},
};

}  // namespace

void AddLossFindings(const FindingRun& run, std::vector<Finding>& findings) {
  for (const Doubt& doubt : kDoubts) {
    // A broken file may say any number.
    const uint64_t lost =
        std::min(run.trace.ledger().Get(doubt.loss), uint64_t{1} << 62);
    const uint64_t kept = doubt.kept(run.trace);
    // Incomplete stacks are there.
    const uint64_t all = doubt.loss == Loss::kStacksIncomplete && lost <= kept
                             ? kept
                             : kept + lost;
    // Rounded up: 4 of 99 are less than a twentieth.
    const uint64_t least = (all + kLeastLostPart - 1) / kLeastLostPart;
    if (lost == 0 || lost < least) continue;
    // Without any record, the trace has no number of memory to doubt.
    if (doubt.loss == Loss::kMemoryRecordsLeftOut && kept == 0) continue;
    Finding finding;
    finding.kind = FindingKind::kLostData;
    finding.share = static_cast<double>(lost) / static_cast<double>(all);
    finding.title = absl::StrCat(
        "The ", ToAbsl(doubt.numbers), " are in doubt because of ",
        CountText(static_cast<int64_t>(lost)), " (",
        PercentText(static_cast<double>(lost), static_cast<double>(all)), ") ",
        ToAbsl(model::LossMeaning(doubt.loss)));
    finding.next_step = std::string(doubt.next_step);
    finding.evidence = {.kind = EvidenceKind::kRow,
                        .name = std::string(model::LossName(doubt.loss)),
                        .table = "ledger"};
    findings.push_back(std::move(finding));
  }
}

}  // namespace kymo::analysis
