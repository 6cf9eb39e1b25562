// test_findings.h - the findings of a trace by hand.
//
//   const auto found = Found(std::move(t), FindingKind::kLeak);
//   ASSERT_EQ(found.size(), 1);
#ifndef KYMO_PROFILER_ANALYSIS_FINDINGS_TEST_FINDINGS_H_
#define KYMO_PROFILER_ANALYSIS_FINDINGS_TEST_FINDINGS_H_

#include <utility>
#include <vector>

#include "profiler/analysis/findings/finding.h"
#include "profiler/analysis/findings/findings.h"
#include "profiler/model/trace.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {

// Those of one kind.
inline std::vector<Finding> Found(const model::Trace& trace, FindingKind kind) {
  std::vector<Finding> findings = FindFindings(trace);
  std::erase_if(findings, [&](const Finding& f) { return f.kind != kind; });
  return findings;
}
inline std::vector<Finding> Found(TestTrace t, FindingKind kind) {
  return Found(std::move(t).Build(), kind);
}

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_FINDINGS_TEST_FINDINGS_H_
