#include "backends/cupti/decode/event_decoder.h"

#include <algorithm>
#include <string>

#include "backends/cupti/decode/activity_names.h"

namespace kymo::cupti {
namespace {

using model::ActivityType;
using model::Arg;
using model::Loss;
using model::NameId;

int32_t DeviceIndex(uint32_t device) { return static_cast<int32_t>(device); }

int64_t StreamId(uint32_t stream) {
  return stream == kNoStream ? -1 : int64_t{stream};
}

// CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0.
constexpr uint32_t kKinetosExternalKind = 3;

DurationNs Clamped(uint64_t ns) {
  return static_cast<DurationNs>(std::min<uint64_t>(ns, INT64_MAX));
}

bool WaitsForEvent(uint32_t sync_type) {
  return sync_type == 1 || sync_type == 2;
}

}  // namespace

EventDecoder::Keys::Keys(model::StringTable& strings)
    : queued(strings.Intern("queued")),
      queue_us(strings.Intern("time in queue (us)")),
      submit_us(strings.Intern("time from submission to start (us)")),
      context(strings.Intern("context")),
      graph(strings.Intern("graph id")),
      graph_node(strings.Intern("graph node id")),
      channel(strings.Intern("channel")),
      channel_type(strings.Intern("channel_type")),
      bytes(strings.Intern("bytes")),
      bandwidth(strings.Intern("memory bandwidth (GB/s)")),
      from_device(strings.Intern("fromDevice")),
      in_device(strings.Intern("inDevice")),
      to_device(strings.Intern("toDevice")),
      from_context(strings.Intern("fromContext")),
      in_context(strings.Intern("inContext")),
      to_context(strings.Intern("toContext")),
      cbid(strings.Intern("cbid")),
      result(strings.Intern("result")),
      external_id(strings.Intern(ExternalKey(kKinetosExternalKind))),
      sync_kind(strings.Intern("cuda_sync_kind")),
      wait_stream(strings.Intern("wait_on_stream")),
      wait_correlation(strings.Intern("wait_on_cuda_event_record_corr_id")),
      wait_event(strings.Intern("wait_on_cuda_event_id")),
      event(strings.Intern("event_id")),
      address(strings.Intern("address")) {}

EventDecoder::EventDecoder(int64_t pid, const DecodeOptions& options,
                           LogTables& tables, model::TraceShard& shard)
    : pid_(pid),
      with_queries_(options.with_queries),
      tables_(tables),
      clock_(tables.clock()),
      ledger_(shard.ledger),
      strings_(shard.strings),
      writer_(shard),
      launch_args_(shard.strings),
      keys_(shard.strings),
      names_(std::max<size_t>(tables.text_count(), 1)) {}

void EventDecoder::Decode(const LogReader& reader) {
  switch (reader.kind()) {
    case RecordKind::kKernel:
      return Kernel(reader.Get<KernelRecord>());
    case RecordKind::kCopy:
      return Copy(reader.Get<CopyRecord>());
    case RecordKind::kSet:
      return Set(reader.Get<SetRecord>());
    case RecordKind::kCall:
      return Call(reader.Get<CallRecord>());
    case RecordKind::kSync:
      return Sync(reader.Get<SyncRecord>());
    case RecordKind::kEvent:
      return Event(reader.Get<EventRecord>());
    case RecordKind::kGraph:
      return Graph(reader.Get<GraphRecord>());
    case RecordKind::kOverhead:
      return Overhead(reader.Get<OverheadRecord>());
    case RecordKind::kUnified:
      return UnifiedCopy(reader.Get<UnifiedRecord>());
    default:
      return;
  }
}

bool EventDecoder::HasTimes(uint64_t start, uint64_t end) {
  if (start != 0 && end != 0) [[likely]]
    return true;
  ledger_.Add(Loss::kDeviceTimesMissing, 1);
  return false;
}

// Also notes work that seems to end too late. Such work is shown all the same.
template <typename R>
bool EventDecoder::IsAfterLaunch(const R& work) {
  const LaunchCall* const call = tables_.Launch(work.correlation);
  if (call == nullptr) return true;
  const uint64_t late = tables_.waits().LateBy(call->thread, work);
  if (late != 0) late_ns_ = std::max(late_ns_, Clamped(late));
  if (work.start >= call->start) [[likely]]
    return true;
  ledger_.Add(Loss::kDeviceBeforeLaunch, 1);
  early_ns_ = std::max(early_ns_, Clamped(call->start - work.start));
  return false;
}

EventDecoder::NameCache& EventDecoder::Names(uint32_t text) {
  return names_[text < names_.size() ? text : 0];
}

NameId EventDecoder::KernelNameOf(uint32_t text) {
  NameCache& names = Names(text);
  if (names.kernel == model::kEmptyName) [[unlikely]] {
    names.kernel = strings_.Intern(KernelName(tables_.Text(text)));
  }
  return names.kernel;
}

void EventDecoder::Int(NameId key, uint64_t value) {
  writer_.Arg(Arg::Int(key, static_cast<int64_t>(value)));
}

void EventDecoder::ExternalArg(uint32_t correlation) {
  for (const ExternalRecord& external : tables_.ExternalIds(correlation)) {
    const NameId key = external.kind == kKinetosExternalKind
                           ? keys_.external_id
                           : strings_.Intern(ExternalKey(external.kind));
    Int(key, external.id);
  }
}

template <typename R>
void EventDecoder::GraphArgs(const R& record) {
  if (record.graph != 0) {
    Int(keys_.graph, record.graph);
    Int(keys_.graph_node, record.graph_node);
  }
  if (record.channel_type != 0) {
    Int(keys_.channel, record.channel);
    Int(keys_.channel_type, record.channel_type);
  }
}

template <typename R>
void EventDecoder::AddOnStream(const R& record, NameId name,
                               ActivityType type) {
  writer_.Stream(pid_, DeviceIndex(record.device), StreamId(record.stream))
      .Add(clock_.ToEpochNs(record.start), clock_.ToEpochNs(record.end), name,
           type, writer_.EndDetail());
}

void EventDecoder::Kernel(const KernelRecord& kernel) {
  if (!HasTimes(kernel.start, kernel.end)) return;
  if (!IsAfterLaunch(kernel)) return;
  const NameId name = KernelNameOf(kernel.header.name);
  writer_.BeginDetail(kernel.correlation);
  ExternalArg(kernel.correlation);
  Int(keys_.queued, static_cast<uint64_t>(clock_.ToEpochNs(kernel.queued)));
  Int(keys_.context, kernel.context);
  writer_.Args(launch_args_.Of(kernel, tables_.Device(kernel.device)));
  if (kernel.queued != 0 && kernel.submitted >= kernel.queued) {
    writer_.Arg(Arg::Double(
        keys_.queue_us,
        static_cast<double>(kernel.submitted - kernel.queued) / kNsPerUs));
  }
  if (kernel.submitted != 0 && kernel.start >= kernel.submitted) {
    writer_.Arg(Arg::Double(
        keys_.submit_us,
        static_cast<double>(kernel.start - kernel.submitted) / kNsPerUs));
  }
  GraphArgs(kernel);
  AddOnStream(kernel, name, ActivityType::kConcurrentKernel);
}

template <typename R>
void EventDecoder::BeginTransfer(const R& record) {
  writer_.BeginDetail(record.correlation);
  ExternalArg(record.correlation);
}

template <typename R>
void EventDecoder::TransferArgs(const R& record) {
  Int(keys_.bytes, record.bytes);
  if (record.end > record.start) {
    // Bytes per ns are the same number as GB per s.
    writer_.Arg(Arg::Double(
        keys_.bandwidth, static_cast<double>(record.bytes) /
                             static_cast<double>(record.end - record.start)));
  }
  GraphArgs(record);
}

void EventDecoder::Copy(const CopyRecord& copy) {
  if (!HasTimes(copy.start, copy.end)) return;
  if (!IsAfterLaunch(copy)) return;
  const uint64_t kinds = uint64_t{1} << 32 | uint64_t{copy.copy_kind} << 16 |
                         uint64_t{copy.from_kind} << 8 | copy.to_kind;
  NameId& name = transfer_names_[kinds];
  if (name == model::kEmptyName) name = strings_.Intern(CopyName(copy));
  BeginTransfer(copy);
  if (copy.is_peer != 0) {
    Int(keys_.from_device, copy.from_device);
    Int(keys_.in_device, copy.device);
    Int(keys_.to_device, copy.to_device);
    Int(keys_.from_context, copy.from_context);
    Int(keys_.in_context, copy.context);
    Int(keys_.to_context, copy.to_context);
  } else {
    Int(keys_.context, copy.context);
  }
  TransferArgs(copy);
  AddOnStream(copy, name, ActivityType::kGpuMemcpy);
}

void EventDecoder::Set(const SetRecord& set) {
  if (!HasTimes(set.start, set.end)) return;
  if (!IsAfterLaunch(set)) return;
  NameId& name = transfer_names_[uint64_t{2} << 32 | set.memory_kind];
  if (name == model::kEmptyName) name = strings_.Intern(SetName(set));
  BeginTransfer(set);
  Int(keys_.context, set.context);
  TransferArgs(set);
  AddOnStream(set, name, ActivityType::kGpuMemset);
}

void EventDecoder::Call(const CallRecord& call) {
  NameCache& names = Names(call.header.name);
  if (names.call == model::kEmptyName) [[unlikely]] {
    const std::string_view name = CallName(tables_.Text(call.header.name));
    names.call = strings_.Intern(name);
    names.is_query = IsQuery(name);
  }
  if (names.is_query && !with_queries_) return;
  if (!HasTimes(call.start, call.end)) return;
  writer_.BeginDetail(call.correlation);
  ExternalArg(call.correlation);
  Int(keys_.cbid, call.cbid);
  if (call.result != 0) {
    writer_.Arg(Arg::Int(keys_.result, call.result));
  }
  writer_.Thread(pid_, call.thread)
      .Add(clock_.ToEpochNs(call.start), clock_.ToEpochNs(call.end), names.call,
           call.domain == CallDomain::kRuntime ? ActivityType::kCudaRuntime
                                               : ActivityType::kCudaDriver,
           writer_.EndDetail());
}

void EventDecoder::WaitArgs(const SyncRecord& sync) {
  if (!WaitsForEvent(sync.type)) return;
  const RecordedEvent* const event = tables_.FindEvent(sync);
  // As in Kineto, -1 if it is not known.
  writer_.Arg(Arg::Int(keys_.wait_stream,
                       event == nullptr ? -1 : StreamId(event->stream)));
  writer_.Arg(Arg::Int(keys_.wait_correlation,
                       event == nullptr ? -1 : int64_t{event->correlation}));
  Int(keys_.wait_event, sync.event);
}

void EventDecoder::Sync(const SyncRecord& sync) {
  if (sync.result != 0 || !HasTimes(sync.start, sync.end)) return;
  const NameId name = strings_.Intern(SyncName(sync.type));
  writer_.BeginDetail(sync.correlation);
  writer_.Arg(Arg::String(keys_.sync_kind, name));
  WaitArgs(sync);
  Int(keys_.context, sync.context);
  const uint32_t device = tables_.DeviceOfContext(sync.context).value_or(0);
  writer_.SyncStream(pid_, DeviceIndex(device), StreamId(sync.stream))
      .Add(clock_.ToEpochNs(sync.start), clock_.ToEpochNs(sync.end), name,
           ActivityType::kCudaSync, writer_.EndDetail());
}

void EventDecoder::Event(const EventRecord& event) {
  // If the device's time is missing, the call's time takes its place.
  uint64_t time = event.time;
  const LaunchCall* const call = tables_.Launch(event.correlation);
  if (time == 0 && call != nullptr) time = call->start;
  if (!HasTimes(time, time)) return;
  writer_.BeginDetail(event.correlation);
  Int(keys_.event, event.event);
  Int(keys_.context, event.context);
  const uint32_t device =
      event.has_device != 0
          ? event.device
          : tables_.DeviceOfContext(event.context).value_or(0);
  const TimeNs at = clock_.ToEpochNs(time);
  writer_.SyncStream(pid_, DeviceIndex(device), StreamId(event.stream))
      .Add(at, at == INT64_MAX ? at : at + 1, strings_.Intern("cudaEvent"),
           ActivityType::kCudaEvent, writer_.EndDetail());
}

void EventDecoder::Graph(const GraphRecord& graph) {
  if (!HasTimes(graph.start, graph.end)) return;
  if (!IsAfterLaunch(graph)) return;
  writer_.BeginDetail(graph.correlation);
  ExternalArg(graph.correlation);
  Int(keys_.context, graph.context);
  Int(keys_.graph, graph.graph);
  AddOnStream(graph, strings_.Intern("CUDA Graph"),
              ActivityType::kConcurrentKernel);
}

void EventDecoder::Overhead(const OverheadRecord& overhead) {
  if (!HasTimes(overhead.start, overhead.end)) return;
  writer_.Thread(pid_, overhead.thread != 0 ? int64_t{overhead.thread} : pid_)
      .Add(clock_.ToEpochNs(overhead.start), clock_.ToEpochNs(overhead.end),
           strings_.Intern(OverheadName(overhead.overhead)),
           ActivityType::kOverhead, model::kNoDetail, model::kEventAsync);
}

void EventDecoder::UnifiedCopy(const UnifiedRecord& unified) {
  const std::string_view name = UnifiedCopyName(unified.counter);
  if (name.empty() || !HasTimes(unified.start, unified.end)) return;
  writer_.BeginDetail(0);
  Int(keys_.bytes, unified.value);
  if (unified.end > unified.start) {
    writer_.Arg(Arg::Double(
        keys_.bandwidth, static_cast<double>(unified.value) /
                             static_cast<double>(unified.end - unified.start)));
  }
  Int(keys_.address, unified.address);
  // The device of a transfer to the host is the one that it comes from.
  const uint32_t device = unified.counter == 2 ? unified.from : unified.to;
  writer_.Stream(pid_, DeviceIndex(device), -1)
      .Add(clock_.ToEpochNs(unified.start), clock_.ToEpochNs(unified.end),
           strings_.Intern(name), ActivityType::kGpuMemcpy,
           writer_.EndDetail());
}

}  // namespace kymo::cupti
