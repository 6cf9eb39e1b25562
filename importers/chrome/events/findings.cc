#include "importers/chrome/events/findings.h"

#include <string>
#include <string_view>

namespace kymo::chrome_import {
namespace {

using Severity = ImportFinding::Severity;

struct RuleText {
  Severity severity;
  std::string_view name;
  std::string_view message;
};

constexpr std::array<RuleText, static_cast<size_t>(Rule::kCount)> kRules = {{
    {Severity::kError, "truncated",
     "the file ends in the middle; complete events were kept"},
    {Severity::kError, "gzip_damaged",
     "the gzip stream ends too early or is damaged; what came before was kept"},
    {Severity::kWarning, "text_after_end",
     "something follows the end of the JSON value or of the gzip stream; it "
     "was left out"},
    {Severity::kError, "element_unreadable",
     "an element of traceEvents is not JSON; it was left out"},
    {Severity::kError, "element_no_object",
     "an element of traceEvents is not an object; it was left out"},
    {Severity::kWarning, "text_repaired",
     "the text has bytes that are not UTF-8 or raw control characters; the "
     "former became U+FFFD"},
    {Severity::kWarning, "member_too_long",
     "a member beside traceEvents is too long; it was left out"},
    {Severity::kError, "phase_missing", "an event has no ph; it was left out"},
    {Severity::kWarning, "phase_unknown",
     "an event is of a kind that traces do not keep; it was left out"},
    {Severity::kError, "time_missing",
     "an event has no time that can be read; it was left out"},
    {Severity::kWarning, "duration_missing",
     "a complete event has no duration; it was taken as 0"},
    {Severity::kWarning, "duration_unreadable",
     "the duration of a complete event is no number or out of range; it was "
     "taken as 0"},
    {Severity::kWarning, "duration_negative",
     "a complete event ends before it begins; its duration was taken as 0"},
    {Severity::kWarning, "value_unreadable",
     "a member of an event has a value of the wrong kind; it was left out"},
    {Severity::kNote, "member_ignored",
     "a member of an event means nothing to a trace; it was left out"},
    {Severity::kWarning, "member_repeated",
     "an event, or the file itself, has a member twice; the last one counts"},
    {Severity::kWarning, "end_without_begin",
     "an event ends what nothing began; it was left out"},
    {Severity::kWarning, "begin_without_end",
     "an event begins what nothing ends; it is shown as open"},
    {Severity::kNote, "total_left_out",
     "an event of clang's -ftime-trace is the sum of others, not a range; it "
     "was left out"},
    {Severity::kNote, "flow_not_kept",
     "a flow is neither a launch nor leads from forward to backward; it was "
     "left out"},
    {Severity::kWarning, "counter_no_number",
     "a counter's value is not a number; it was left out"},
    {Severity::kNote, "out_of_order",
     "a range of a thread stands behind one that begins later; they were "
     "sorted"},
    {Severity::kNote, "times_shifted",
     "times before 1970 or at its very begin cannot be kept; all times were "
     "moved"},
}};

}  // namespace

void Findings::Add(Rule rule, uint64_t offset, uint64_t count) {
  Entry& entry = entries_[static_cast<size_t>(rule)];
  if (entry.count == 0) entry.first_offset = offset;
  entry.count += count;
}

void Findings::Merge(const Findings& later) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = later.entries_[i];
    if (entry.count == 0) continue;
    Add(static_cast<Rule>(i), entry.first_offset, entry.count);
  }
}

std::vector<ImportFinding> Findings::List() const {
  std::vector<ImportFinding> list;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].count == 0) continue;
    list.push_back({.severity = kRules[i].severity,
                    .rule = std::string(kRules[i].name),
                    .message = std::string(kRules[i].message),
                    .count = entries_[i].count,
                    .first_offset = entries_[i].first_offset});
  }
  return list;
}

}  // namespace kymo::chrome_import
