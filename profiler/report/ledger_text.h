// ledger_text.h - the loss ledger for people, below a table.
//
//   Lost: 12 samples_lost (samples dropped by the kernel before they were read)
//   Note: 1 ranges_open_at_end (ranges still open when the recording ended)
#ifndef KYMO_PROFILER_REPORT_LEDGER_TEXT_H_
#define KYMO_PROFILER_REPORT_LEDGER_TEXT_H_

#include <string>
#include <vector>

#include "profiler/model/loss_ledger.h"

namespace kymo::report {

// What is lost: one line, without a line feed, per counter that is not zero.
std::vector<std::string> LossLines(const model::LossLedger& ledger);

// One line per counter that is not zero, losses first; empty when all are.
std::string LedgerText(const model::LossLedger& ledger);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_LEDGER_TEXT_H_
