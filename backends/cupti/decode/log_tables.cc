#include "backends/cupti/decode/log_tables.h"

#include <algorithm>

#include "backends/cupti/log/log_reader.h"

namespace kymo::cupti {
namespace {

// The writer gives fewer ids; a broken log could name any.
constexpr uint32_t kMaxTextId = 1u << 20;

}  // namespace

LogTables::LogTables(std::span<const std::byte> records,
                     int64_t epoch_offset_ns)
    : clock_(epoch_offset_ns) {
  LogReader reader(records);
  while (reader.Next()) {
    ++counts_[static_cast<size_t>(reader.kind())];
    switch (reader.kind()) {
      case RecordKind::kText:
        AddText(reader.name(), reader.text());
        break;
      case RecordKind::kCall: {
        const CallRecord call = reader.Get<CallRecord>();
        calls_.push_back({call.start, call.correlation, call.thread});
        break;
      }
      case RecordKind::kDevice:
        AddDevice(reader.Get<DeviceRecord>());
        break;
      case RecordKind::kKernel:
        LearnContext(reader.Get<KernelRecord>());
        break;
      case RecordKind::kCopy:
        LearnContext(reader.Get<CopyRecord>());
        break;
      case RecordKind::kSet:
        LearnContext(reader.Get<SetRecord>());
        break;
      case RecordKind::kContext: {
        const ContextRecord context = reader.Get<ContextRecord>();
        context_devices_[context.id] = context.device;
        break;
      }
      case RecordKind::kEvent: {
        const EventRecord event = reader.Get<EventRecord>();
        const RecordedEvent recorded = {event.correlation, event.stream};
        events_[{event.context, event.event}].push_back(recorded);
        if (event.event_sync != kNoEventSync) {
          events_by_sync_[event.event_sync] = recorded;
        }
        break;
      }
      case RecordKind::kSync:
        syncs_.push_back(reader.Get<SyncRecord>());
        break;
      case RecordKind::kExternal:
        externals_.push_back(reader.Get<ExternalRecord>());
        break;
      case RecordKind::kAnchor:
        clock_.Add(reader.Get<AnchorRecord>());
        break;
      case RecordKind::kLoss: {
        const LossRecord loss = reader.Get<LossRecord>();
        losses_[loss.reason] += loss.count;
        break;
      }
      default:
        break;
    }
  }
  corrupt_ += reader.corrupt();
  clock_.Finish();
  FinishCalls();
  FinishExternals();
  FinishWaits();
  for (auto& [key, recorded] : events_) {
    std::stable_sort(recorded.begin(), recorded.end(),
                     [](const RecordedEvent& a, const RecordedEvent& b) {
                       return a.correlation < b.correlation;
                     });
  }
}

void LogTables::AddDevice(const DeviceRecord& device) {
  const auto [it, is_new] = devices_.try_emplace(device.id, device);
  if (!is_new && (device.is_hidden == 0 || it->second.is_hidden != 0)) {
    it->second = device;
  }
}

template <typename R>
void LogTables::LearnContext(const R& record) {
  if (record.context == last_context_) [[likely]]
    return;
  last_context_ = record.context;
  context_devices_.try_emplace(record.context, record.device);
}

void LogTables::AddText(uint32_t id, std::string_view text) {
  if (id >= kMaxTextId) {
    ++corrupt_;
    return;
  }
  if (id >= texts_.size()) texts_.resize(id + 1);
  texts_[id] = text;
}

void LogTables::FinishCalls() {
  const auto order = [](const LaunchCall& a, const LaunchCall& b) {
    return a.correlation != b.correlation ? a.correlation < b.correlation
                                          : a.start < b.start;
  };
  if (!std::is_sorted(calls_.begin(), calls_.end(), order)) {
    std::stable_sort(calls_.begin(), calls_.end(), order);
  }
  const auto last = std::unique(calls_.begin(), calls_.end(),
                                [](const LaunchCall& a, const LaunchCall& b) {
                                  return a.correlation == b.correlation;
                                });
  calls_.erase(last, calls_.end());
  if (calls_.empty()) return;
  const uint32_t first = calls_.front().correlation;
  const size_t range = size_t{calls_.back().correlation} - first + 1;
  if (range > 8 * calls_.size() + 4096) return;
  call_places_.resize(range);
  for (size_t i = 0; i < calls_.size(); ++i) {
    call_places_[calls_[i].correlation - first] = static_cast<uint32_t>(i + 1);
  }
}

void LogTables::FinishExternals() {
  const auto key = [](const ExternalRecord& external) {
    return std::pair(external.correlation, external.kind);
  };
  std::stable_sort(externals_.begin(), externals_.end(),
                   [&](const ExternalRecord& a, const ExternalRecord& b) {
                     return key(a) < key(b);
                   });
  const auto last =
      std::unique(externals_.begin(), externals_.end(),
                  [&](const ExternalRecord& a, const ExternalRecord& b) {
                    return key(a) == key(b);
                  });
  externals_.erase(last, externals_.end());
}

void LogTables::FinishWaits() {
  for (const SyncRecord& sync : syncs_) {
    const LaunchCall* const call = Launch(sync.correlation);
    if (call != nullptr) waits_.Add(sync, call->thread);
  }
  waits_.Finish();
  syncs_ = {};
}

const DeviceRecord* LogTables::Device(uint32_t id) const {
  const auto it = devices_.find(id);
  return it == devices_.end() ? nullptr : &it->second;
}

std::optional<uint32_t> LogTables::DeviceOfContext(uint32_t context) const {
  const auto it = context_devices_.find(context);
  if (it == context_devices_.end()) return std::nullopt;
  return it->second;
}

const LaunchCall* LogTables::Launch(uint32_t correlation) const {
  if (calls_.empty() || correlation < calls_.front().correlation) {
    return nullptr;
  }
  if (!call_places_.empty()) {
    const uint32_t place = correlation - calls_.front().correlation;
    if (place >= call_places_.size() || call_places_[place] == 0) {
      return nullptr;
    }
    return &calls_[call_places_[place] - 1];
  }
  const auto it = std::lower_bound(calls_.begin(), calls_.end(), correlation,
                                   [](const LaunchCall& call, uint32_t id) {
                                     return call.correlation < id;
                                   });
  return it != calls_.end() && it->correlation == correlation ? &*it : nullptr;
}

const RecordedEvent* LogTables::FindEvent(const SyncRecord& sync) const {
  // The recording that the wait names, else the last one before the wait.
  if (sync.event_sync != kNoEventSync) {
    const auto named = events_by_sync_.find(sync.event_sync);
    if (named != events_by_sync_.end()) return &named->second;
  }
  const auto it = events_.find({sync.context, sync.event});
  if (it == events_.end()) return nullptr;
  const std::vector<RecordedEvent>& recorded = it->second;
  const auto after = std::upper_bound(
      recorded.begin(), recorded.end(), sync.correlation,
      [](uint32_t id, const RecordedEvent& e) { return id < e.correlation; });
  return after == recorded.begin() ? nullptr : &*(after - 1);
}

std::span<const ExternalRecord> LogTables::ExternalIds(
    uint32_t correlation) const {
  const auto [begin, end] =
      std::equal_range(externals_.begin(), externals_.end(),
                       ExternalRecord{.correlation = correlation},
                       [](const ExternalRecord& a, const ExternalRecord& b) {
                         return a.correlation < b.correlation;
                       });
  return {begin, end};
}

}  // namespace kymo::cupti
