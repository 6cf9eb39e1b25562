// range_pairs.h - joins B and E, b and e: makes ranges of their two ends.
//
//   for (const PairedRange& pair :
//        PairRanges(std::move(ends), pid_of_row, findings, ledger)) ...
//
// B and E of one row belong together like brackets, in the order of time. Ends
// of asynchronous ranges belong together if process, category and id are the
// same. Among nested ones, an end belongs to the range of the same name that
// began last. A range without an end is open. An end without a range is counted
// and left out.
#ifndef KYMO_IMPORTERS_CHROME_RANGE_PAIRS_H_
#define KYMO_IMPORTERS_CHROME_RANGE_PAIRS_H_

#include <cstdint>
#include <vector>

#include "importers/chrome/events/parsed_events.h"

namespace kymo::chrome_import {

struct PairedRange {
  Range range;
  model::DetailIndex end_detail = model::kNoDetail;  // details at its end
};

// `pid_of_row`: a number for the process of each row.
std::vector<PairedRange> PairRanges(std::vector<RangeEnd> ends,
                                    const std::vector<uint32_t>& pid_of_row,
                                    Findings& findings,
                                    model::LossLedger& ledger);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_RANGE_PAIRS_H_
