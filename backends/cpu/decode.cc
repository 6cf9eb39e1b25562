#include "backends/cpu/decode.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "profiler/base/parallel.h"

namespace kymo::cpu {
namespace {

using model::ActivityType;
using model::NameId;
using record::ChunkView;
using record::PayloadKind;
using record::Slot;
using record::SlotKind;

// What a chunk holds, and where its events go.
struct ChunkPlan {
  const ChunkView* view = nullptr;
  size_t events_index = 0;  // into shard.events
  size_t events = 0;        // ranges and instants
  size_t first_event = 0;   // row of the chunk's first event in its track
  uint64_t corrupt = 0;
};

// A payload waiting to be read: that of record `row`, or (kExtra) one that
// names its record.
struct PendingPayload {
  std::span<const Slot> payload;
  size_t row = 0;
};

// An end or extra payload for a record of (maybe) another chunk.
struct FollowUp {
  SlotKind kind;
  uint64_t ticket;
  uint32_t index;
  TimeNs time_ns;
  uint32_t stream;
  std::span<const Slot> payload;
};

struct PendingMemory {
  model::MemoryRecord record;
  std::span<const Slot> stack;
};

struct PendingCounter {
  uint32_t name;
  TimeNs time_ns;
  double value;
  model::TrackIndex track;
};

// What filling one chunk leaves for the serial passes, in record order.
struct ChunkRest {
  std::vector<PendingPayload> payloads;
  std::vector<FollowUp> follow_ups;
  std::vector<PendingCounter> counters;
  std::vector<PendingMemory> memory;
  std::vector<std::span<const Slot>> mappings;
  // The largest name id seen, for the table of names.
  uint32_t max_name = 0;
};

bool IsEvent(SlotKind kind) {
  return kind == SlotKind::kRange || kind == SlotKind::kInstant;
}

// Reads payload items; stops at what cannot be one.
class PayloadReader {
 public:
  explicit PayloadReader(std::span<const Slot> slots)
      : at_(reinterpret_cast<const char*>(slots.data())),
        end_(at_ + slots.size_bytes()) {}

  struct Item {
    PayloadKind kind;
    uint32_t key;
    bool continues;
    std::string_view data;
  };

  std::optional<Item> Next() {
    record::PayloadHeader header;
    if (end_ - at_ < static_cast<ptrdiff_t>(sizeof(header))) {
      return std::nullopt;
    }
    std::memcpy(&header, at_, sizeof(header));
    if (header.kind == PayloadKind::kPayloadEnd ||
        header.kind > PayloadKind::kStack) {
      return std::nullopt;
    }
    const size_t padded = (size_t{header.size_bytes} + 7) / 8 * 8;
    if (static_cast<size_t>(end_ - at_) - sizeof(header) < padded) {
      return std::nullopt;
    }
    const Item item = {header.kind,
                       header.key,
                       header.continues != 0,
                       {at_ + sizeof(header), header.size_bytes}};
    at_ += sizeof(header) + padded;
    return item;
  }

 private:
  const char* at_;
  const char* end_;
};

class Decoder {
 public:
  Decoder(const DecodeInput& input, model::TraceShard& shard)
      : input_(input), shard_(shard) {}

  void Run() {
    PlanChunks();
    PlaceChunks();
    rests_.resize(plans_.size());
    ParallelForEach(plans_.size(),
                    [&](size_t i) { Fill(plans_[i], rests_[i]); });
    MapNames();
    ApplyFollowUps();
    ReadMappings();
    ReadPayloads();
    ReadMemory();
    for (const ChunkPlan& plan : plans_) {
      shard_.ledger.Add(model::Loss::kRecordsCorrupt, plan.corrupt);
    }
  }

 private:
  // Counts, in parallel; streams without a track are dropped here.
  void PlanChunks() {
    for (const ChunkView& view : input_.chunks) {
      if (view.stream >= input_.stream_tracks.size() ||
          input_.stream_tracks[view.stream] == model::kNoTrack) {
        shard_.ledger.Add(model::Loss::kRecordsCorrupt, view.slots.size());
        continue;
      }
      plans_.push_back({.view = &view});
    }
    std::sort(
        plans_.begin(), plans_.end(),
        [](const ChunkPlan& a, const ChunkPlan& b) {
          return std::tie(a.view->stream, a.view->ticket, a.view->first_index) <
                 std::tie(b.view->stream, b.view->ticket, b.view->first_index);
        });
    ParallelForEach(plans_.size(), [&](size_t i) {
      ChunkPlan& plan = plans_[i];
      record::ForEachRecord(
          *plan.view, [&](const Slot& head, std::span<const Slot>, uint32_t) {
            plan.events += BecomesEvent(head);
          });
    });
  }

  // Whether the record is one of this session.
  bool IsWanted(const Slot& head) const {
    if (input_.recorded.empty()) return true;
    const uint64_t begin = head.begin.load(std::memory_order_relaxed);
    return std::any_of(input_.recorded.begin(), input_.recorded.end(),
                       [begin](const TickInterval& interval) {
                         return begin >= interval.begin && begin < interval.end;
                       });
  }

  bool BecomesEvent(const Slot& head) const {
    return IsEvent(record::UnpackKind(head.kind_scope_depth)) && IsWanted(head);
  }

  // One TrackEvents per stream, sized; each chunk gets its first row.
  void PlaceChunks() {
    size_t rows = 0;
    for (size_t i = 0; i < plans_.size(); ++i) {
      ChunkPlan& plan = plans_[i];
      if (i == 0 || plan.view->stream != plans_[i - 1].view->stream) {
        rows = 0;
        shard_.events.emplace_back().track =
            input_.stream_tracks[plan.view->stream];
      }
      plan.events_index = shard_.events.size() - 1;
      plan.first_event = rows;
      rows += plan.events;
      const bool last = i + 1 == plans_.size() ||
                        plans_[i + 1].view->stream != plan.view->stream;
      if (last) Resize(shard_.events.back(), rows);
    }
  }

  static void Resize(model::TrackEvents& events, size_t rows) {
    events.start_ns.resize(rows);
    events.end_ns.resize(rows);
    events.name.resize(rows);
    events.type.resize(rows);
    events.scope.resize(rows);
    events.flags.resize(rows);
    events.depth.resize(rows);
  }

  // Writes the chunk's rows; names are still the arena's ids.
  void Fill(ChunkPlan& plan, ChunkRest& rest) {
    model::TrackEvents& events = shard_.events[plan.events_index];
    size_t row = plan.first_event;
    auto fill = [&](const Slot& head, std::span<const Slot> payload, uint32_t) {
      const TimeNs time_ns =
          input_.clock.ToEpochNs(head.begin.load(std::memory_order_relaxed));
      const uint64_t end = head.end.load(std::memory_order_relaxed);
      const SlotKind kind = record::UnpackKind(head.kind_scope_depth);
      const bool follows = kind == SlotKind::kEnd || kind == SlotKind::kExtra;
      if (!follows && !IsWanted(head)) return;
      switch (kind) {
        case SlotKind::kRange:
        case SlotKind::kInstant:
          FillEvent(events, row, head, time_ns, end);
          rest.max_name =
              std::max(rest.max_name,
                       head.name == record::kNameInPayload ? 0 : head.name);
          if (!payload.empty()) rest.payloads.push_back({payload, row});
          ++row;
          break;
        case SlotKind::kCounter:
          rest.max_name = std::max(rest.max_name, head.name);
          rest.counters.push_back(
              {head.name, time_ns, std::bit_cast<double>(end), events.track});
          break;
        case SlotKind::kMapping:
          rest.mappings.push_back(payload);
          break;
        case SlotKind::kMemory:
          FillMemory(plan, rest, head, time_ns, end, payload);
          break;
        case SlotKind::kEnd:
        case SlotKind::kExtra:
          rest.follow_ups.push_back(
              {kind, end, head.name, time_ns, plan.view->stream, payload});
          break;
        default:
          ++plan.corrupt;
      }
    };
    record::ForEachRecord(*plan.view, fill,
                          [&](const Slot&) { ++plan.corrupt; });
  }

  static uint8_t EventFlags(const Slot& head, bool instant) {
    if (instant) return model::kEventInstant;
    uint8_t flags = 0;
    if (head.flags & record::kSlotAsync) flags |= model::kEventAsync;
    if (head.flags & record::kSlotModule) flags |= model::kEventModule;
    return flags;
  }

  static ActivityType EventType(const Slot& head, RecordScope scope,
                                bool instant) {
    if (instant) return ActivityType::kCpuInstantEvent;
    // Kineto's category for frames and modules of the host language.
    if (head.flags & record::kSlotModule) return ActivityType::kPythonFunction;
    return scope == RecordScope::kUserScope ? ActivityType::kUserAnnotation
                                            : ActivityType::kCpuOp;
  }

  void FillEvent(model::TrackEvents& events, size_t row, const Slot& head,
                 TimeNs time_ns, uint64_t end) {
    const bool instant =
        record::UnpackKind(head.kind_scope_depth) == SlotKind::kInstant;
    const uint8_t scope = record::UnpackScope(head.kind_scope_depth);
    const RecordScope known = scope < static_cast<uint8_t>(RecordScope::kCount)
                                  ? static_cast<RecordScope>(scope)
                                  : RecordScope::kFunction;
    events.start_ns[row] = time_ns;
    events.end_ns[row] = instant    ? time_ns
                         : end == 0 ? 0
                                    : input_.clock.ToEpochNs(end);
    events.name[row] = NameId{head.name};
    events.type[row] = EventType(head, known, instant);
    events.scope[row] = known;
    events.flags[row] = EventFlags(head, instant);
    events.depth[row] = record::UnpackDepth(head.kind_scope_depth);
  }

  void FillMemory(ChunkPlan& plan, ChunkRest& rest, const Slot& head,
                  TimeNs time_ns, uint64_t address,
                  std::span<const Slot> payload) {
    if (payload.empty()) {
      ++plan.corrupt;
      return;
    }
    record::MemoryPayload numbers;
    std::memcpy(&numbers, payload.data(), sizeof(numbers));
    rest.memory.push_back(
        {{.track = shard_.events[plan.events_index].track,
          .event = head.flags == record::kMemoryOutOfMemory
                       ? model::MemoryEvent::kOutOfMemory
                       : model::MemoryEvent::kAllocation,
          .device_type = static_cast<int8_t>(head.name & 0xff),
          .device_index = static_cast<int16_t>(head.name >> 16),
          .time_ns = time_ns,
          .address = address,
          .bytes = numbers.bytes,
          .total_allocated = numbers.total_allocated,
          .total_reserved = numbers.total_reserved},
         payload.subspan(1)});
  }

  // Arena ids to shard ids: one lookup per distinct name.
  void MapNames() {
    uint32_t max_name = 0;
    for (const ChunkRest& rest : rests_) {
      max_name = std::max(max_name, rest.max_name);
    }
    // A broken target may have written any id; the table of names is 32 MiB.
    max_name = std::min(max_name, uint32_t{1} << 23);
    name_map_.assign(size_t{max_name} + 1, kUnmapped);
    for (const ChunkPlan& plan : plans_) MapChunkNames(plan);
    for (ChunkRest& rest : rests_) {
      for (const PendingCounter& counter : rest.counters) {
        shard_.counters.push_back({counter.track, MapName(counter.name),
                                   counter.time_ns, counter.value});
      }
    }
  }

  void MapChunkNames(const ChunkPlan& plan) {
    std::vector<NameId>& names = shard_.events[plan.events_index].name;
    for (size_t i = 0; i < plan.events; ++i) {
      NameId& name = names[plan.first_event + i];
      name = MapName(Index(name));
    }
  }

  NameId MapName(uint32_t arena_id) {
    if (arena_id == record::kNameInPayload) return model::kEmptyName;
    if (arena_id >= name_map_.size()) {
      return shard_.strings.Intern(input_.name_text(arena_id));
    }
    NameId& mapped = name_map_[arena_id];
    if (mapped == kUnmapped) {
      mapped = shard_.strings.Intern(input_.name_text(arena_id));
    }
    return mapped;
  }

  // Where record (ticket, index) became a row. Only asked for the few that end
  // or get more payload elsewhere.
  struct Place {
    size_t chunk;
    size_t row;
  };
  std::optional<Place> Find(uint64_t ticket, uint32_t index) {
    if (by_ticket_.empty()) {
      for (size_t i = 0; i < plans_.size(); ++i) {
        by_ticket_.emplace(plans_[i].view->ticket, i);
      }
    }
    const auto it = by_ticket_.find(ticket);
    if (it == by_ticket_.end()) return std::nullopt;
    const ChunkPlan& plan = plans_[it->second];
    const std::vector<uint32_t>& rows = RowsOf(it->second);
    if (index < plan.view->first_index ||
        index - plan.view->first_index >= rows.size() ||
        rows[index - plan.view->first_index] == ~uint32_t{0}) {
      return std::nullopt;
    }
    return Place{it->second,
                 plan.first_event + rows[index - plan.view->first_index]};
  }

  // Row (from the chunk's first) of each slot that is an event's head.
  const std::vector<uint32_t>& RowsOf(size_t chunk) {
    std::vector<uint32_t>& rows = rows_[chunk];
    if (!rows.empty()) return rows;
    const ChunkView& view = *plans_[chunk].view;
    rows.assign(view.slots.size(), ~uint32_t{0});
    uint32_t row = 0;
    record::ForEachRecord(
        view, [&](const Slot& head, std::span<const Slot>, uint32_t index) {
          if (BecomesEvent(head)) {
            rows[index - view.first_index] = row++;
          }
        });
    return rows;
  }

  void ApplyFollowUps() {
    for (const ChunkRest& rest : rests_) {
      for (const FollowUp& follow_up : rest.follow_ups) Apply(follow_up);
    }
  }

  int64_t PidOf(uint32_t stream) const {
    return shard_.tracks[input_.stream_tracks[stream]].pid;
  }

  void Apply(const FollowUp& follow_up) {
    std::optional<Place> place = Find(follow_up.ticket, follow_up.index);
    // A forked child ends its copies of the ranges that its parent had open.
    if (place &&
        PidOf(plans_[place->chunk].view->stream) != PidOf(follow_up.stream)) {
      return;
    }
    if (!place) {
      // What began before the session was never meant to be in it.
      const bool began_before = follow_up.ticket < input_.first_ticket ||
                                by_ticket_.contains(follow_up.ticket);
      if (follow_up.kind == SlotKind::kEnd && !began_before) {
        shard_.ledger.Add(model::Loss::kEndsWithoutBegin, 1);
      }
      return;
    }
    model::TrackEvents& events =
        shard_.events[plans_[place->chunk].events_index];
    if (follow_up.kind == SlotKind::kExtra) {
      rests_[place->chunk].payloads.push_back({follow_up.payload, place->row});
      return;
    }
    if (events.end_ns[place->row] != 0) return;
    events.end_ns[place->row] = follow_up.time_ns;
    if (plans_[place->chunk].view->stream != follow_up.stream) {
      events.flags[place->row] |= model::kEventAsync;
    }
  }

  // Payloads of one record stand in the order in which they were written.
  void ReadPayloads() {
    for (size_t i = 0; i < rests_.size(); ++i) {
      std::vector<PendingPayload>& payloads = rests_[i].payloads;
      std::stable_sort(
          payloads.begin(), payloads.end(),
          [](const auto& a, const auto& b) { return a.row < b.row; });
      model::TrackEvents& events = shard_.events[plans_[i].events_index];
      for (size_t begin = 0; begin < payloads.size();) {
        size_t end = begin + 1;
        while (end < payloads.size() &&
               payloads[end].row == payloads[begin].row) {
          ++end;
        }
        ReadRecord(events, payloads[begin].row, PidOf(plans_[i].view->stream),
                   std::span(payloads).subspan(begin, end - begin));
        begin = end;
      }
    }
  }

  void ReadMappings() {
    if (!input_.mapping) return;
    for (size_t i = 0; i < rests_.size(); ++i) {
      for (const std::span<const Slot> payload : rests_[i].mappings) {
        if (payload.size() < 2) continue;
        record::MappingPayload mapping;
        std::memcpy(&mapping, payload.data(), sizeof(mapping));
        const std::span<const Slot> text = payload.subspan(1);
        const char* const path = reinterpret_cast<const char*>(text.data());
        input_.mapping(PidOf(plans_[i].view->stream), mapping,
                       {path, strnlen(path, text.size_bytes())});
      }
    }
  }

  void ReadMemory() {
    for (size_t i = 0; i < rests_.size(); ++i) {
      const int64_t pid = PidOf(plans_[i].view->stream);
      for (PendingMemory& memory : rests_[i].memory) {
        PayloadReader reader(memory.stack);
        if (const auto item = reader.Next()) {
          memory.record.stack = ReadStack(*item, pid);
        }
        shard_.memory.push_back(memory.record);
      }
    }
  }

  model::StackId ReadStack(const PayloadReader::Item& item, int64_t pid) {
    if (item.kind != PayloadKind::kStack || !input_.stack) {
      return model::kEmptyStack;
    }
    uint64_t pcs[record::kMaxStackFrames];
    const size_t size =
        std::min(item.data.size() / sizeof(pcs[0]), std::size(pcs));
    std::memcpy(pcs, item.data.data(), size * sizeof(pcs[0]));
    if (item.key != 0) shard_.ledger.Add(model::Loss::kStacksTruncated, 1);
    return input_.stack(pid, std::span(pcs, size));
  }

  // Items that are no argument; true when `detail` has something to say now.
  bool ReadDetail(const PayloadReader::Item& item, int64_t pid,
                  model::Detail& detail) {
    int64_t word = 0;
    if (item.data.size() == sizeof(word)) {
      std::memcpy(&word, item.data.data(), sizeof(word));
    }
    switch (item.kind) {
      case PayloadKind::kSequence:
        detail.sequence_nr = word;
        detail.forward_thread = item.key;
        return true;
      case PayloadKind::kHandle:
        detail.debug_handle = word;
        detail.node_id = int64_t{item.key} - 1;
        return true;
      case PayloadKind::kOverload:
        detail.overload_name = shard_.strings.Intern(item.data);
        return true;
      case PayloadKind::kInputs:
        detail.inputs = shard_.strings.Intern(item.data);
        return true;
      case PayloadKind::kStack:
        detail.stack = ReadStack(item, pid);
        return true;
      default:
        return false;
    }
  }

  static bool IsArgument(PayloadKind kind) {
    return kind == PayloadKind::kInt || kind == PayloadKind::kDouble ||
           kind == PayloadKind::kString;
  }

  void ReadRecord(model::TrackEvents& events, size_t row, int64_t pid,
                  std::span<const PendingPayload> payloads) {
    std::string name;
    PendingText text;
    model::Detail detail;
    bool has_detail = false;
    const size_t first_arg = shard_.args.size();
    for (const PendingPayload& payload : payloads) {
      PayloadReader reader(payload.payload);
      while (const auto item = reader.Next()) {
        if (item->kind == PayloadKind::kName) {
          name += item->data;
        } else if (IsArgument(item->kind)) {
          AddArg(*item, text);
        } else if (ReadDetail(*item, pid, detail)) {
          has_detail = true;
        }
      }
    }
    Flush(text);
    if (!name.empty()) events.name[row] = shard_.strings.Intern(name);
    if (shard_.args.size() == first_arg && !has_detail) return;
    if (events.detail.empty()) {
      events.detail.assign(events.size(), model::kNoDetail);
    }
    events.detail[row] = static_cast<model::DetailIndex>(shard_.details.size());
    detail.args_begin = static_cast<uint32_t>(first_arg);
    detail.args_end = static_cast<uint32_t>(shard_.args.size());
    shard_.details.push_back(detail);
  }

  // A string argument, until its last piece has come.
  struct PendingText {
    bool is_open = false;
    uint32_t key = 0;
    std::string text;
  };

  void Flush(PendingText& pending) {
    if (!pending.is_open) return;
    shard_.args.push_back(model::Arg::String(
        MapName(pending.key), shard_.strings.Intern(pending.text)));
    pending = PendingText();
  }

  void AddArg(const PayloadReader::Item& item, PendingText& pending) {
    if (item.kind == PayloadKind::kString) {
      if (!item.continues || !pending.is_open) {
        Flush(pending);
        pending.is_open = true;
        pending.key = item.key;
      }
      pending.text += item.data;
      return;
    }
    Flush(pending);
    if (item.data.size() != sizeof(uint64_t)) return;
    model::Arg arg;
    arg.key = MapName(item.key);
    arg.type = item.kind == PayloadKind::kInt ? model::ArgType::kInt
                                              : model::ArgType::kDouble;
    std::memcpy(&arg.bits, item.data.data(), sizeof(arg.bits));
    shard_.args.push_back(arg);
  }

  static constexpr NameId kUnmapped{~uint32_t{0}};

  const DecodeInput& input_;
  model::TraceShard& shard_;
  std::vector<ChunkPlan> plans_;  // by stream, then ticket
  std::vector<ChunkRest> rests_;  // beside plans_
  std::vector<NameId> name_map_;
  std::unordered_map<uint64_t, size_t> by_ticket_;
  std::unordered_map<size_t, std::vector<uint32_t>> rows_;
};

}  // namespace

void DecodeChunks(const DecodeInput& input, model::TraceShard& shard) {
  Decoder(input, shard).Run();
}

}  // namespace kymo::cpu
