#include "profiler/model/loss_ledger.h"

namespace kymo::model {
namespace {

enum class Severity : uint8_t { kLoss, kNote };

struct Entry {
  std::string_view name;
  std::string_view meaning;
  Severity severity;
};

constexpr Entry kEntries[] = {
#define KYMO_LOSS_ENTRY(id, name, severity, meaning, file, test) \
  {name, meaning, Severity::severity},
    KYMO_LOSS_TABLE(KYMO_LOSS_ENTRY)
#undef KYMO_LOSS_ENTRY
};

}  // namespace

std::string_view LossName(Loss loss) noexcept {
  return kEntries[static_cast<size_t>(loss)].name;
}

std::string_view LossMeaning(Loss loss) noexcept {
  return kEntries[static_cast<size_t>(loss)].meaning;
}

bool IsLoss(Loss loss) noexcept {
  return kEntries[static_cast<size_t>(loss)].severity == Severity::kLoss;
}

bool LossLedger::AnythingLost() const noexcept {
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0 && IsLoss(static_cast<Loss>(i))) return true;
  }
  return false;
}

}  // namespace kymo::model
