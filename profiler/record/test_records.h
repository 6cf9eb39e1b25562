// test_records.h - records of this process, read back slot by slot.
//
//   TEST_F(RecordTest, Instants) {
//     RecordInstant("now", {}, nullptr, 0);
//     EXPECT_EQ(Stop()[0].name, "now");
//   }
//
// profiler/record/arena/layout.h describes the format, from which this reader
// is written.
#ifndef KYMO_PROFILER_RECORD_TEST_RECORDS_H_
#define KYMO_PROFILER_RECORD_TEST_RECORDS_H_

#include <gtest/gtest.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/clock.h"
#include "profiler/base/record_scope.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/host/host.h"

namespace kymo::record {

struct Item {
  PayloadKind kind;
  bool continues;
  uint32_t key;
  std::string bytes;
};

// A record as it was read.
struct Record {
  SlotKind kind;
  RecordScope scope;
  uint32_t depth;
  std::string name;  // with all its pieces
  bool has_end;
  uint64_t begin;
  uint64_t end;
  uint32_t device;  // of kMemory; else the name's id
  uint32_t extra_slots;
  uint32_t flags;
  MemoryPayload memory;
  std::string args;    // "key=value ", those of follow-up records behind
  std::string inputs;  // encoded
  size_t frames = 0;
  bool is_cut = false;
  size_t records;  // with its follow-up records
};

// The number whose product with the golden ratio's multiplier, by which the
// recorder's tables hash, is `hash` (modulo 2^64).
inline uint64_t OfHash(uint64_t hash) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
  // The inverse of an odd number, by Newton's iteration: it is right in three
  // bits, and each step doubles their number.
  uint64_t inverse = kFactor;
  for (int i = 0; i < 5; ++i) inverse *= 2 - kFactor * inverse;
  return hash * inverse;
}

inline std::vector<Item> ItemsOf(std::span<const Slot> payload) {
  std::vector<Item> items;
  const std::string_view bytes(reinterpret_cast<const char*>(payload.data()),
                               payload.size_bytes());
  for (size_t at = 0; at + sizeof(PayloadHeader) <= bytes.size();) {
    PayloadHeader header;
    memcpy(&header, bytes.data() + at, sizeof(header));
    if (header.kind == PayloadKind::kPayloadEnd) break;
    at += sizeof(header);
    EXPECT_LE(at + header.size_bytes, bytes.size());
    items.push_back({header.kind, header.continues != 0, header.key,
                     std::string(bytes.substr(at, header.size_bytes))});
    at += (header.size_bytes + size_t{7}) / 8 * 8;
  }
  return items;
}

template <typename T>
T Bits(const std::string& bytes) {
  T value = {};
  EXPECT_EQ(bytes.size(), sizeof(value));
  memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

inline void AddItem(const Item& item, Record& to) {
  const std::string key = std::string(ProcessArena()->NameText(item.key)) + "=";
  // Only texts are written in pieces.
  EXPECT_TRUE(!item.continues || item.kind == PayloadKind::kName ||
              item.kind == PayloadKind::kString);
  switch (item.kind) {
    case PayloadKind::kName:
      to.name += item.bytes;
      return;
    case PayloadKind::kInt:
      to.args += key + std::to_string(Bits<int64_t>(item.bytes)) + " ";
      return;
    case PayloadKind::kDouble:
      to.args += key + std::to_string(Bits<double>(item.bytes)) + " ";
      return;
    case PayloadKind::kString:
      if (item.continues) {
        to.args.pop_back();
      } else {
        to.args += key;
      }
      to.args += item.bytes + " ";
      return;
    case PayloadKind::kSequence:
      to.args += "sequence " + std::to_string(Bits<int64_t>(item.bytes)) +
                 " of thread " + std::to_string(item.key) + " ";
      return;
    case PayloadKind::kHandle:
      to.args += "handle " + std::to_string(Bits<int64_t>(item.bytes)) +
                 " node+1 " + std::to_string(item.key) + " ";
      return;
    case PayloadKind::kOverload:
      to.args += "overload " + item.bytes + " ";
      return;
    case PayloadKind::kInputs:
      to.inputs += item.bytes;
      return;
    case PayloadKind::kNamed:
      to.args += key;
      to.args += ProcessArena()->NameText(
          static_cast<uint32_t>(Bits<uint64_t>(item.bytes)));
      to.args += " ";
      return;
    case PayloadKind::kStack:
      to.frames = item.bytes.size() / sizeof(uint64_t);
      to.is_cut = item.key != 0;
      for (uint64_t i = 0; i < to.frames; ++i) {
        EXPECT_EQ(Bits<uint64_t>(item.bytes.substr(8 * i, 8)), 1000 + i);
      }
      return;
    default:
      ADD_FAILURE() << static_cast<int>(item.kind);
  }
}

class RecordTest : public ::testing::Test {
 protected:
  explicit RecordTest(RecordFlags flags = 0,
                      uint64_t heap_sample_interval = 0) {
    (void)Host();  // the first use decides on a host
    started_ticks_ = ReadTicks(DetectClockSource());
    EXPECT_EQ(StartSession({.scope = SessionScope::kProcess,
                            .flags = flags,
                            .heap_sample_interval = heap_sample_interval},
                           &id_),
              0);
    truncated_before_ = Truncated();
  }

  static uint64_t Truncated() {
    return ProcessArena()->header().texts_truncated.load();
  }
  uint64_t TruncatedHere() const { return Truncated() - truncated_before_; }

  // Ends the session. The records are in the order in which their slots were
  // taken, chunk by chunk.
  std::vector<Record> Stop() {
    EXPECT_EQ(StopSession(id_), 0);
    ChunkReader reader(*ProcessArena());
    std::vector<ChunkView> views;
    reader.ReadSession({.session = id_, .pid = getpid()},
                       [&](const ChunkView& view) { views.push_back(view); });
    std::sort(views.begin(), views.end(),
              [](const ChunkView& a, const ChunkView& b) {
                return std::pair(a.ticket, a.first_index) <
                       std::pair(b.ticket, b.first_index);
              });
    std::vector<Record> records;
    std::map<std::pair<uint64_t, uint32_t>, size_t> by_place;
    for (const ChunkView& view : views) {
      ForEachRecord(view, [&](const Slot& head, std::span<const Slot> payload,
                              uint32_t index) {
        const SlotKind kind = UnpackKind(head.kind_scope_depth);
        if (head.begin.load() < started_ticks_) return;
        if (kind == SlotKind::kResource) {
          resources_.push_back(RecordOf(head, payload));
        }
        if (!IsEvent(kind)) return;
        by_place[{view.ticket, index}] = records.size();
        records.push_back(RecordOf(head, payload));
      });
    }
    for (const ChunkView& view : views) {
      ForEachRecord(
          view, [&](const Slot& head, std::span<const Slot> payload, uint32_t) {
            const SlotKind kind = UnpackKind(head.kind_scope_depth);
            if (head.begin.load() < started_ticks_) return;
            if (kind != SlotKind::kEnd && kind != SlotKind::kExtra) return;
            if (kind == SlotKind::kEnd && head.end.load() == kNoTicket) {
              EXPECT_EQ(head.extra_slots, 0u);
              ++ends_without_begin_;
              return;
            }
            const auto at = by_place.find({head.end.load(), head.name});
            if (at == by_place.end()) {
              EXPECT_EQ(kind, SlotKind::kEnd);
              ++ends_without_begin_;
              return;
            }
            Record& target = records[at->second];
            ++target.records;
            if (kind == SlotKind::kEnd) {
              target.has_end = true;
              target.end = head.begin.load();
            }
            for (const Item& item : ItemsOf(payload)) AddItem(item, target);
          });
    }
    reader.Release({.session = id_, .pid = getpid()},
                   /*collector_records=*/false);
    EXPECT_EQ(ReleaseSession(id_), 0);
    return records;
  }

  static Record RecordOf(const Slot& head, std::span<const Slot> payload) {
    Record record = {
        .kind = UnpackKind(head.kind_scope_depth),
        .scope = static_cast<RecordScope>(UnpackScope(head.kind_scope_depth)),
        .depth = UnpackDepth(head.kind_scope_depth),
        .has_end = head.end.load() != 0,
        .begin = head.begin.load(),
        .end = head.end.load(),
        .device = head.name,
        .extra_slots = head.extra_slots,
        .flags = head.flags,
        .records = 1};
    if (record.kind == SlotKind::kMemory) {
      EXPECT_GE(payload.size(), 1u);
      memcpy(&record.memory, payload.data(), sizeof(record.memory));
      payload = payload.subspan(1);
    } else if (head.name != kNameInPayload) {
      record.name = ProcessArena()->NameText(head.name);
    }
    for (const Item& item : ItemsOf(payload)) AddItem(item, record);
    return record;
  }

  SessionId id_ = kNoSession;
  // A chunk that a thread kept begins with records of earlier sessions.
  uint64_t started_ticks_ = 0;
  int ends_without_begin_ = 0;     // set by Stop
  std::vector<Record> resources_;  // the same
  uint64_t truncated_before_ = 0;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_TEST_RECORDS_H_
