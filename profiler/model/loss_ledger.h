// loss_ledger.h - everything that a trace does not hold, as named counters.
//
// Loss is data: wherever something can be lost, a counter of loss_table.h says
// how often. Table footer, summary.json, exported metadata and --strict show
// it. Some counters are notes (`IsLoss` is false): worth saying, nothing
// missing.
//
// Some counters are sums of parts: kBackendRecordsLost of what backends count
// themselves, kRanksAbsent of the ranks that are absent for the same reason,
// kSamplesNotDelivered of what each sampler misses. LossText names each part.
#ifndef KYMO_PROFILER_MODEL_LOSS_LEDGER_H_
#define KYMO_PROFILER_MODEL_LOSS_LEDGER_H_

#include <array>
#include <compare>
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

// A part of a counter.
struct LossPart {
  Loss loss = Loss::kCount;
  std::string of;  // a backend's name; "ranks 2-3"; a sampler
  // What a backend counts; why ranks are absent; what the sampler misses.
  std::string what;
  auto operator<=>(const LossPart&) const = default;
};

class LossLedger {
 public:
  void Add(Loss loss, uint64_t count) noexcept {
    counts_[static_cast<size_t>(loss)] += count;
  }
  uint64_t Get(Loss loss) const noexcept {
    return counts_[static_cast<size_t>(loss)];
  }
  // Adds to `part.loss`. A sum that does not fit is the largest number.
  void AddPart(const LossPart& part, uint64_t count);
  // Adds to kBackendRecordsLost. `what` follows the number, and says what to
  // do, if that helps: "packets for which no buffer was (dropped)".
  void AddOfBackend(const std::string& backend, const std::string& what,
                    uint64_t count) {
    AddPart({Loss::kBackendRecordsLost, backend, what}, count);
  }
  void Merge(const LossLedger& other);
  // The same of ledgers that count the same losses: the larger number of each.
  void MergeEqual(const LossLedger& other);
  // True when some counter that is a loss is not zero.
  bool AnythingLost() const noexcept;
  // What AddPart has counted.
  const std::map<LossPart, uint64_t>& parts() const noexcept { return parts_; }

 private:
  std::array<uint64_t, static_cast<size_t>(Loss::kCount)> counts_{};
  std::map<LossPart, uint64_t> parts_;
};

// The meaning of a counter, and its parts: "records that a backend could not
// keep: of my_net, 3 packets for which no buffer was (dropped)", "ranks of the
// job whose trace is missing: ranks 2-3, because the command was killed".
std::string LossText(const LossLedger& ledger, Loss loss);

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_LOSS_LEDGER_H_
