#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "importers/parquet/event_inputs.h"
#include "importers/parquet/row_group.h"
#include "importers/parquet/shard_tables.h"
#include "profiler/base/parallel.h"
#include "profiler/base/record_scope.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/activity_type.h"

namespace kymo::parquet_import {
namespace {

using parquet::Type;

enum EventColumn {
  kTrack,
  kName,
  kCategory,
  kStart,
  kDuration,
  kDepth,
  kScope,
  kCalls,
  kPid,
  kTid,
  kDevice,
  kStream,
  kInstant,
  kOpen,
  kAsync,
  kModule,
  kRepeated,
  kCorrelation,
  kSequence,
  kForwardThread,
  kDebugHandle,
  kNode,
  kOverload,
  kShapes,
  kStrides,
  kTypes,
  kConcrete,
  kStack
};
constexpr ColumnWish kEvents[] = {{"track_id"},
                                  {"name", Type::kText},
                                  {"category", Type::kText},
                                  {"start_ns"},
                                  {"dur_ns"},
                                  {"depth"},
                                  {"scope"},
                                  {"calls"},
                                  {"pid"},
                                  {"tid"},
                                  {"device"},
                                  {"stream"},
                                  {"is_instant", Type::kBool},
                                  {"is_open", Type::kBool},
                                  {"is_async", Type::kBool},
                                  {"is_module", Type::kBool},
                                  {"is_repeated", Type::kBool},
                                  {"correlation_id"},
                                  {"sequence_nr"},
                                  {"forward_thread"},
                                  {"debug_handle"},
                                  {"node_id"},
                                  {"overload_name", Type::kText},
                                  {"input_shapes", Type::kText},
                                  {"input_strides", Type::kText},
                                  {"input_types", Type::kText},
                                  {"concrete_inputs", Type::kText},
                                  {"stack_id"}};
// With any of these, an event has a detail.
constexpr size_t kDetailBegin = kCorrelation;
constexpr size_t kDetailEnd = kStack + 1;

constexpr std::pair<size_t, uint8_t> kFlags[] = {
    {kInstant, model::kEventInstant},
    {kOpen, model::kEventOpen},
    {kAsync, model::kEventAsync},
    {kModule, model::kEventModule},
    {kRepeated, model::kEventRepeated}};

constexpr InputColumns kInputColumns = {kShapes, kTypes, kStrides, kConcrete};

// The first touch of memory in huge pages is several times cheaper. Without
// them, everything is merely slower.
void AdviseHugePages(void* memory, size_t bytes) {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t last = (begin + bytes) / kHugePage * kHugePage;
  if (first >= last) return;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

// A column that may lack values, which are then `none`.
class MaybeInts {
 public:
  MaybeInts(const RowGroup& group, size_t column, int64_t none)
      : is_null_(group.IsNull(column)),
        values_(group.Ints(column)),
        is_present_(group.Present(column)),
        none_(none) {}

  int64_t operator[](size_t row) const {
    const bool has =
        !is_null_ && (is_present_.empty() || is_present_[row] != 0);
    return has ? values_[row] : none_;
  }

 private:
  const bool is_null_;
  const std::span<const int64_t> values_;
  const std::span<const uint8_t> is_present_;
  const int64_t none_;
};

// Adds the row groups of `events`, one after the other. Rows of a group are
// added in parallel.
class EventReader {
 public:
  EventReader(Reading& reading, const parquet::FileReader& file)
      : reading_(reading), file_(file), block_(reading.shard.block) {}

  absl::Status Add(const RowGroup& group) {
    KYMO_RETURN_IF_ERROR(ReadCategories(group));
    const size_t before = block_.size();
    Resize(before + group.rows());
    KYMO_RETURN_IF_ERROR(EnterTracks(group, before));
    inputs_ = ReadInputs(group, kInputColumns, reading_.shard.strings);
    FindDetails(group, before);
    return AddRows(group, before);
  }

 private:
  // What is wrong with a row; null: nothing.
  using Fault = const char*;
  static constexpr size_t kGrain = size_t{1} << 14;

  // Rows that one thread adds.
  struct Part {
    size_t details = 0;       // how many of them have a detail
    size_t first_detail = 0;  // of the shard
    model::RareDetails rare;  // of its details
    Fault fault = nullptr;
  };

  absl::Status Wrong(std::string_view what) const {
    return parquet_import::Wrong(file_, what);
  }

  void Resize(size_t size) {
    block_.start_ns.resize(size);
    block_.end_ns.resize(size);
    block_.name.resize(size);
    block_.type.resize(size);
    block_.scope.resize(size);
    block_.flags.resize(size);
    block_.depth.resize(size);
    block_.detail.resize(size);
  }

  // The categories of the row group's dictionary.
  absl::Status ReadCategories(const RowGroup& group) {
    categories_.clear();
    for (const std::string_view text : group.DictionaryOf(kCategory)) {
      const auto type = model::ParseActivityType(text);
      if (!type) {
        return Wrong("there is no category '" + std::string(text) + "'");
      }
      categories_.push_back(*type);
    }
    return absl::OkStatus();
  }

  // Events of a track follow one another.
  absl::Status EnterTracks(const RowGroup& group, size_t before) {
    const std::span<const int64_t> ids = group.Ints(kTrack);
    for (size_t row = 0, end = 0; row < ids.size(); row = end) {
      end = row + 1;
      while (end < ids.size() && ids[end] == ids[row]) ++end;
      if (before + row > 0 && ids[row] == track_id_) {
        block_.parts.back().end = before + end;
        continue;
      }
      if (before + row > 0 && ids[row] < track_id_) {
        return Wrong("tracks are in no order");
      }
      track_id_ = ids[row];
      if (!reading_.has_tracks) AddTrack(group, row, track_id_);
      const auto track = reading_.Track(track_id_);
      if (!track) return Wrong("an event has no track");
      block_.parts.push_back({.track = *track, .end = before + end});
    }
    return absl::OkStatus();
  }

  void AddTrack(const RowGroup& group, size_t row, int64_t id) {
    auto& tracks = reading_.shard.tracks;
    reading_.tracks.emplace(id, static_cast<model::TrackIndex>(tracks.size()));
    const bool is_stream = group.Has(kStream, row);
    tracks.push_back(
        {.kind =
             is_stream ? model::TrackKind::kStream : model::TrackKind::kThread,
         .pid = group.Int(kPid, row),
         .id = group.Int(is_stream ? kStream : kTid, row),
         .device_index = is_stream ? AsDevice(group.Int(kDevice, row)) : -1});
  }

  // Which rows have a detail: those with a value in one of its columns.
  void FindDetails(const RowGroup& group, size_t before) {
    has_detail_.assign(group.rows(), 0);
    for (size_t column = kDetailBegin; column < kDetailEnd; ++column) {
      if (group.IsNull(column)) continue;
      const std::span<const uint8_t> present = group.Present(column);
      if (present.empty()) {
        std::ranges::fill(has_detail_, uint8_t{1});
        break;
      }
      for (size_t row = 0; row < present.size(); ++row) {
        has_detail_[row] |= present[row];
      }
    }
    const std::span<const int64_t> calls = group.Ints(kCalls);
    for (size_t row = 0; row < calls.size(); ++row) {
      has_detail_[row] |= calls[row] > 1 ? 1 : 0;
    }
    const auto end = static_cast<int64_t>(before + group.rows());
    for (auto args = ArgsFrom(before);
         args != reading_.args.end() && args->event < end; ++args) {
      has_detail_[static_cast<size_t>(args->event) - before] = 1;
    }
  }

  // The arguments of the event, or of the first one after it that has some.
  std::vector<Reading::EventArgs>::const_iterator ArgsFrom(size_t event) const {
    return std::ranges::lower_bound(reading_.args, static_cast<int64_t>(event),
                                    {}, &Reading::EventArgs::event);
  }

  absl::Status AddRows(const RowGroup& group, size_t before) {
    auto& details = reading_.shard.details;
    std::vector<Part> parts(ParallelRangeCount(group.rows(), kGrain));
    size_t next = details.size();
    for (size_t i = 0; i < parts.size(); ++i) {
      const size_t begin = i * kGrain;
      const size_t end = std::min(group.rows(), begin + kGrain);
      parts[i].first_detail = next;
      for (size_t row = begin; row < end; ++row) next += has_detail_[row];
    }
    if (next > details.size() && details.empty()) ReserveDetails();
    details.resize(next);
    ParallelFor(group.rows(), kGrain, [&](size_t begin, size_t end) {
      Part& part = parts[begin / kGrain];
      part.fault = AddEvents(group, before, begin, end);
      if (part.fault != nullptr) return;
      part.fault =
          AddDetails(group, before, begin, end, part.first_detail, part.rare);
    });
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].fault != nullptr) return Wrong(parts[i].fault);
      const size_t end =
          i + 1 < parts.size() ? parts[i + 1].first_detail : details.size();
      AddRare(parts[i].rare, parts[i].first_detail, end);
    }
    return absl::OkStatus();
  }

  // The rare fields of details [begin, end), which were read by themselves.
  void AddRare(const model::RareDetails& rare, size_t begin, size_t end) {
    if (rare.empty()) return;
    const model::RareIndex first = reading_.shard.rare_details.Append(rare);
    for (size_t d = begin; d < end; ++d) {
      model::RareIndex& index = reading_.shard.details[d].rare;
      index = model::RareDetails::Moved(index, first);
    }
  }

  // Most events of a file have a detail, or none. Growing step by step took a
  // tenth of the time of reading a file, and touching small pages a fifth.
  void ReserveDetails() {
    constexpr size_t kMostDetails = size_t{1} << 22;
    auto& details = reading_.shard.details;
    details.reserve(std::min(file_.row_count(), kMostDetails));
    AdviseHugePages(details.data(), details.capacity() * sizeof(details[0]));
  }

  Fault AddEvents(const RowGroup& group, size_t before, size_t begin,
                  size_t end) {
    const std::span<const int64_t> start = group.Ints(kStart);
    const std::span<const int64_t> duration = group.Ints(kDuration);
    const std::span<const int64_t> depth = group.Ints(kDepth);
    const std::span<const int64_t> scope = group.Ints(kScope);
    const std::span<const int64_t> calls = group.Ints(kCalls);
    constexpr auto kScopes = static_cast<int64_t>(RecordScope::kCount);
    for (size_t row = begin; row < end; ++row) {
      if (!IsTime(start[row]) || !IsDuration(duration[row]) ||
          !IsTime(start[row] + duration[row])) {
        return "an event has an impossible time";
      }
      if (!group.Has(kCategory, row)) return "an event has no category";
      if (depth[row] < 0 || depth[row] >= model::kNoEvent || scope[row] < 0 ||
          scope[row] >= kScopes) {
        return "an event has an impossible depth or scope";
      }
      const size_t at = before + row;
      block_.start_ns[at] = start[row];
      block_.end_ns[at] = start[row] + duration[row];
      block_.name[at] = group.Name(kName, row);
      block_.type[at] = categories_[group.Text(kCategory, row)];
      block_.scope[at] = static_cast<RecordScope>(scope[row]);
      block_.flags[at] = calls[row] > 1 ? model::kEventFolded : 0;
      block_.depth[at] = static_cast<uint32_t>(depth[row]);
    }
    for (const auto& [column, flag] : kFlags) {
      const auto is_set = group.Bools(column).subspan(begin, end - begin);
      if (std::memchr(is_set.data(), 1, is_set.size()) == nullptr) continue;
      for (size_t i = 0; i < is_set.size(); ++i) {
        if (is_set[i] != 0) block_.flags[before + begin + i] |= flag;
      }
    }
    return nullptr;
  }

  Fault AddDetails(const RowGroup& group, size_t before, size_t begin,
                   size_t end, size_t next, model::RareDetails& rare) {
    const MaybeInts correlation(group, kCorrelation, 0);
    const MaybeInts sequence(group, kSequence, -1);
    const MaybeInts forward_thread(group, kForwardThread, 0);
    const MaybeInts debug_handle(group, kDebugHandle, -1);
    const MaybeInts node(group, kNode, -1);
    const MaybeInts stacks(group, kStack, 0);
    const std::span<const int64_t> calls = group.Ints(kCalls);
    const bool has_overloads = !group.IsNull(kOverload);
    auto args = ArgsFrom(before + begin);
    for (size_t row = begin; row < end; ++row) {
      const size_t at = before + row;
      if (has_detail_[row] == 0) {
        block_.detail[at] = model::kNoDetail;
        continue;
      }
      block_.detail[at] = static_cast<model::DetailIndex>(next);
      model::Detail& detail = reading_.shard.details[next++];
      const auto stack = reading_.Stack(stacks[row]);
      if (!stack) return "an event has no stack";
      if (calls[row] < 1 || calls[row] > ~uint32_t{0}) {
        return "an event stands for no calls";
      }
      detail.correlation_id = static_cast<uint64_t>(correlation[row]);
      detail.sequence_nr = sequence[row];
      rare.Set(detail,
               {.forward_thread = static_cast<uint64_t>(forward_thread[row]),
                .debug_handle = debug_handle[row],
                .node_id = node[row],
                .calls = static_cast<uint32_t>(calls[row])});
      if (has_overloads) detail.overload_name = group.Name(kOverload, row);
      if (!inputs_.empty()) detail.inputs = inputs_[row];
      detail.stack = *stack;
      if (args == reading_.args.end()) continue;
      if (args->event != static_cast<int64_t>(at)) continue;
      detail.args_begin = args->begin;
      detail.args_end = args->end;
      ++args;
    }
    return nullptr;
  }

  Reading& reading_;
  const parquet::FileReader& file_;
  model::EventBlock& block_;
  int64_t track_id_ = 0;
  std::vector<model::ActivityType> categories_;
  std::vector<uint8_t> has_detail_;    // by row of the group
  std::vector<model::NameId> inputs_;  // the same; empty: no row has some
};

}  // namespace

absl::Status ReadEvents(Reading& reading) {
  const parquet::FileReader* const file = reading.files.Find("events");
  if (file == nullptr) return absl::OkStatus();
  EventReader events(reading, *file);
  return ForEachRowGroup(
      *file, kEvents, reading.shard.strings,
      [&](const RowGroup& group) { return events.Add(group); });
}

}  // namespace kymo::parquet_import
