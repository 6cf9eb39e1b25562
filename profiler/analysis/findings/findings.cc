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
    AddSampleFindings,    AddRangeFindings, AddFlopsFindings,  AddWaitFindings,
    AddImbalanceFindings, AddStepFindings,  AddMemoryFindings, AddFaultFindings,
    AddDeviceFindings,    AddRankFindings,  AddLossFindings};

}  // namespace

std::vector<Finding> FindFindings(const model::Trace& trace) {
  const FindingRun run(trace);
  std::vector<Finding> findings;
  for (const auto add : kFamilies) add(run, findings);
  std::ranges::sort(findings, [](const Finding& a, const Finding& b) {
    // Of a job, the rank that holds up all others comes first.
    return std::tuple(a.kind != FindingKind::kLateRank, -a.share, a.kind,
                      std::string_view(a.title)) <
           std::tuple(b.kind != FindingKind::kLateRank, -b.share, b.kind,
                      std::string_view(b.title));
  });
  std::array<size_t, static_cast<size_t>(kLastFindingKind) + 1> counts = {};
  std::erase_if(findings, [&](const Finding& finding) {
    return ++counts[static_cast<size_t>(finding.kind)] > kMostOfAKind;
  });
  return findings;
}

}  // namespace kymo::analysis
