// loss_ledger.h - everything that a trace does not hold, as named counters.
//
// Loss is data: wherever something can be lost, a counter of loss_table.h says
// how often. Table footer, summary.json, exported metadata and --strict show
// it. Some counters are notes (`IsLoss` is false): worth saying, nothing
// missing.
//
// A loaded backend (kymo/backend_plugin.h) has counters of its own. They are
// added up as kBackendRecordsLost, and LossText names each of them.
#ifndef KYMO_PROFILER_MODEL_LOSS_LEDGER_H_
#define KYMO_PROFILER_MODEL_LOSS_LEDGER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
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
  // Adds to kBackendRecordsLost. `what` follows the number, and names the
  // backend and its counter: "packets dropped, dropped of my_net". A sum that
  // does not fit is the largest number.
  void AddOfBackend(const std::string& what, uint64_t count);
  void Merge(const LossLedger& other);
  // The same of ledgers that count the same losses: the larger number of each.
  void MergeEqual(const LossLedger& other);
  // True when some counter that is a loss is not zero.
  bool AnythingLost() const noexcept;
  // What AddOfBackend has counted.
  const std::map<std::string, uint64_t>& of_backends() const noexcept {
    return of_backends_;
  }

 private:
  std::array<uint64_t, static_cast<size_t>(Loss::kCount)> counts_{};
  std::map<std::string, uint64_t> of_backends_;
};

// The meaning of a counter and, of kBackendRecordsLost, what is behind the
// number: "records that loaded backends lost: 3 packets dropped, dropped of
// my_net".
std::string LossText(const LossLedger& ledger, Loss loss);

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_LOSS_LEDGER_H_
