#include "profiler/report/ledger_text.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"

namespace kymo::report {

std::string LedgerText(const model::LossLedger& ledger) {
  std::string losses;
  std::string notes;
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    const model::Loss loss = static_cast<model::Loss>(i);
    const uint64_t count = ledger.Get(loss);
    if (count == 0) continue;
    const bool is_loss = model::IsLoss(loss);
    absl::StrAppend(is_loss ? &losses : &notes,
                    is_loss ? "Lost: " : "Note: ", count, " ",
                    ToAbsl(model::LossName(loss)), " (",
                    model::LossText(ledger, loss), ")\n");
  }
  return losses + notes;
}

}  // namespace kymo::report
