#include "profiler/report/finding_table.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/findings/finding_text.h"
#include "profiler/analysis/findings/findings.h"
#include "profiler/analysis/first_time.h"
#include "profiler/base/strings.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"

namespace kymo::report {
namespace {

using analysis::Evidence;
using analysis::EvidenceKind;
using analysis::Finding;
using model::Trace;

// A stack of a thousand frames is no line to read: these are shown, the inner
// ones.
constexpr size_t kMostFrames = 8;

// The outermost frame first.
std::string EvidenceStackText(const Trace& trace, model::StackId stack) {
  std::string text;
  const std::vector<model::FrameId> frames = trace.stacks().Frames(stack);
  const size_t first =
      frames.size() > kMostFrames ? frames.size() - kMostFrames : 0;
  if (first > 0) text = "...";
  for (size_t i = first; i < frames.size(); ++i) {
    absl::StrAppend(&text, text.empty() ? "" : " > ",
                    analysis::NameText(
                        trace.Name(trace.stacks().frame(frames[i]).function)));
  }
  return text;
}

bool HasTime(const Evidence& evidence) {
  return evidence.kind == EvidenceKind::kInterval ||
         evidence.kind == EvidenceKind::kEvent;
}

Value Track(const Trace& trace, const Evidence& evidence) {
  if (evidence.track == model::kNoTrack) return {};
  return analysis::TrackText(trace, evidence.track);
}

}  // namespace

std::string EvidenceText(const Trace& trace, const Evidence& evidence) {
  const std::string name = analysis::NameText(evidence.name);
  switch (evidence.kind) {
    case EvidenceKind::kStack:
      return absl::StrCat("stack ", EvidenceStackText(trace, evidence.stack));
    case EvidenceKind::kRow:
      return absl::StrCat("row ", name, " of ", ToAbsl(evidence.table));
    case EvidenceKind::kCounter:
      return absl::StrCat("counter ", name);
    case EvidenceKind::kInterval:
    case EvidenceKind::kEvent:
      break;
  }
  std::string text = absl::StrCat(
      name, ", ", analysis::TimeText(evidence.duration_ns), " from ",
      FormatFixed(static_cast<double>(evidence.begin_ns -
                                      analysis::FirstTimeNs(trace)) /
                      kNsPerMs,
                  3),
      " ms on");
  if (evidence.track != model::kNoTrack) {
    absl::StrAppend(&text, ", ", analysis::TrackText(trace, evidence.track));
  }
  return text;
}

ValueTable FindingTable(const Trace& trace) {
  ValueTable table{.columns = {{"finding", "Finding", Unit::kText},
                               {"title", "Title", Unit::kText},
                               {"time_ns", "Time", Unit::kNs},
                               {"bytes", "Bytes", Unit::kBytes},
                               {"share", "Share", Unit::kShare},
                               {"next_step", "Next step", Unit::kText},
                               {"evidence", "Evidence", Unit::kText},
                               {"name", "Name", Unit::kText},
                               {"track", "Track", Unit::kText},
                               {"begin_ns", "Begin", Unit::kNs},
                               {"duration_ns", "Duration", Unit::kNs},
                               {"stack", "Stack", Unit::kText}},
                   .rows = {}};
  const TimeNs first_ns = analysis::FirstTimeNs(trace);
  for (const Finding& finding : analysis::FindFindings(trace)) {
    const Evidence& evidence = finding.evidence;
    const bool has_time = HasTime(evidence);
    table.rows.push_back({std::string(FindingId(finding.kind)), finding.title,
                          finding.time_ns == 0 ? Value() : finding.time_ns,
                          finding.bytes == 0 ? Value() : finding.bytes,
                          finding.share, finding.next_step,
                          std::string(EvidenceKindName(evidence.kind)),
                          evidence.name, Track(trace, evidence),
                          has_time ? evidence.begin_ns - first_ns : Value(),
                          has_time ? evidence.duration_ns : Value(),
                          evidence.stack == model::kEmptyStack
                              ? Value()
                              : EvidenceStackText(trace, evidence.stack)});
  }
  return table;
}

std::string FindingsText(const Trace& trace,
                         const FindingsTextOptions& options) {
  std::string text;
  int number = 0;
  for (const Finding& finding : analysis::FindFindings(trace)) {
    if (number == options.row_limit) break;
    ++number;
    const std::string head = absl::StrCat(number, ". ");
    const auto add = [&](std::string_view begin, const std::string& line) {
      absl::StrAppend(&text,
                      Wrapped(absl::StrCat(ToAbsl(begin), VisibleText(line)),
                              options.width, head.size()),
                      "\n");
    };
    const std::string indent(head.size(), ' ');
    add(head, finding.title);
    add(indent + "See: ", EvidenceText(trace, finding.evidence));
    add(indent + "Next: ", finding.next_step);
  }
  return text;
}

}  // namespace kymo::report
