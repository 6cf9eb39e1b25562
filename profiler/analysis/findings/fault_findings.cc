#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/averages/counter_values.h"
#include "profiler/analysis/averages/sampled_functions.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"
#include "profiler/model/sample_weights.h"

namespace kymo::analysis {
namespace {

using model::Trace;

constexpr std::string_view kMinorFaults = "process.page_faults.minor_per_s";
constexpr std::string_view kMajorFaults = "process.page_faults.major_per_s";
// A fault that finds its page in memory takes at least about this: the
// exception, and clearing 4 KiB. On the virtual machine of docs/overhead.md, a
// loop over fresh memory takes 2,600 ns.
constexpr double kMinorFaultNs = 500;
// One that reads the page from an SSD, whose answer takes as long.
constexpr double kMajorFaultNs = 100'000;

// Functions of the kernel that handle a fault; each calls the next one.
bool HandlesFaults(std::string_view function) {
  for (const std::string_view handler :
       {"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault",
        "do_page_fault", "handle_mm_fault"}) {
    if (function == handler) return true;
  }
  return false;
}

std::string NextStep() {
  return "Use memory again instead of giving it back: keep buffers, raise "
         "M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc, use huge pages";
}

// Measured: true if samples show it.
bool AddSampledFaults(const FindingRun& run, std::vector<Finding>& findings) {
  if (!run.HasSamples()) return false;
  const Trace& trace = run.trace;
  DurationNs all_ns = 0;
  ForEachSampleWeight(
      trace, [&](const model::SampleSum& sum) { all_ns += sum.weight_ns; });
  const SampledFunction* most = nullptr;
  for (const SampledFunction& function : run.Functions()) {
    if (!HandlesFaults(trace.Name(function.name))) continue;
    if (most == nullptr || function.cpu_time_ns > most->cpu_time_ns) {
      most = &function;
    }
  }
  if (most == nullptr || !run.Matters(most->cpu_time_ns)) return false;
  Finding finding = run.OfTime(FindingKind::kPageFaults, most->cpu_time_ns);
  finding.title =
      absl::StrCat("Page faults took ",
                   PercentText(static_cast<double>(most->cpu_time_ns),
                               static_cast<double>(all_ns)),
                   " of the CPU time (", TimeText(most->cpu_time_ns), ")");
  finding.next_step = NextStep();
  finding.evidence = {.kind = EvidenceKind::kRow,
                      .name = std::string(trace.Name(most->name)),
                      .table = "sampled_functions"};
  findings.push_back(std::move(finding));
  return true;
}

// The first value's time. REQUIRES: the trace has the counter.
TimeNs BeginOf(const Trace& trace, const CounterValues& counter) {
  const auto samples = trace.counters();
  const auto first =
      std::ranges::find_if(samples, [&](const model::CounterSample& sample) {
        return sample.track == counter.track && sample.name == counter.name;
      });
  return first->time_ns;
}

// Estimated from how many there were.
void AddCountedFaults(const FindingRun& run, std::vector<Finding>& findings) {
  const Trace& trace = run.trace;
  for (const CounterValues& counter : ComputeCounterValues(trace)) {
    const std::string_view name = trace.Name(counter.name);
    const bool is_major = name == kMajorFaults;
    if (!is_major && name != kMinorFaults) continue;
    const DurationNs time_ns = trace.end_ns() - BeginOf(trace, counter);
    const double count =
        counter.mean * static_cast<double>(time_ns) / kNsPerSecond;
    const double each_ns = is_major ? kMajorFaultNs : kMinorFaultNs;
    // A counter of a broken file may have any value.
    const double cost_ns = count * each_ns;
    if (!(cost_ns > 0) || cost_ns > 1e18) continue;
    const DurationNs ns = std::llround(cost_ns);
    if (!run.Matters(ns)) continue;
    Finding finding = run.OfTime(FindingKind::kPageFaults, ns);
    finding.title = absl::StrCat(
        "Process ", trace.tracks()[counter.track].pid, " had ",
        CountText(std::llround(count)),
        is_major ? " page faults that read a disk" : " page faults",
        ": at least about ", TimeText(ns), ", at ",
        TimeText(static_cast<DurationNs>(each_ns)), " each");
    finding.next_step =
        is_major ? "Give the machine more memory, or read files ahead of time"
                 : NextStep();
    finding.evidence = {.kind = EvidenceKind::kCounter,
                        .name = std::string(name),
                        .track = counter.track};
    findings.push_back(std::move(finding));
  }
}

}  // namespace

void AddFaultFindings(const FindingRun& run, std::vector<Finding>& findings) {
  if (AddSampledFaults(run, findings) || run.trace.counters().empty()) return;
  AddCountedFaults(run, findings);
}

}  // namespace kymo::analysis
