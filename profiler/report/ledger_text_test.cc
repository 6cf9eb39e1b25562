#include "profiler/report/ledger_text.h"

#include <gtest/gtest.h>

namespace kymo::report {
namespace {

TEST(LedgerTextTest, LossesFirstThenNotes) {
  model::LossLedger ledger;
  ledger.Add(model::Loss::kRangesOpenAtEnd, 1);
  ledger.Add(model::Loss::kSamplesLost, 12);
  EXPECT_EQ(LedgerText(ledger),
            "Lost: 12 samples_lost (samples dropped by the kernel before they "
            "were read)\n"
            "Note: 1 ranges_open_at_end (ranges still open when the recording "
            "ended)\n");
}

TEST(LedgerTextTest, LossesOfBackendsHaveTheirNames) {
  model::LossLedger ledger;
  ledger.AddOfBackend("ticks", "ticks that came too late (missed)", 3);
  EXPECT_EQ(LedgerText(ledger),
            "Lost: 3 backend_records_lost (records that a backend could not "
            "keep: of ticks, 3 ticks that came too late (missed))\n");
}

TEST(LedgerTextTest, NothingLostNothingSaid) {
  EXPECT_EQ(LedgerText(model::LossLedger()), "");
}

}  // namespace
}  // namespace kymo::report
