// event_decoder.h - decodes the events of one log; the main part of decode.h.
//
// Threads: none.
#ifndef KYMO_BACKENDS_CUPTI_DECODE_EVENT_DECODER_H_
#define KYMO_BACKENDS_CUPTI_DECODE_EVENT_DECODER_H_

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backends/cupti/decode/decode.h"
#include "backends/cupti/decode/launch_args.h"
#include "backends/cupti/decode/log_tables.h"
#include "backends/cupti/decode/shard_writer.h"
#include "backends/cupti/log/gpu_record.h"
#include "backends/cupti/log/log_reader.h"

namespace kymo::cupti {

class EventDecoder {
 public:
  // All must outlive the object.
  EventDecoder(int64_t pid, const DecodeOptions& options, LogTables& tables,
               model::TraceShard& shard);

  // Decodes a record that is an event; ignores other records.
  void Decode(const LogReader& reader);
  // Moves the events into the shard.
  void Finish() { writer_.Finish(); }

  DurationNs early_ns() const { return early_ns_; }
  DurationNs late_ns() const { return late_ns_; }
  ShardWriter& writer() { return writer_; }

 private:
  // The trace's names for a text of the log; each is made when it is needed.
  struct NameCache {
    model::NameId kernel = model::kEmptyName;
    model::NameId call = model::kEmptyName;
    bool is_query = false;
  };
  struct Keys {
    explicit Keys(model::StringTable& strings);
    model::NameId queued, queue_us, submit_us, context, graph, graph_node,
        channel, channel_type, bytes, bandwidth, from_device, in_device,
        to_device, from_context, in_context, to_context, cbid, result,
        external_id, sync_kind, wait_stream, wait_correlation, wait_event,
        event, address;
  };

  void Kernel(const KernelRecord& kernel);
  void Copy(const CopyRecord& copy);
  void Set(const SetRecord& set);
  void Call(const CallRecord& call);
  void Sync(const SyncRecord& sync);
  void Event(const EventRecord& event);
  void Graph(const GraphRecord& graph);
  void Overhead(const OverheadRecord& overhead);
  void UnifiedCopy(const UnifiedRecord& unified);

  // False, and the loss is counted, for an activity that cannot be shown.
  bool HasTimes(uint64_t start, uint64_t end);
  template <typename R>
  bool IsAfterLaunch(const R& work);
  NameCache& Names(uint32_t text);
  model::NameId KernelNameOf(uint32_t text);
  void Int(model::NameId key, uint64_t value);
  // Adds arguments that many activities have.
  void ExternalArg(uint32_t correlation);
  template <typename R>
  void BeginTransfer(const R& record);
  template <typename R>
  void TransferArgs(const R& record);
  template <typename R>
  void GraphArgs(const R& record);
  template <typename R>
  void AddOnStream(const R& record, model::NameId name,
                   model::ActivityType type);
  void WaitArgs(const SyncRecord& sync);

  const int64_t pid_;
  const bool with_queries_;
  LogTables& tables_;
  LogClockConverter& clock_;
  model::LossLedger& ledger_;
  model::StringTable& strings_;
  ShardWriter writer_;
  LaunchArgs launch_args_;
  const Keys keys_;
  std::vector<NameCache> names_;  // by text id
  // Names of transfers, by the numbers that the name is made of.
  std::unordered_map<uint64_t, model::NameId> transfer_names_;
  DurationNs early_ns_ = 0;
  DurationNs late_ns_ = 0;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_EVENT_DECODER_H_
