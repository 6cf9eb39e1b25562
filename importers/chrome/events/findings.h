// findings.h - counts what is wrong with a file, by rule.
//
//   Findings findings;
//   findings.Add(Rule::kTimeMissing, offset);
//   findings.Merge(of_the_next_part);      // in the order of the file
//   findings.List()                        // the rules that were broken
#ifndef KYMO_IMPORTERS_CHROME_EVENTS_FINDINGS_H_
#define KYMO_IMPORTERS_CHROME_EVENTS_FINDINGS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/plugin/trace_importer.h"

namespace kymo::chrome_import {

enum class Rule : uint8_t {
  kTruncated,           // the file ends in the middle
  kGzipDamaged,         // the gzip stream ends too early or is wrong
  kTextAfterEnd,        // something follows the JSON value or the gzip stream
  kElementUnreadable,   // an element of traceEvents that is not JSON
  kElementNoObject,     // an element that is a number, a string, ...
  kTextRepaired,        // bytes that are not UTF-8, raw control characters
  kMemberTooLong,       // a member of the file beyond the limit
  kPhaseMissing,        // an event without ph
  kPhaseUnknown,        // an event of a kind that traces do not keep
  kTimeMissing,         // an event without a time that can be read
  kDurationMissing,     // X without dur: taken as 0
  kDurationUnreadable,  // no number or out of range: taken as 0
  kDurationNegative,    // taken as 0
  kValueUnreadable,     // a member of an event of the wrong type
  kMemberIgnored,       // a member of an event that no trace keeps
  kMemberRepeated,      // of an event or of the file: the last counts
  kEndWithoutBegin,     // E or e without a begin
  kBeginWithoutEnd,     // B or b without an end
  kTotalLeftOut,        // clang's sum of the ranges of one name
  kFlowNotKept,         // a flow other than launches and forward to backward
  kCounterNoNumber,     // a counter whose value is no number
  kOutOfOrder,          // a range behind a later one: they are sorted
  kTimesShifted,        // times before 1970: all are moved
  kCount,
};

class Findings {
 public:
  // `offset` is where the first one is, in bytes of the unpacked file.
  void Add(Rule rule, uint64_t offset, uint64_t count = 1);
  // `later` must be about a part of the file that follows this one's part.
  void Merge(const Findings& later);

  uint64_t count(Rule rule) const { return of(rule).count; }

  // In the order of the rules.
  std::vector<ImportFinding> List() const;

 private:
  struct Entry {
    uint64_t count = 0;
    uint64_t first_offset = 0;
  };
  const Entry& of(Rule rule) const {
    return entries_[static_cast<size_t>(rule)];
  }

  std::array<Entry, static_cast<size_t>(Rule::kCount)> entries_{};
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENTS_FINDINGS_H_
