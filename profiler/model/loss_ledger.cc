#include "profiler/model/loss_ledger.h"

#include <algorithm>
#include <limits>

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

void AddUpToMost(uint64_t& sum, uint64_t count) noexcept {
  const uint64_t room = std::numeric_limits<uint64_t>::max() - sum;
  sum += count < room ? count : room;
}

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

std::string LossText(const LossLedger& ledger, Loss loss) {
  std::string text(LossMeaning(loss));
  if (loss != Loss::kBackendRecordsLost) return text;
  const char* separator = ": ";
  for (const auto& [what, count] : ledger.of_backends()) {
    text += separator + std::to_string(count) + " " + what;
    separator = "; ";
  }
  return text;
}

void LossLedger::AddOfBackend(const std::string& what, uint64_t count) {
  AddUpToMost(of_backends_[what], count);
  AddUpToMost(counts_[static_cast<size_t>(Loss::kBackendRecordsLost)], count);
}

void LossLedger::Merge(const LossLedger& other) {
  for (size_t i = 0; i < counts_.size(); ++i) {
    AddUpToMost(counts_[i], other.counts_[i]);
  }
  for (const auto& [what, count] : other.of_backends_) {
    AddUpToMost(of_backends_[what], count);
  }
}

void LossLedger::MergeEqual(const LossLedger& other) {
  for (size_t i = 0; i < counts_.size(); ++i) {
    counts_[i] = std::max(counts_[i], other.counts_[i]);
  }
  for (const auto& [what, count] : other.of_backends_) {
    uint64_t& known = of_backends_[what];
    known = std::max(known, count);
  }
}

bool LossLedger::AnythingLost() const noexcept {
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0 && IsLoss(static_cast<Loss>(i))) return true;
  }
  return false;
}

}  // namespace kymo::model
