#include "profiler/analysis/findings/findings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>

#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_run.h"

namespace kymo::analysis {
namespace {

constexpr void (*kFamilies[])(const FindingRun&, std::vector<Finding>&) = {
    AddSampleFindings, AddRangeFindings,     AddFlopsFindings,
    AddWaitFindings,   AddImbalanceFindings, AddStepFindings,
    AddMemoryFindings, AddFaultFindings,     AddDeviceFindings,
    AddRankFindings,   AddLossFindings,      AddDeadlockFindings};

}  // namespace

std::vector<Finding> FindFindings(const model::Trace& trace) {
  return FindFindings(trace, LazyMemoryProfiles(trace), LazyJobOfRanks(trace));
}

std::vector<Finding> FindFindings(const model::Trace& trace,
                                  const LazyMemoryProfiles& memory,
                                  const LazyJobOfRanks& ranks) {
  const FindingRun run(trace, memory, ranks);
  std::vector<Finding> findings;
  for (const auto add : kFamilies) add(run, findings);
  // Threads or ranks that nothing lets go on come first; then, of a job, the
  // rank that ended it, or that holds up all others.
  const auto place = [](const Finding& finding) {
    return std::tuple(finding.kind != FindingKind::kDeadlock,
                      finding.kind != FindingKind::kRankEnded,
                      finding.kind != FindingKind::kLateRank,
                      finding.may_be_idle, -finding.share, finding.kind,
                      std::string_view(finding.title));
  };
  std::ranges::sort(findings, {}, place);
  std::array<size_t, static_cast<size_t>(kLastFindingKind) + 1> counts = {};
  std::erase_if(findings, [&](const Finding& finding) {
    return ++counts[static_cast<size_t>(finding.kind)] > kMostOfAKind;
  });
  return findings;
}

}  // namespace kymo::analysis
