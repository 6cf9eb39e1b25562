// plugin_records.cc - checks what a loaded backend hands over.
//
// Long, because it has one function for each kind of record.
#include "profiler/plugin/library/plugin_records.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/library/plugin_abi.h"
#include "profiler/text/json_text.h"
#include "profiler/text/utf8.h"

namespace kymo {
namespace {

using model::ActivityType;
using model::RecordScope;
using model::TrackKind;

constexpr uint32_t kMostArgs = 64;
constexpr size_t kMostTracks = 65'536;
constexpr size_t kMostRemarks = 100;
constexpr uint32_t kMostDevice = 65'535;
constexpr uint32_t kMostStream = model::kSyncRows - 1;
constexpr uint32_t kMostCorrelation = 0x7fffffff;
// CUPTI and its like count from 1.
constexpr uint32_t kOfPlugins = 0x80000000;

bool IsId(int64_t id) {
  return id > 0 && id <= std::numeric_limits<int32_t>::max();
}

bool IsEmpty(const char* text) { return text == nullptr || *text == '\0'; }

struct RangeType {
  ActivityType type;
  RecordScope scope;
  uint8_t flags = 0;
};
constexpr RangeType kRangeTypes[] = {
    {ActivityType::kUserAnnotation, RecordScope::kUserScope},
    {ActivityType::kCpuOp, RecordScope::kFunction},
    {ActivityType::kCudaRuntime, RecordScope::kFunction},
    {ActivityType::kOverhead, RecordScope::kFunction, model::kEventAsync},
    {ActivityType::kUserAnnotation, RecordScope::kUserScope,
     model::kEventAsync}};
static_assert(std::size(kRangeTypes) == KYMO_RANGE_ASYNC + 1);

constexpr ActivityType kWorkTypes[] = {ActivityType::kConcurrentKernel,
                                       ActivityType::kGpuMemcpy,
                                       ActivityType::kGpuMemset};
static_assert(std::size(kWorkTypes) == KYMO_WORK_SET + 1);

const char* CheckTimes(int64_t begin_ns, int64_t end_ns) {
  if (begin_ns <= 0) return "a record begins before the year 1970";
  if (end_ns < begin_ns) return "a record ends before it begins";
  return nullptr;
}

const char* CheckThread(int64_t process_id, int64_t thread_id) {
  if (!IsId(process_id)) return "a process id is not from 1 to 2^31 - 1";
  if (!IsId(thread_id)) return "a thread id is not from 1 to 2^31 - 1";
  return nullptr;
}

}  // namespace

std::string PluginText(const char* text, size_t most_bytes) {
  if (text == nullptr) return {};
  std::string scratch;
  std::string clean(
      json::ToUtf8(std::string_view(text, strnlen(text, most_bytes)), scratch));
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  return clean;
}

template <typename Function>
uint32_t PluginRecords::Guarded(void* host, Function function) noexcept {
  if (host == nullptr) return KYMO_INVALID_ARGUMENT;
  auto& records = *static_cast<PluginRecords*>(host);
  if (records.out_of_memory_) return KYMO_OUT_OF_MEMORY;
  try {
    const char* const refusal = function(records);
    if (refusal == nullptr) return KYMO_OK;
    if (records.refused_++ == 0) records.first_refusal_ = refusal;
    return KYMO_INVALID_ARGUMENT;
  } catch (const std::bad_alloc&) {
    records.out_of_memory_ = true;
    return KYMO_OUT_OF_MEMORY;
  } catch (...) {
    // The library may be of C, through which no exception may go.
    records.failed_ = true;
    return KYMO_INTERNAL;
  }
}

template <typename Record>
uint32_t PluginRecords::Take(void* host, const Record* from) noexcept {
  return Guarded(host, [from](PluginRecords& records) -> const char* {
    if (from == nullptr) return "a record is NULL";
    if (from->struct_size < kFirstSize<Record>) {
      return "the struct_size of a record is too small";
    }
    return records.Add(CopySized(from));
  });
}

PluginRecords::PluginRecords(Options options, model::TraceShard& shard)
    : options_(std::move(options)),
      shard_(shard),
      lost_(options_.losses.size()) {
  table_.struct_size = sizeof(table_);
  table_.host = this;
  table_.epoch_offset_ns = EpochOffsetNs();
  table_.add_range = Take<KymoRange>;
  table_.add_instant = Take<KymoInstant>;
  table_.add_counter = Take<KymoCounter>;
  table_.add_device_work = Take<KymoDeviceWork>;
  table_.add_loss = [](void* host, uint32_t counter, uint64_t count) {
    return Guarded(host, [=](PluginRecords& records) {
      return records.AddLoss(counter, count);
    });
  };
  table_.add_remark = [](void* host, const char* text) {
    return Guarded(
        host, [=](PluginRecords& records) { return records.AddRemark(text); });
  };
}

std::string_view PluginRecords::Text(const char* text) {
  if (text == nullptr) return {};
  const size_t length = strnlen(text, kMostTextBytes + 1);
  if (length > kMostTextBytes) {
    shard_.ledger.Add(model::Loss::kArgumentsTruncated, 1);
  }
  return json::ToUtf8(std::string_view(text, std::min(length, kMostTextBytes)),
                      scratch_);
}

model::NameId PluginRecords::Name(const char* text) {
  return shard_.strings.Intern(Text(text));
}

model::TrackIndex PluginRecords::TrackOf(const Key& key) {
  const auto found = tracks_.find(key);
  if (found != tracks_.end()) return found->second;
  if (tracks_.size() == kMostTracks) return model::kNoTrack;
  const auto track = static_cast<model::TrackIndex>(shard_.tracks.size());
  shard_.tracks.push_back({.kind = key.kind,
                           .pid = key.pid,
                           .id = key.id,
                           .device_index = key.device});
  rows_.resize(shard_.tracks.size());
  tracks_.emplace(key, track);
  return track;
}

const char* PluginRecords::CheckArgs(uint32_t arg_count, const KymoArg* args) {
  if (arg_count == 0) return nullptr;
  if (arg_count > kMostArgs) return "a record has more than 64 arguments";
  if (args == nullptr) return "the arguments of a record are NULL";
  for (uint32_t i = 0; i < arg_count; ++i) {
    if (IsEmpty(args[i].key)) return "the key of an argument is empty";
    if (args[i].kind > KYMO_ARG_TEXT) return "the kind of an argument is wrong";
    if (args[i].kind == KYMO_ARG_REAL && !std::isfinite(args[i].real)) {
      return "an argument is not a finite number";
    }
  }
  return nullptr;
}

model::DetailIndex PluginRecords::AddDetail(uint32_t correlation,
                                            uint32_t arg_count,
                                            const KymoArg* args) {
  if (correlation == 0 && arg_count == 0) return model::kNoDetail;
  model::Detail detail;
  detail.correlation_id = correlation;
  detail.args_begin = static_cast<uint32_t>(shard_.args.size());
  for (uint32_t i = 0; i < arg_count; ++i) {
    const model::NameId key = Name(args[i].key);
    switch (args[i].kind) {
      case KYMO_ARG_INTEGER:
        shard_.args.push_back(model::Arg::Int(key, args[i].integer));
        break;
      case KYMO_ARG_REAL:
        shard_.args.push_back(model::Arg::Double(key, args[i].real));
        break;
      default:
        shard_.args.push_back(model::Arg::String(key, Name(args[i].text)));
    }
  }
  detail.args_end = static_cast<uint32_t>(shard_.args.size());
  shard_.details.push_back(detail);
  return static_cast<model::DetailIndex>(shard_.details.size() - 1);
}

const char* PluginRecords::AddRow(const Key& key, const Row& row,
                                  uint32_t correlation, uint32_t arg_count,
                                  const KymoArg* args) {
  if (correlation > kMostCorrelation) return "a correlation is over 2^31 - 1";
  if (const char* const why = CheckArgs(arg_count, args)) return why;
  const model::TrackIndex track = TrackOf(key);
  if (track == model::kNoTrack) return "there are over 65,536 threads";
  Row& added = rows_[track].emplace_back(row);
  added.detail = AddDetail(correlation, arg_count, args);
  return nullptr;
}

const char* PluginRecords::Add(const KymoRange& range) {
  if (range.kind > KYMO_RANGE_ASYNC) return "the kind of a range is wrong";
  if (const char* const why = CheckThread(range.process_id, range.thread_id)) {
    return why;
  }
  if (IsEmpty(range.name)) return "a range has no name";
  const bool is_open = range.end_ns == 0;
  if (const char* const why =
          CheckTimes(range.begin_ns, is_open ? range.begin_ns : range.end_ns)) {
    return why;
  }
  if (range.correlation != 0 && range.kind != KYMO_RANGE_CALL) {
    return "a range that is no call has a correlation";
  }
  const auto [type, scope, flags] = kRangeTypes[range.kind];
  return AddRow({TrackKind::kThread, -1, range.process_id, range.thread_id},
                {.start_ns = range.begin_ns,
                 .end_ns = range.end_ns,
                 .name = Name(range.name),
                 .detail = model::kNoDetail,
                 .type = type,
                 .scope = scope,
                 .flags = flags},
                range.correlation, range.arg_count, range.args);
}

const char* PluginRecords::Add(const KymoInstant& instant) {
  if (const char* const why =
          CheckThread(instant.process_id, instant.thread_id)) {
    return why;
  }
  if (IsEmpty(instant.name)) return "an instant has no name";
  if (const char* const why = CheckTimes(instant.time_ns, instant.time_ns)) {
    return why;
  }
  return AddRow({TrackKind::kThread, -1, instant.process_id, instant.thread_id},
                {.start_ns = instant.time_ns,
                 .end_ns = instant.time_ns,
                 .name = Name(instant.name),
                 .detail = model::kNoDetail,
                 .type = ActivityType::kCpuInstantEvent,
                 .scope = RecordScope::kUserScope,
                 .flags = model::kEventInstant},
                0, instant.arg_count, instant.args);
}

const char* PluginRecords::Add(const KymoCounter& counter) {
  const int64_t thread =
      counter.thread_id == 0 ? counter.process_id : counter.thread_id;
  if (const char* const why = CheckThread(counter.process_id, thread)) {
    return why;
  }
  if (IsEmpty(counter.name)) return "a counter has no name";
  if (const char* const why = CheckTimes(counter.time_ns, counter.time_ns)) {
    return why;
  }
  if (!std::isfinite(counter.value)) {
    return "the value of a counter is not a finite number";
  }
  const model::TrackIndex track =
      TrackOf({TrackKind::kThread, -1, counter.process_id, thread});
  if (track == model::kNoTrack) return "there are over 65,536 threads";
  std::string name(Text(counter.name));
  if (!IsEmpty(counter.unit)) {
    absl::StrAppend(&name, " (", ToAbsl(Text(counter.unit)), ")");
  }
  shard_.counters.push_back({.track = track,
                             .name = shard_.strings.Intern(name),
                             .time_ns = counter.time_ns,
                             .value = counter.value});
  return nullptr;
}

const char* PluginRecords::Add(const KymoDeviceWork& work) {
  if (work.kind > KYMO_WORK_SET) return "the kind of a device's work is wrong";
  if (!IsId(work.process_id)) return "a process id is not from 1 to 2^31 - 1";
  if (work.device > kMostDevice) return "a device's number is over 65,535";
  if (work.stream > kMostStream) return "a stream's number is over 999,999";
  if (IsEmpty(work.name)) return "a device's work has no name";
  if (const char* const why = CheckTimes(work.begin_ns, work.end_ns)) {
    return why;
  }
  return AddRow({TrackKind::kStream, static_cast<int32_t>(work.device),
                 work.process_id, work.stream},
                {.start_ns = work.begin_ns,
                 .end_ns = work.end_ns,
                 .name = Name(work.name),
                 .detail = model::kNoDetail,
                 .type = kWorkTypes[work.kind],
                 .scope = RecordScope::kFunction,
                 .flags = 0},
                work.correlation, work.arg_count, work.args);
}

const char* PluginRecords::AddLoss(uint32_t counter, uint64_t count) {
  if (counter >= lost_.size()) return "there is no such counter of losses";
  uint64_t& lost = lost_[counter];
  lost += std::min(count, std::numeric_limits<uint64_t>::max() - lost);
  return nullptr;
}

const char* PluginRecords::AddRemark(const char* text) {
  if (IsEmpty(text)) return "a remark is empty";
  if (remarks_.size() == kMostRemarks) return "there are over 100 remarks";
  remarks_.push_back(absl::StrCat(options_.backend, ": ", PluginText(text)));
  return nullptr;
}

void PluginRecords::FinishTrack(model::TrackIndex track,
                                std::vector<Row>& rows) {
  if (rows.empty()) return;
  // Open ranges are the longest.
  const auto end = [](const Row& row) {
    return row.end_ns == 0 ? std::numeric_limits<TimeNs>::max() : row.end_ns;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : end(a) > end(b);
  });
  model::TrackEvents& events = shard_.events.emplace_back();
  events.track = track;
  for (const Row& row : rows) {
    events.start_ns.push_back(row.start_ns);
    events.end_ns.push_back(row.end_ns);
    events.name.push_back(row.name);
    events.type.push_back(row.type);
    events.scope.push_back(row.scope);
    events.flags.push_back(row.flags);
    events.detail.push_back(row.detail);
  }
  std::remove_reference_t<decltype(rows)>().swap(rows);
}

// A plugin's own counters stand in the ledger, in a remark and, each with its
// text, in the trace's metadata.
void PluginRecords::FinishLosses() {
  std::string json;
  for (size_t i = 0; i < lost_.size(); ++i) {
    if (lost_[i] == 0) continue;
    const PluginLoss& loss = options_.losses[i];
    absl::StrAppend(&json, json.empty() ? "{" : ", ");
    json::AppendJsonString(json, loss.name);
    absl::StrAppend(&json, ": {\"count\": ", lost_[i], ", \"text\": ");
    json::AppendJsonString(json, loss.text);
    json += "}";
    remarks_.push_back(absl::StrCat(options_.backend, ": lost ", lost_[i], " ",
                                    loss.text, " (", loss.name, ")"));
    shard_.ledger.AddOfBackend(options_.backend,
                               absl::StrCat(loss.text, " (", loss.name, ")"),
                               lost_[i]);
  }
  if (json.empty()) return;
  shard_.metadata.push_back(
      {shard_.strings.Intern(absl::StrCat(options_.backend, "_losses")),
       shard_.strings.Intern(json + "}")});
}

// Counts the backend's numbers anew, in their order.
absl::Status PluginRecords::FinishCorrelations() {
  std::vector<uint64_t> numbers;
  for (const model::Detail& detail : shard_.details) {
    if (detail.correlation_id != 0) {
      numbers.push_back(static_cast<uint32_t>(detail.correlation_id));
    }
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  PluginCorrelations alone;
  uint32_t& taken =
      (options_.correlations ? *options_.correlations : alone).taken;
  if (numbers.size() > kMostCorrelation - taken) {
    return absl::ResourceExhaustedError(
        "there are over 2^31 - 1 correlations; record for a shorter time");
  }
  for (model::Detail& detail : shard_.details) {
    if (detail.correlation_id == 0) continue;
    const auto place =
        std::lower_bound(numbers.begin(), numbers.end(), detail.correlation_id);
    detail.correlation_id =
        uint64_t{kOfPlugins} + taken + (place - numbers.begin()) + 1;
  }
  taken += static_cast<uint32_t>(numbers.size());
  return absl::OkStatus();
}

absl::Status PluginRecords::Finish() {
  if (out_of_memory_) {
    return absl::ResourceExhaustedError(
        "not enough memory for what was recorded; record for a shorter time");
  }
  if (failed_) {
    return absl::InternalError(
        "its records could not be taken; report this to Kymo's authors");
  }
  KYMO_RETURN_IF_ERROR(FinishCorrelations());
  for (size_t t = 0; t < rows_.size(); ++t) {
    FinishTrack(static_cast<model::TrackIndex>(t), rows_[t]);
  }
  FinishLosses();
  if (refused_ != 0) {
    shard_.ledger.Add(model::Loss::kRecordsCorrupt, refused_);
    remarks_.push_back(absl::StrCat(
        options_.backend, ": ", refused_,
        " of its records cannot be used, because of an error in the backend: ",
        first_refusal_));
  }
  return absl::OkStatus();
}

}  // namespace kymo
