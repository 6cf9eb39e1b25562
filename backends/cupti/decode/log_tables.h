// log_tables.h - what the records of a log refer to, in whatever order they
// come.
//
//   LogTables tables(records, epoch_offset_ns);   // one pass over the log
//   tables.Device(kernel.device)                  // null: not in the log
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
  uint64_t start = 0;  // in the log's clock
  uint32_t correlation = 0;
  uint32_t thread = 0;
};

// A call of cudaEventRecord, for waits for its event.
struct RecordedEvent {
  uint32_t correlation = 0;
  uint32_t stream = 0;
};

class LogTables {
 public:
  LogTables(std::span<const std::byte> records, int64_t epoch_offset_ns);

  // Empty for an id without a text.
  std::string_view Text(uint32_t id) const {
    return id < texts_.size() ? texts_[id] : std::string_view();
  }
  size_t text_count() const { return texts_.size(); }

  const DeviceRecord* Device(uint32_t id) const;
  const std::map<uint32_t, DeviceRecord>& devices() const { return devices_; }
  std::optional<uint32_t> DeviceOfContext(uint32_t context) const;

  // If a runtime call and a driver call share an id, the outer call.
  const LaunchCall* Launch(uint32_t correlation) const;
  const WaitTable& waits() const { return waits_; }
  // The recorded event that a wait waits for.
  const RecordedEvent* FindEvent(const SyncRecord& sync) const;
  // The program's own ids for the work with `correlation`: one of each kind, by
  // kind.
  std::span<const ExternalRecord> ExternalIds(uint32_t correlation) const;

  LogClockConverter& clock() { return clock_; }
  // The number of records of a kind.
  size_t count(RecordKind kind) const {
    return counts_[static_cast<size_t>(kind)];
  }
  // Sums of LossRecord, by reason.
  const std::map<LossReason, uint64_t>& losses() const { return losses_; }
  uint64_t corrupt() const { return corrupt_; }

 private:
  void AddText(uint32_t id, std::string_view text);
  // Among several with one id, one that the program can use wins, then the last
  // one.
  void AddDevice(const DeviceRecord& device);
  // Work in a context also tells the context's device: CUPTI may have started
  // later than the context, and does not describe green contexts.
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
  // Index: correlation - calls_[0].correlation. Value: 1 + position in calls_.
  // Empty if the ids are too far apart for such a table.
  std::vector<uint32_t> call_places_;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<RecordedEvent>>
      events_;  // by context and event; each by correlation
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
