// log_tables.h - what the records of a log refer to, whatever their order.
//
//   LogTables tables(records, epoch_offset_ns);   // one pass over the log
//   tables.Device(kernel.device)                  // null: not described
//   tables.Launch(kernel.correlation)             // the call, or null
//
// Threads: none; `records` must outlive the object.
#ifndef KYMO_BACKENDS_CUPTI_DECODE_LOG_TABLES_H_
#define KYMO_BACKENDS_CUPTI_DECODE_LOG_TABLES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/cupti/decode/log_clock.h"
#include "backends/cupti/decode/wait_table.h"
#include "backends/cupti/log/gpu_record.h"

namespace kymo::cupti {

// A call of the runtime or driver.
struct LaunchCall {
  uint64_t start = 0;  // of the log's clock
  uint32_t correlation = 0;
  uint32_t thread = 0;
};

// cudaEventRecord, for those who wait for it.
struct RecordedEvent {
  uint32_t correlation = 0;
  uint32_t stream = 0;
};

class LogTables {
 public:
  LogTables(std::span<const std::byte> records, int64_t epoch_offset_ns);

  // Empty for an id that has no text.
  std::string_view Text(uint32_t id) const {
    return id < texts_.size() ? texts_[id] : std::string_view();
  }
  size_t text_count() const { return texts_.size(); }

  const DeviceRecord* Device(uint32_t id) const;
  const std::map<uint32_t, DeviceRecord>& devices() const { return devices_; }
  std::optional<uint32_t> DeviceOfContext(uint32_t context) const;

  // Where runtime and driver share an id, the outer one.
  const LaunchCall* Launch(uint32_t correlation) const;
  const WaitTable& waits() const { return waits_; }
  // What a wait for an event of a context waits for.
  const RecordedEvent* FindEvent(const SyncRecord& sync) const;
  // The program's own ids for what ran with `correlation`, one of a kind, by
  // kind.
  std::span<const ExternalRecord> ExternalIds(uint32_t correlation) const;

  LogClockConverter& clock() { return clock_; }
  // How many records of a kind there are.
  size_t count(RecordKind kind) const {
    return counts_[static_cast<size_t>(kind)];
  }
  // Sums of LossRecord, by reason.
  const std::map<LossReason, uint64_t>& losses() const { return losses_; }
  uint64_t corrupt() const { return corrupt_; }

 private:
  void AddText(uint32_t id, std::string_view text);
  // Of several with one id, one that the program can use counts, then the last.
  void AddDevice(const DeviceRecord& device);
  // What ran in a context tells its device, too: CUPTI may have begun later
  // than the context, and describes no green ones.
  template <typename R>
  void LearnContext(const R& record);
  void FinishCalls();
  void FinishExternals();
  void FinishWaits();

  std::vector<std::string_view> texts_;  // by id
  std::map<uint32_t, DeviceRecord> devices_;
  std::unordered_map<uint32_t, uint32_t> context_devices_;
  uint32_t last_context_ = 0xffffffffu;
  std::vector<LaunchCall> calls_;  // by correlation, which is unique
  // By correlation - calls_[0].correlation, 1 + the place in calls_; empty
  // where the ids are too far apart for it.
  std::vector<uint32_t> call_places_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<RecordedEvent>>
      events_;  // by context and event, those by correlation
  std::unordered_map<uint64_t, RecordedEvent> events_by_sync_;
  std::vector<ExternalRecord> externals_;  // by correlation and kind
  std::vector<SyncRecord> syncs_;          // until FinishWaits
  WaitTable waits_;
  LogClockConverter clock_;
  std::array<size_t, static_cast<size_t>(RecordKind::kEnd)> counts_ = {};
  std::map<LossReason, uint64_t> losses_;
  uint64_t corrupt_ = 0;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_LOG_TABLES_H_
