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
  const char* separator = ": ";
  for (const auto& [part, count] : ledger.parts()) {
    if (part.loss != loss) continue;
    text += separator;
    if (loss == Loss::kRanksAbsent) {
      // The names of ranks say how many they are.
      text += part.of + ", because ";
    } else if (loss != Loss::kSamplesNotDelivered) {
      text += "of " + part.of + ", " + std::to_string(count) + " ";
    }
    text += part.what;
    separator = "; ";
  }
  return text;
}

void LossLedger::AddPart(const LossPart& part, uint64_t count) {
  AddUpToMost(parts_[part], count);
  AddUpToMost(counts_[static_cast<size_t>(part.loss)], count);
}

void LossLedger::Merge(const LossLedger& other) {
  for (size_t i = 0; i < counts_.size(); ++i) {
    AddUpToMost(counts_[i], other.counts_[i]);
  }
  for (const auto& [part, count] : other.parts_) {
    AddUpToMost(parts_[part], count);
  }
}

void LossLedger::MergeEqual(const LossLedger& other) {
  for (size_t i = 0; i < counts_.size(); ++i) {
    counts_[i] = std::max(counts_[i], other.counts_[i]);
  }
  for (const auto& [part, count] : other.parts_) {
    uint64_t& known = parts_[part];
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
