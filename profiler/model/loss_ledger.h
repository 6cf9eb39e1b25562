// loss_ledger.h - everything that a trace does not hold, as named counters.
//
// Loss is data: wherever something can be lost, a counter of loss_table.h says
// how often. Table footer, summary.json, exported metadata and --strict show
// it. Some counters are notes (`IsLoss` is false): worth saying, nothing
// missing.
#ifndef KYMO_PROFILER_MODEL_LOSS_LEDGER_H_
#define KYMO_PROFILER_MODEL_LOSS_LEDGER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profiler/model/loss_table.h"

namespace kymo::model {

enum class Loss : uint8_t {
#define KYMO_LOSS_ID(id, name, severity, meaning, file, test) id,
  KYMO_LOSS_TABLE(KYMO_LOSS_ID)
#undef KYMO_LOSS_ID
      kCount,
};

// lower_snake, stable; lives forever.
std::string_view LossName(Loss loss) noexcept;
// One sentence for people.
std::string_view LossMeaning(Loss loss) noexcept;
// False for counters that report without anything missing.
bool IsLoss(Loss loss) noexcept;

class LossLedger {
 public:
  void Add(Loss loss, uint64_t count) noexcept {
    counts_[static_cast<size_t>(loss)] += count;
  }
  uint64_t Get(Loss loss) const noexcept {
    return counts_[static_cast<size_t>(loss)];
  }
  void Merge(const LossLedger& other) noexcept {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  // True when some counter that is a loss is not zero.
  bool AnythingLost() const noexcept;

 private:
  std::array<uint64_t, static_cast<size_t>(Loss::kCount)> counts_{};
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_LOSS_LEDGER_H_
