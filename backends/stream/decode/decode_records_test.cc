// What becomes of each kind of record, field by field.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/stream/decode/decode.h"
#include "backends/stream/decode/test_chunk.h"
#include "gtest/gtest.h"
#include "profiler/base/column.h"

namespace kymo::stream {
namespace {

using model::ActivityType;
using model::Loss;
using model::MemoryEvent;
using model::MemorySource;
using record::PayloadKind;
using record::Slot;
using record::SlotKind;

constexpr uint8_t kUserScope = static_cast<uint8_t>(RecordScope::kUserScope);

class DecodeRecordsTest : public testing::Test {
 protected:
  DecodeRecordsTest() {
    shard_.tracks = {{.pid = 7, .id = 71}};
    input_.stream_tracks = {0};
    input_.name_text = [](uint32_t id) {
      static constexpr std::string_view kNames[] = {"lost", "one", "two",
                                                    "three"};
      return kNames[id < 4 ? id : 0];
    };
    input_.name_limit = 4;
    input_.clock =
        TickConverter(ClockSource::kSystem, {.ticks = 0}, {.ticks = 1}, 0);
    for (uint32_t i = 0; i < 3; ++i) {
      const model::FrameId frame = shard_.stacks.AddFrame({.line = i + 1});
      stacks_.push_back(shard_.stacks.Push(model::kEmptyStack, frame));
    }
  }

  void Decode() {
    input_.chunks = {chunk_.view()};
    DecodeChunks(input_, shard_);
  }
  // Stacks get ids by their number of frames.
  void WithStacks() {
    input_.stack = [this](int64_t pid, std::span<const uint64_t> pcs) {
      seen_.emplace_back(pid, std::vector(pcs.begin(), pcs.end()));
      return stacks_[pcs.size() - 1];
    };
  }
  std::string Text(model::NameId name) const {
    return std::string(shard_.strings.Get(name));
  }

  TestChunk chunk_{0, 1};
  DecodeInput input_{.clock = TickConverter(ClockSource::kSystem, {.ticks = 0},
                                            {.ticks = 1}, 0)};
  model::TraceShard shard_;
  std::vector<model::StackId> stacks_;
  std::vector<std::pair<int64_t, std::vector<uint64_t>>> seen_;
};

TEST_F(DecodeRecordsTest, AnEventsHeadSaysItsTypeScopeAndFlags) {
  struct Case {
    SlotKind kind;
    uint8_t scope;
    uint32_t flags;
    ActivityType type;
    RecordScope decoded_scope;
    uint8_t decoded_flags;
  };
  constexpr auto kFunction = RecordScope::kFunction;
  constexpr auto kLast = RecordScope::kStaticRuntimeModel;
  const std::vector<Case> cases = {
      {SlotKind::kRange, 0, 0, ActivityType::kCpuOp, kFunction, 0},
      {SlotKind::kRange, 1, 0, ActivityType::kCpuOp,
       RecordScope::kBackwardFunction, 0},
      {SlotKind::kRange, kUserScope, 0, ActivityType::kUserAnnotation,
       RecordScope::kUserScope, 0},
      {SlotKind::kRange, static_cast<uint8_t>(kLast), 0, ActivityType::kCpuOp,
       kLast, 0},
      {SlotKind::kRange, static_cast<uint8_t>(RecordScope::kCount), 0,
       ActivityType::kCpuOp, kFunction, 0},
      {SlotKind::kRange, 0, record::kSlotNvtx, ActivityType::kNvtxRange,
       kFunction, 0},
      {SlotKind::kRange, 0, record::kSlotItt, ActivityType::kIttTask, kFunction,
       0},
      {SlotKind::kRange, kUserScope, record::kSlotAsync,
       ActivityType::kUserAnnotation, RecordScope::kUserScope,
       model::kEventAsync},
      {SlotKind::kRange, 0, record::kSlotModule, ActivityType::kPythonFunction,
       kFunction, model::kEventModule},
      {SlotKind::kRange, 0, record::kSlotNvtx | record::kSlotAsync,
       ActivityType::kNvtxRange, kFunction, model::kEventAsync},
      {SlotKind::kRange, 0, record::kSlotModule | record::kSlotAsync,
       ActivityType::kPythonFunction, kFunction,
       model::kEventModule | model::kEventAsync},
      {SlotKind::kInstant, kUserScope, 0, ActivityType::kCpuInstantEvent,
       RecordScope::kUserScope, model::kEventInstant},
      {SlotKind::kInstant, 0, record::kSlotNvtx, ActivityType::kCpuInstantEvent,
       kFunction, model::kEventInstant},
  };
  for (uint64_t i = 0; i < cases.size(); ++i) {
    chunk_.Add(cases[i].kind, 10 + i, 100, 1, /*depth=*/5, cases[i].scope)
        .flags = cases[i].flags;
  }
  Decode();
  const model::EventBlock& events = shard_.block;
  ASSERT_EQ(events.size(), cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    const bool is_instant = cases[i].kind == SlotKind::kInstant;
    EXPECT_EQ(events.type[i], cases[i].type);
    EXPECT_EQ(events.scope[i], cases[i].decoded_scope);
    EXPECT_EQ(events.flags[i], cases[i].decoded_flags);
    EXPECT_EQ(events.start_ns[i], static_cast<TimeNs>(10 + i));
    EXPECT_EQ(events.end_ns[i], is_instant ? events.start_ns[i] : 100);
    EXPECT_EQ(events.depth[i], 5u);
    EXPECT_EQ(Text(events.name[i]), "one");
  }
  EXPECT_TRUE(events.detail.empty());
  EXPECT_FALSE(shard_.ledger.AnythingLost());
}

TEST_F(DecodeRecordsTest, NamesBeyondTheLimitAreLost) {
  for (const uint32_t name : {3u, 4u, 5u}) {
    chunk_.Add(SlotKind::kRange, 10, 20, name);
  }
  chunk_.Add(SlotKind::kCounter, 10, 0, 4);
  Decode();
  EXPECT_EQ(Text(shard_.block.name[0]), "three");
  EXPECT_EQ(Text(shard_.block.name[1]), "lost");
  EXPECT_EQ(Text(shard_.block.name[2]), "lost");
  EXPECT_EQ(Text(shard_.counters[0].name), "lost");
}

TEST_F(DecodeRecordsTest, OnlyRecordsOfTheSessionsIntervalsCount) {
  input_.recorded = {{10, 20}, {30, 31}};
  for (const uint64_t begin : {9, 10, 19, 20, 29, 30, 31}) {
    chunk_.Add(SlotKind::kRange, begin, 50, 1);
    chunk_.Add(SlotKind::kCounter, begin, 0, 1);
    chunk_.Add(SlotKind::kAllocation, begin, begin, 8);
    chunk_.Add(SlotKind::kResource, begin, begin, 1);
    // An end of no range counts where it is.
    chunk_.Add(SlotKind::kEnd, begin, record::kNoTicket, 0);
  }
  Decode();
  EXPECT_EQ(shard_.block.start_ns, (Column<TimeNs>{10, 19, 30}));
  ASSERT_EQ(shard_.counters.size(), 3u);
  EXPECT_EQ(shard_.counters[2].time_ns, 30);
  ASSERT_EQ(shard_.memory.size(), 3u);
  EXPECT_EQ(shard_.memory[1].address, 19u);
  EXPECT_EQ(shard_.ledger.Get(Loss::kEndsWithoutBegin), 3u);
  ASSERT_EQ(shard_.metadata.size(), 1u);
  EXPECT_EQ(Text(shard_.metadata[0].json_value),
            R"([{"process": 7, "kind": "other", "handle": "0xa", )"
            R"("name": "one"}, {"process": 7, "kind": "other", )"
            R"("handle": "0x13", "name": "one"}, {"process": 7, )"
            R"("kind": "other", "handle": "0x1e", "name": "one"}])");
}

TEST_F(DecodeRecordsTest, RecordsThatAreNoneAreCounted) {
  chunk_.Add(SlotKind::kRange, 10, 20, 1);
  chunk_.Add(static_cast<SlotKind>(11), 11, 0, 1);
  chunk_.Add(SlotKind::kNone, 12, 0, 1);
  chunk_.Add(SlotKind::kRange, 0, 20, 1);                     // not written
  chunk_.Add(SlotKind::kRange, 13, 20, 1).extra_slots = 100;  // too long
  chunk_.Add(SlotKind::kRange, 14, 20, 2);
  Decode();
  EXPECT_EQ(shard_.block.start_ns, (Column<TimeNs>{10, 14}));
  EXPECT_EQ(shard_.ledger.Get(Loss::kRecordsCorrupt), 4u);
}

TEST_F(DecodeRecordsTest, ResourcesHaveAKindAHandleAndADomain) {
  Slot& stream =
      chunk_.Add(SlotKind::kResource, 10, 0x5f0, 1, 0,
                 static_cast<uint8_t>(record::ResourceKind::kStream));
  stream.flags = record::kSlotNvtx | 2u << record::kSlotDomainShift;
  chunk_.Add(SlotKind::kResource, 10, 9, 3, 0,
             static_cast<uint8_t>(record::ResourceKind::kThread));
  Decode();
  ASSERT_EQ(shard_.metadata.size(), 1u);
  EXPECT_EQ(Text(shard_.metadata[0].json_value),
            R"([{"process": 7, "kind": "thread", "handle": "0x9", )"
            R"("name": "three"}, {"process": 7, "kind": "stream", )"
            R"("handle": "0x5f0", "name": "one", "domain": "two"}])");
}

TEST_F(DecodeRecordsTest, MappingsComeBeforeStacks) {
  std::vector<std::string> calls;
  input_.mapping = [&](int64_t pid, const record::MappingPayload& mapping,
                       std::string_view path) {
    calls.push_back(std::to_string(pid) + " " + std::to_string(mapping.start) +
                    "-" + std::to_string(mapping.end) + " " +
                    std::to_string(mapping.file_offset) + " " +
                    std::to_string(mapping.inode) + " " + std::string(path));
  };
  input_.stack = [&](int64_t, std::span<const uint64_t>) {
    calls.emplace_back("stack");
    return model::kEmptyStack;
  };
  chunk_.AddStack({5}, chunk_.Add(SlotKind::kRange, 10, 20, 1));
  const record::MappingPayload mapping = {
      .start = 1, .end = 2, .file_offset = 3, .inode = 4};
  Slot& whole = chunk_.Add(SlotKind::kMapping, 11, 0, 0);
  chunk_.AddBytes(whole, BytesOf(mapping), std::string(40, 'p'));
  // Without a path it is none.
  chunk_.AddBytes(chunk_.Add(SlotKind::kMapping, 12, 0, 0), BytesOf(mapping));
  Decode();
  EXPECT_EQ(calls, (std::vector<std::string>{
                       "7 1-2 3 4 " + std::string(40, 'p'), "stack"}));
}

TEST_F(DecodeRecordsTest, ReportsOfMemorySayDeviceAndTotals) {
  WithStacks();
  const auto add = [this](uint32_t device, int64_t bytes) -> Slot& {
    Slot& slot = chunk_.Add(SlotKind::kMemory, 10, 0xabc, device);
    const record::MemoryPayload numbers = {.bytes = bytes,
                                           .total_allocated = 1'000,
                                           .total_reserved = 2'000,
                                           .stack_size = 0};
    chunk_.AddBytes(slot, BytesOf(numbers));
    return slot;
  };
  chunk_.AddStack({1, 2}, add(1 | 3u << 16, 64));  // CUDA, device 3
  add(0 | 0xffffu << 16, -64).flags = record::kMemoryOutOfMemory;
  add(0, std::numeric_limits<int64_t>::min());
  add(0, std::numeric_limits<int64_t>::max());
  add(0, (int64_t{1} << 48) - 1);
  chunk_.Add(SlotKind::kMemory, 10, 1, 0);  // no numbers
  Decode();
  ASSERT_EQ(shard_.memory.size(), 6u);
  const model::MemoryRecord& first = shard_.memory[0];
  EXPECT_EQ(first.source, MemorySource::kReported);
  EXPECT_EQ(first.event, MemoryEvent::kAllocation);
  EXPECT_EQ(first.device_type, 1);
  EXPECT_EQ(first.device_index, 3);
  EXPECT_EQ(first.time_ns, 10);
  EXPECT_EQ(first.address, 0xabcu);
  EXPECT_EQ(first.bytes, 64);
  EXPECT_EQ(first.total_allocated, 1'000);
  EXPECT_EQ(first.total_reserved, 2'000);
  EXPECT_EQ(first.stack, stacks_[1]);
  EXPECT_EQ(seen_, (decltype(seen_){{7, {1, 2}}}));
  EXPECT_EQ(shard_.memory[1].event, MemoryEvent::kOutOfMemory);
  EXPECT_EQ(shard_.memory[1].device_type, 0);
  EXPECT_EQ(shard_.memory[1].device_index, -1);
  EXPECT_EQ(shard_.memory[1].stack, model::kEmptyStack);
  // Sums of them must not overflow.
  EXPECT_EQ(shard_.memory[2].bytes, -(int64_t{1} << 48));
  EXPECT_EQ(shard_.memory[3].bytes, int64_t{1} << 48);
  EXPECT_EQ(shard_.memory[4].bytes, (int64_t{1} << 48) - 1);
  EXPECT_EQ(shard_.memory[5].bytes, 0);
}

// A range with all details, and one without any.
class DetailsTest : public DecodeRecordsTest {
 protected:
  DetailsTest() {
    WithStacks();
    chunk_.Add(SlotKind::kRange, 9, 10, 1);
    Slot& head = chunk_.Add(SlotKind::kRange, 10, 20, 1);
    head.flags = record::kSlotNvtx | 3u << record::kSlotDomainShift;
    chunk_.AddPayload(PayloadKind::kSequence, 12, BytesOf(int64_t{34}), head);
    chunk_.AddPayload(PayloadKind::kHandle, 6, BytesOf(int64_t{-78}), head);
    chunk_.AddPayload(PayloadKind::kOverload, 0, "out", head);
    chunk_.AddPayload(PayloadKind::kInputs, 0, "[1]", head);
    chunk_.AddStack({100, 200, 300}, head, /*key=*/1);
    chunk_.AddPayload(PayloadKind::kDouble, 2, BytesOf(2.5), head);
    chunk_.AddPayload(PayloadKind::kNamed, 1, BytesOf(uint64_t{2}), head);
    chunk_.AddPayload(PayloadKind::kInt, 1, "four", head);  // no number
  }
};

TEST_F(DetailsTest, AreThoseOfTheirRange) {
  Decode();
  ASSERT_EQ(shard_.details.size(), 1u);
  ASSERT_EQ(shard_.block.detail.size(), 2u);
  EXPECT_EQ(shard_.block.detail[0], model::kNoDetail);
  EXPECT_EQ(shard_.block.detail[1], 0u);
  const model::Detail& detail = shard_.details[0];
  EXPECT_EQ(detail.sequence_nr, 34);
  EXPECT_EQ(shard_.rare_details.Get(detail),
            (model::RareDetail{
                .forward_thread = 12, .debug_handle = -78, .node_id = 5}));
  EXPECT_EQ(Text(detail.overload_name), "out");
  EXPECT_EQ(Text(detail.inputs), "[1]");
  EXPECT_EQ(detail.stack, stacks_[2]);
  ASSERT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_[0],
            std::pair(int64_t{7}, (std::vector<uint64_t>{100, 200, 300})));
  EXPECT_EQ(shard_.ledger.Get(Loss::kStacksTruncated), 1u);
  EXPECT_EQ(detail.args_begin, 0u);
  ASSERT_EQ(detail.args_end, 3u);
  ASSERT_EQ(shard_.args.size(), 3u);
  EXPECT_EQ(Text(shard_.args[0].key), "domain");
  EXPECT_EQ(Text(shard_.args[0].string_value()), "three");
  EXPECT_EQ(Text(shard_.args[1].key), "two");
  EXPECT_EQ(shard_.args[1].type, model::ArgType::kDouble);
  EXPECT_EQ(shard_.args[1].double_value(), 2.5);
  EXPECT_EQ(Text(shard_.args[2].key), "one");
  EXPECT_EQ(shard_.args[2].type, model::ArgType::kString);
  EXPECT_EQ(Text(shard_.args[2].string_value()), "two");
}

TEST_F(DetailsTest, ThatTheSessionDoesNotWantAreLeftOut) {
  input_.details = {.inputs = false, .stacks = false, .overload_names = false};
  Decode();
  ASSERT_EQ(shard_.details.size(), 1u);
  EXPECT_EQ(shard_.details[0].overload_name, model::kEmptyName);
  EXPECT_EQ(shard_.details[0].inputs, model::kEmptyName);
  EXPECT_EQ(shard_.details[0].stack, model::kEmptyStack);
  EXPECT_TRUE(seen_.empty());
}

TEST_F(DecodeRecordsTest, AStackAloneIsADetailAndAnUnwantedOneIsNot) {
  WithStacks();
  chunk_.AddStack({1}, chunk_.Add(SlotKind::kRange, 10, 20, 1));
  input_.details.stacks = false;
  Decode();
  EXPECT_TRUE(shard_.details.empty());
  EXPECT_TRUE(shard_.block.detail.empty());
  shard_ = model::TraceShard();
  shard_.tracks = {{.pid = 7, .id = 71}};
  input_.details.stacks = true;
  Decode();
  ASSERT_EQ(shard_.details.size(), 1u);
  EXPECT_EQ(shard_.details[0].stack, stacks_[0]);
  EXPECT_EQ(shard_.ledger.Get(Loss::kStacksTruncated), 0u);
}

TEST_F(DecodeRecordsTest, TextsOfSeveralPiecesAreOneArgument) {
  Slot& head = chunk_.Add(SlotKind::kRange, 10, 20, record::kNameInPayload);
  chunk_.AddPayload(PayloadKind::kName, 0, "long ", head);
  chunk_.AddPayload(PayloadKind::kName, 0, "name", head, /*continues=*/true);
  // There is nothing that it could continue.
  chunk_.AddPayload(PayloadKind::kString, 1, "a", head, true);
  chunk_.AddPayload(PayloadKind::kString, 2, "b", head, true);
  chunk_.AddPayload(PayloadKind::kString, 3, "c", head);
  chunk_.AddPayload(PayloadKind::kInt, 1, BytesOf(int64_t{5}), head);
  chunk_.AddPayload(PayloadKind::kString, 2, "d", head);
  Decode();
  EXPECT_EQ(Text(shard_.block.name[0]), "long name");
  ASSERT_EQ(shard_.args.size(), 4u);
  EXPECT_EQ(Text(shard_.args[0].key), "one");
  EXPECT_EQ(Text(shard_.args[0].string_value()), "ab");
  EXPECT_EQ(Text(shard_.args[1].key), "three");
  EXPECT_EQ(Text(shard_.args[1].string_value()), "c");
  EXPECT_EQ(shard_.args[2].int_value(), 5);
  EXPECT_EQ(Text(shard_.args[3].key), "two");
  EXPECT_EQ(Text(shard_.args[3].string_value()), "d");
}

// Sizes around the padding to 8 bytes and the end of the slots.
TEST_F(DecodeRecordsTest, PayloadItemsEndWhereTheyCannotBe) {
  std::vector<std::tuple<uint32_t, std::string>> items;
  const auto read = [&](const TestChunk& chunk) {
    PayloadReader reader(chunk.view().slots.subspan(1));
    items.clear();
    while (const auto item = reader.Next()) {
      items.emplace_back(item->key, item->data);
    }
    return items.size();
  };
  TestChunk full(0, 1);  // 8 + 24 bytes are one slot
  full.AddPayload(PayloadKind::kString, 1, std::string(24, 'x'),
                  full.Add(SlotKind::kRange, 10, 20, 1));
  EXPECT_EQ(read(full), 1u);
  EXPECT_EQ(std::get<1>(items[0]), std::string(24, 'x'));
  // It says that it is longer than the slot.
  reinterpret_cast<record::PayloadHeader*>(&full.slots()[1])->size_bytes = 25;
  EXPECT_EQ(read(full), 0u);

  TestChunk two(0, 1);
  Slot& head = two.Add(SlotKind::kRange, 10, 20, 1);
  const record::PayloadHeader first = {
      .kind = PayloadKind::kNamed, .continues = 0, .size_bytes = 1, .key = 1};
  const record::PayloadHeader second = {
      .kind = PayloadKind::kName, .continues = 0, .size_bytes = 8, .key = 2};
  two.AddBytes(head, std::string(BytesOf(first)) + "a-------",
               std::string(BytesOf(second)) + "12345678");
  EXPECT_EQ(read(two), 2u);
  EXPECT_EQ(items[0], std::tuple(1u, std::string("a")));
  EXPECT_EQ(items[1], std::tuple(2u, std::string("12345678")));
  // A kind that there is not ends it.
  reinterpret_cast<record::PayloadHeader*>(&two.slots()[1])->kind =
      static_cast<PayloadKind>(11);
  EXPECT_EQ(read(two), 0u);
}

}  // namespace
}  // namespace kymo::stream
