#include "backends/cupti/decode/decode.h"

#include <algorithm>

#include "backends/cupti/decode/event_decoder.h"
#include "backends/cupti/decode/log_tables.h"
#include "backends/cupti/decode/marker_decoder.h"
#include "backends/cupti/decode/memory_decoder.h"
#include "backends/cupti/log/log_reader.h"

namespace kymo::cupti {
namespace {

using model::Loss;

void AddLosses(const LogFacts& facts, const LogTables& tables,
               model::LossLedger& ledger) {
  ledger.Add(Loss::kRecordsCorrupt, tables.corrupt());
  ledger.Add(Loss::kDrainBytesLost, facts.bytes_lost);
  ledger.Add(Loss::kDeviceBuffersLost, facts.buffers_out);
  uint64_t dropped = 0;
  for (const auto& [reason, count] : tables.losses()) {
    switch (reason) {
      case LossReason::kDropped:
        dropped += count;
        break;
      case LossReason::kTexts:
        ledger.Add(Loss::kNamesDroppedTableFull, count);
        break;
      case LossReason::kForeign:
        ledger.Add(Loss::kDeviceBuffersLost, count);
        break;
      case LossReason::kUnknown:
        ledger.Add(Loss::kEventsNotImported, count);
        break;
      default:
        ledger.Add(Loss::kRecordsCorrupt, count);
    }
  }
  // A refused request stands for at least one record, and CUPTI tells about
  // dropped records only with the next buffer that it returns.
  ledger.Add(Loss::kDeviceRecordsDropped,
             std::max(dropped, facts.buffers_refused));
}

void AddStream(int64_t pid, const StreamRecord& stream, const LogTables& tables,
               DecodedLog& decoded) {
  if (decoded.streams.size() >= DecodedLog::kMaxStreams) return;
  decoded.streams.insert(
      {.pid = pid,
       .device = tables.DeviceOfContext(stream.context).value_or(0),
       .context = stream.context,
       .id = stream.id,
       .priority = static_cast<int32_t>(stream.priority),
       .flag = stream.flag});
}

}  // namespace

DecodedLog DecodeLog(const LogFacts& facts, std::span<const std::byte> records,
                     const DecodeOptions& options, model::TraceShard& shard) {
  LogTables tables(records, options.epoch_offset_ns);
  AddLosses(facts, tables, shard.ledger);
  EventDecoder decoder(facts.pid, options, tables, shard);
  MemoryDecoder memory(facts.pid, tables, decoder.writer());
  MarkerDecoder markers(facts.pid, tables, decoder.writer());
  const size_t kernels = tables.count(RecordKind::kKernel);
  const size_t others = tables.count(RecordKind::kCopy) +
                        tables.count(RecordKind::kSet) +
                        tables.count(RecordKind::kCall);
  decoder.writer().Reserve(kernels + others, 10 * kernels + 3 * others);
  DecodedLog decoded;
  for (LogReader reader(records); reader.Next();) {
    decoder.Decode(reader);
    memory.Decode(reader);
    markers.Decode(reader);
    switch (reader.kind()) {
      case RecordKind::kRefused:
        decoded.refused.emplace_back(
            tables.Text(reader.Get<RefusedRecord>().header.name));
        break;
      case RecordKind::kStream:
        AddStream(facts.pid, reader.Get<StreamRecord>(), tables, decoded);
        break;
      default:
        break;
    }
  }
  memory.Finish();
  markers.Finish();
  decoder.Finish();

  model::Process process;
  process.pid = facts.pid;
  shard.processes.push_back(process);
  decoded.clock_error_ns = tables.clock().error_ns();
  decoded.early_ns = decoder.early_ns();
  decoded.late_ns = decoder.late_ns();
  for (const auto& [id, device] : tables.devices()) {
    if (device.is_hidden != 0) continue;
    decoded.devices[id] = {device,
                           std::string(tables.Text(device.header.name))};
  }
  return decoded;
}

}  // namespace kymo::cupti
