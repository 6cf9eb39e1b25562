// range_pairs.h - B and E, b and e: ranges from their two ends.
//
//   for (const PairedRange& pair :
//        PairRanges(std::move(ends), pid_of_row, findings, ledger)) ...
//
// B and E of one row belong together like brackets, in the order of time. Ends
// of asynchronous ranges belong together by process, category and id; of those
// that are nested the one of the same name that began last. What has no end is
// open; an end that nothing began is counted and left out.
#ifndef KYMO_IMPORTERS_CHROME_RANGE_PAIRS_H_
#define KYMO_IMPORTERS_CHROME_RANGE_PAIRS_H_

#include <cstdint>
#include <vector>

#include "importers/chrome/parsed_events.h"

namespace kymo::chrome_import {

struct PairedRange {
  Range range;
  model::DetailIndex end_detail = model::kNoDetail;  // what its end carried
};

// `pid_of_row` numbers processes, by row.
std::vector<PairedRange> PairRanges(std::vector<RangeEnd> ends,
                                    const std::vector<uint32_t>& pid_of_row,
                                    Findings& findings,
                                    model::LossLedger& ledger);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_RANGE_PAIRS_H_
