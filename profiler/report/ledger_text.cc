#include "profiler/report/ledger_text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"

namespace kymo::report {
namespace {

std::vector<std::string> CounterLines(const model::LossLedger& ledger,
                                      bool losses) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    const model::Loss loss = static_cast<model::Loss>(i);
    const uint64_t count = ledger.Get(loss);
    if (count == 0 || model::IsLoss(loss) != losses) continue;
    lines.push_back(absl::StrCat(losses ? "Lost: " : "Note: ", count, " ",
                                 ToAbsl(model::LossName(loss)), " (",
                                 model::LossText(ledger, loss), ")"));
  }
  return lines;
}

}  // namespace

std::vector<std::string> LossLines(const model::LossLedger& ledger) {
  return CounterLines(ledger, true);
}

std::string LedgerText(const model::LossLedger& ledger) {
  std::string text;
  for (const bool losses : {true, false}) {
    for (const std::string& line : CounterLines(ledger, losses))
      text += line + "\n";
  }
  return text;
}

}  // namespace kymo::report
