#include "profiler/plugin/library/plugin_records.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profiler/base/clock.h"

namespace kymo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class PluginRecordsTest : public testing::Test {
 protected:
  static constexpr TimeNs kTime = 1'000'000;

  PluginRecordsTest() {
    range_.struct_size = sizeof(range_);
    range_.process_id = 1;
    range_.thread_id = 2;
    range_.name = "range";
    range_.begin_ns = kTime;
    range_.end_ns = kTime + 10;
    counter_.struct_size = sizeof(counter_);
    counter_.process_id = 1;
    counter_.name = "counter";
    counter_.time_ns = kTime;
    instant_.struct_size = sizeof(instant_);
    instant_.process_id = 1;
    instant_.thread_id = 1;
    instant_.name = "instant";
    instant_.time_ns = kTime;
    work_.struct_size = sizeof(work_);
    work_.process_id = 1;
    work_.name = "work";
    work_.begin_ns = kTime;
    work_.end_ns = kTime;
  }

  uint32_t Add(const KymoRange& range) {
    return to_.add_range(to_.host, &range);
  }
  uint32_t Add(const KymoCounter& counter) {
    return to_.add_counter(to_.host, &counter);
  }
  uint32_t Add(const KymoInstant& instant) {
    return to_.add_instant(to_.host, &instant);
  }
  uint32_t Add(const KymoDeviceWork& work) {
    return to_.add_device_work(to_.host, &work);
  }
  // A record with one field changed.
  template <typename Record, typename Field, typename Value>
  uint32_t AddWith(Record record, Field Record::*field, Value value) {
    record.*field = value;
    return Add(record);
  }

  KymoRange range_ = {};
  KymoCounter counter_ = {};
  KymoInstant instant_ = {};
  KymoDeviceWork work_ = {};
  model::TraceShard shard_;
  PluginRecords records_{{.backend = "mine"}, shard_};
  const KymoRecords& to_ = *records_.table();
};

TEST_F(PluginRecordsTest, EveryWrongFieldIsRefused) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr uint32_t kBad = KYMO_INVALID_ARGUMENT;
  uint64_t refused = 0;
  const auto expect_bad = [&](uint32_t result) {
    ++refused;
    EXPECT_EQ(result, kBad) << "refusal " << refused;
  };
  expect_bad(AddWith(range_, &KymoRange::end_ns, kTime - 1));
  expect_bad(AddWith(range_, &KymoRange::begin_ns, 0));
  expect_bad(AddWith(range_, &KymoRange::begin_ns,
                     std::numeric_limits<int64_t>::min()));
  expect_bad(AddWith(range_, &KymoRange::struct_size, sizeof(range_) - 1));
  expect_bad(AddWith(range_, &KymoRange::kind, KYMO_RANGE_ASYNC + 1));
  expect_bad(AddWith(range_, &KymoRange::process_id, 0));
  expect_bad(AddWith(range_, &KymoRange::process_id, int64_t{1} << 31));
  expect_bad(AddWith(range_, &KymoRange::thread_id, -1));
  expect_bad(AddWith(range_, &KymoRange::name, nullptr));
  expect_bad(AddWith(range_, &KymoRange::name, ""));
  expect_bad(AddWith(range_, &KymoRange::correlation, 1));  // no call
  expect_bad(AddWith(range_, &KymoRange::arg_count, 1));
  KymoArg args[65] = {};
  for (KymoArg& arg : args) arg.key = "key";
  range_.args = args;
  expect_bad(AddWith(range_, &KymoRange::arg_count, 65));
  range_.arg_count = 1;
  args[0].key = nullptr;
  expect_bad(Add(range_));
  args[0] = {.key = "key", .kind = KYMO_ARG_TEXT + 1};
  expect_bad(Add(range_));
  args[0] = {.key = "key", .kind = KYMO_ARG_REAL, .real = kNaN};
  expect_bad(Add(range_));
  range_.arg_count = 0;
  range_.kind = KYMO_RANGE_CALL;
  expect_bad(AddWith(range_, &KymoRange::correlation, 0x80000000u));
  expect_bad(to_.add_range(to_.host, nullptr));

  expect_bad(AddWith(counter_, &KymoCounter::value, kNaN));
  expect_bad(AddWith(counter_, &KymoCounter::value,
                     std::numeric_limits<double>::infinity()));
  expect_bad(AddWith(counter_, &KymoCounter::name, nullptr));
  expect_bad(AddWith(counter_, &KymoCounter::time_ns, -1));
  expect_bad(AddWith(counter_, &KymoCounter::process_id, -1));
  expect_bad(AddWith(counter_, &KymoCounter::thread_id, -1));
  expect_bad(AddWith(counter_, &KymoCounter::struct_size, 0));

  expect_bad(AddWith(instant_, &KymoInstant::time_ns, 0));
  expect_bad(AddWith(instant_, &KymoInstant::name, ""));
  expect_bad(AddWith(instant_, &KymoInstant::thread_id, 0));
  expect_bad(AddWith(instant_, &KymoInstant::struct_size, 8));

  expect_bad(AddWith(work_, &KymoDeviceWork::kind, KYMO_WORK_SET + 1));
  expect_bad(AddWith(work_, &KymoDeviceWork::device, 65'536));
  expect_bad(AddWith(work_, &KymoDeviceWork::stream, 1'000'000));
  expect_bad(AddWith(work_, &KymoDeviceWork::process_id, 0));
  expect_bad(AddWith(work_, &KymoDeviceWork::name, nullptr));
  expect_bad(AddWith(work_, &KymoDeviceWork::end_ns, 1));
  expect_bad(AddWith(work_, &KymoDeviceWork::struct_size, 63));
  expect_bad(AddWith(work_, &KymoDeviceWork::correlation, ~0u));

  expect_bad(to_.add_loss(to_.host, 0, 1));
  expect_bad(to_.add_remark(to_.host, nullptr));
  EXPECT_EQ(to_.add_range(nullptr, &range_), kBad);

  ASSERT_TRUE(records_.Finish().ok());
  EXPECT_THAT(shard_.events, IsEmpty());
  EXPECT_THAT(shard_.counters, IsEmpty());
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kRecordsCorrupt), refused);
  const std::vector<std::string> remarks = records_.TakeRemarks();
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_THAT(remarks[0], AllOf(StartsWith("mine: "),
                                HasSubstr(": a record ends before it begins")));
}

TEST_F(PluginRecordsTest, EveryFieldOfARecordIsInTheShard) {
  KymoArg args[3] = {};
  args[0] = {.key = "int", .kind = KYMO_ARG_INTEGER, .integer = -5};
  args[1] = {.key = "real", .kind = KYMO_ARG_REAL, .real = 0.5};
  args[2] = {.key = "text", .kind = KYMO_ARG_TEXT, .text = "value"};
  range_.arg_count = 2;
  range_.args = args;
  EXPECT_EQ(Add(range_), KYMO_OK);
  instant_.thread_id = 2;
  instant_.time_ns = kTime + 3;
  instant_.arg_count = 1;
  instant_.args = args + 2;
  EXPECT_EQ(Add(instant_), KYMO_OK);
  EXPECT_EQ(Add(counter_), KYMO_OK);
  counter_.thread_id = 2;
  counter_.unit = "bytes";
  counter_.time_ns = kTime + 1;
  counter_.value = -2.5;
  EXPECT_EQ(Add(counter_), KYMO_OK);
  work_.kind = KYMO_WORK_COPY;
  work_.device = 3;
  work_.stream = 7;
  work_.end_ns = kTime + 20;
  EXPECT_EQ(Add(work_), KYMO_OK);
  ASSERT_TRUE(records_.Finish().ok());
  EXPECT_THAT(records_.TakeRemarks(), IsEmpty());
  EXPECT_TRUE(shard_.metadata.empty());

  using model::TrackKind;
  ASSERT_EQ(shard_.tracks.size(), 3u);
  const auto expect_track = [&](size_t track, TrackKind kind, int64_t id,
                                int32_t device) {
    EXPECT_EQ(shard_.tracks[track].kind, kind);
    EXPECT_EQ(shard_.tracks[track].pid, 1);
    EXPECT_EQ(shard_.tracks[track].id, id);
    EXPECT_EQ(shard_.tracks[track].device_index, device);
  };
  expect_track(0, TrackKind::kThread, 2, -1);
  expect_track(1, TrackKind::kThread, 1, -1);  // the process's own
  expect_track(2, TrackKind::kStream, 7, 3);

  const auto text = [this](model::NameId name) {
    return std::string(shard_.strings.Get(name));
  };
  ASSERT_EQ(shard_.events.size(), 2u);
  const model::TrackEvents& thread = shard_.events[0];
  EXPECT_EQ(thread.track, 0u);
  EXPECT_THAT(thread.start_ns, ElementsAre(kTime, kTime + 3));
  EXPECT_THAT(thread.end_ns, ElementsAre(kTime + 10, kTime + 3));
  EXPECT_EQ(text(thread.name[0]), "range");
  EXPECT_EQ(text(thread.name[1]), "instant");
  EXPECT_THAT(thread.type, ElementsAre(model::ActivityType::kUserAnnotation,
                                       model::ActivityType::kCpuInstantEvent));
  EXPECT_THAT(thread.flags, ElementsAre(0, model::kEventInstant));
  EXPECT_THAT(thread.scope, ElementsAre(model::RecordScope::kUserScope,
                                        model::RecordScope::kUserScope));
  const model::TrackEvents& stream = shard_.events[1];
  EXPECT_EQ(stream.track, 2u);
  EXPECT_THAT(stream.start_ns, ElementsAre(kTime));
  EXPECT_THAT(stream.end_ns, ElementsAre(kTime + 20));
  EXPECT_EQ(text(stream.name[0]), "work");
  EXPECT_THAT(stream.type, ElementsAre(model::ActivityType::kGpuMemcpy));
  EXPECT_THAT(stream.flags, ElementsAre(0));
  EXPECT_THAT(stream.scope, ElementsAre(model::RecordScope::kFunction));
  EXPECT_THAT(stream.detail, ElementsAre(model::kNoDetail));

  ASSERT_EQ(shard_.details.size(), 2u);
  EXPECT_THAT(thread.detail, ElementsAre(0, 1));
  EXPECT_EQ(shard_.details[0].args_begin, 0u);
  EXPECT_EQ(shard_.details[0].args_end, 2u);
  EXPECT_EQ(shard_.details[1].args_begin, 2u);
  EXPECT_EQ(shard_.details[1].args_end, 3u);
  EXPECT_EQ(shard_.details[0].correlation_id, 0u);
  ASSERT_EQ(shard_.args.size(), 3u);
  EXPECT_EQ(text(shard_.args[0].key), "int");
  EXPECT_EQ(shard_.args[0].type, model::ArgType::kInt);
  EXPECT_EQ(shard_.args[0].int_value(), -5);
  EXPECT_EQ(shard_.args[1].type, model::ArgType::kDouble);
  EXPECT_EQ(shard_.args[1].double_value(), 0.5);
  EXPECT_EQ(shard_.args[2].type, model::ArgType::kString);
  EXPECT_EQ(text(shard_.args[2].string_value()), "value");

  ASSERT_EQ(shard_.counters.size(), 2u);
  EXPECT_EQ(shard_.counters[0].track, 1u);
  EXPECT_EQ(text(shard_.counters[0].name), "counter");
  EXPECT_EQ(shard_.counters[0].time_ns, kTime);
  EXPECT_EQ(shard_.counters[0].value, 0.0);
  EXPECT_EQ(shard_.counters[1].track, 0u);
  EXPECT_EQ(text(shard_.counters[1].name), "counter (bytes)");
  EXPECT_EQ(shard_.counters[1].time_ns, kTime + 1);
  EXPECT_EQ(shard_.counters[1].value, -2.5);
}

TEST_F(PluginRecordsTest, WhatIsRightToTheEndIsTaken) {
  constexpr int64_t kMostId = 0x7fffffff;
  EXPECT_EQ(AddWith(range_, &KymoRange::process_id, kMostId), KYMO_OK);
  EXPECT_EQ(AddWith(range_, &KymoRange::thread_id, kMostId), KYMO_OK);
  EXPECT_EQ(AddWith(range_, &KymoRange::begin_ns, 1), KYMO_OK);
  EXPECT_EQ(AddWith(range_, &KymoRange::end_ns, kTime), KYMO_OK);
  EXPECT_EQ(AddWith(range_, &KymoRange::struct_size, 64), KYMO_OK);
  EXPECT_EQ(AddWith(instant_, &KymoInstant::struct_size, 48), KYMO_OK);
  EXPECT_EQ(AddWith(counter_, &KymoCounter::struct_size, 56), KYMO_OK);
  EXPECT_EQ(AddWith(work_, &KymoDeviceWork::struct_size, 64), KYMO_OK);
  EXPECT_EQ(AddWith(work_, &KymoDeviceWork::device, 65'535), KYMO_OK);
  EXPECT_EQ(AddWith(work_, &KymoDeviceWork::stream, 999'999), KYMO_OK);
  EXPECT_EQ(AddWith(work_, &KymoDeviceWork::kind, KYMO_WORK_SET), KYMO_OK);
  EXPECT_EQ(AddWith(work_, &KymoDeviceWork::correlation, 0x7fffffffu), KYMO_OK);
  KymoArg args[64] = {};
  for (KymoArg& arg : args) arg.key = "key";
  range_.args = args;
  EXPECT_EQ(AddWith(range_, &KymoRange::arg_count, 64), KYMO_OK);
  const std::string longest(65'535, 'x');
  EXPECT_EQ(AddWith(range_, &KymoRange::name, longest.c_str()), KYMO_OK);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(to_.add_remark(to_.host, i == 0 ? "a\nb" : "more"), KYMO_OK);
  }
  EXPECT_EQ(to_.add_remark(to_.host, "one more"), KYMO_INVALID_ARGUMENT);
  ASSERT_TRUE(records_.Finish().ok());
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kRecordsCorrupt), 1u);
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kArgumentsTruncated), 0u);
  const std::vector<std::string> remarks = records_.TakeRemarks();
  ASSERT_EQ(remarks.size(), 101u);
  EXPECT_EQ(remarks[0], "mine: a b");
  EXPECT_EQ(remarks[100],
            "mine: 1 of its records cannot be used, because of an error in the "
            "backend: there are over 100 remarks");
}

TEST_F(PluginRecordsTest, TheTableSaysItsSizeAndTheClock) {
  EXPECT_EQ(to_.struct_size, sizeof(KymoRecords));
  EXPECT_EQ(to_.epoch_offset_ns, EpochOffsetNs());
  EXPECT_EQ(PluginText(nullptr), "");
  EXPECT_EQ(PluginText("a\x01\x1f\x7f b"), "a    b");
  EXPECT_EQ(PluginText("abcdef", 4), "abcd");
}

TEST_F(PluginRecordsTest, RowsAreSortedEnclosingRangesFirst) {
  for (int i = 1000; i > 0; --i) {
    KymoRange range = range_;
    range.begin_ns = kTime + i;
    range.end_ns = kTime + i;
    EXPECT_EQ(Add(range), KYMO_OK);
  }
  range_.end_ns = kTime + 5000;
  EXPECT_EQ(Add(range_), KYMO_OK);
  range_.end_ns = 0;  // open, and so the longest
  range_.name = "open";
  EXPECT_EQ(Add(range_), KYMO_OK);
  ASSERT_TRUE(records_.Finish().ok());
  ASSERT_EQ(shard_.events.size(), 1u);
  const model::TrackEvents& events = shard_.events[0];
  ASSERT_EQ(events.size(), 1002u);
  EXPECT_TRUE(std::is_sorted(events.start_ns.begin(), events.start_ns.end()));
  EXPECT_EQ(events.end_ns[0], 0);
  EXPECT_EQ(shard_.strings.Get(events.name[0]), "open");
  EXPECT_EQ(events.end_ns[1], kTime + 5000);
}

TEST_F(PluginRecordsTest, KindsOfRangesAreTypesOfTheTrace) {
  using model::ActivityType;
  for (uint32_t kind = 0; kind <= KYMO_RANGE_ASYNC; ++kind) {
    EXPECT_EQ(AddWith(range_, &KymoRange::kind, kind), KYMO_OK);
  }
  ASSERT_TRUE(records_.Finish().ok());
  ASSERT_EQ(shard_.events.size(), 1u);
  const model::TrackEvents& events = shard_.events[0];
  EXPECT_THAT(events.type,
              ElementsAre(ActivityType::kUserAnnotation, ActivityType::kCpuOp,
                          ActivityType::kCudaRuntime, ActivityType::kOverhead,
                          ActivityType::kUserAnnotation));
  EXPECT_THAT(events.flags,
              ElementsAre(0, 0, 0, model::kEventAsync, model::kEventAsync));
}

TEST_F(PluginRecordsTest, TextsAreUtf8AndHaveALimit) {
  const std::string lasts_long(100'000, 'x');
  range_.name = lasts_long.c_str();
  EXPECT_EQ(Add(range_), KYMO_OK);
  range_.name = "\xC3\x28";
  EXPECT_EQ(Add(range_), KYMO_OK);
  ASSERT_TRUE(records_.Finish().ok());
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kArgumentsTruncated), 1u);
  EXPECT_TRUE(shard_.strings.Find(std::string(65'535, 'x')).has_value());
  EXPECT_TRUE(shard_.strings.Find("\xEF\xBF\xBD(").has_value());
}

TEST_F(PluginRecordsTest, ThereIsALimitOfThreads) {
  for (int thread = 1; thread <= 65'536; ++thread) {
    range_.thread_id = thread;
    ASSERT_EQ(Add(range_), KYMO_OK);
  }
  range_.thread_id = 65'537;
  EXPECT_EQ(Add(range_), KYMO_INVALID_ARGUMENT);
  range_.thread_id = 5;
  EXPECT_EQ(Add(range_), KYMO_OK);
}

// A record of a later minor version, and one of a library that is older.
TEST_F(PluginRecordsTest, SizesOfRecordsAreRespected) {
  struct Later {
    KymoRange known;
    uint64_t unknown;
  } later = {range_, 5};
  later.known.struct_size = sizeof(later);
  EXPECT_EQ(Add(later.known), KYMO_OK);
  struct {
    uint32_t struct_size;
    uint32_t first;
    uint64_t second;
  } longer = {8, 2, 3};
  EXPECT_EQ(CopySized(&longer).first, 2u);
  EXPECT_EQ(CopySized(&longer).second, 0u);
}

TEST_F(PluginRecordsTest, CorrelationsAreCountedAnewInTheirOrder) {
  range_.kind = KYMO_RANGE_CALL;
  for (const uint32_t number : {0x7fffffffu, 1u, 5u, 0u, 5u}) {
    EXPECT_EQ(AddWith(range_, &KymoRange::correlation, number), KYMO_OK);
  }
  EXPECT_EQ(AddWith(work_, &KymoDeviceWork::correlation, 0x7fffffffu), KYMO_OK);
  ASSERT_TRUE(records_.Finish().ok());
  std::vector<uint64_t> numbers;
  for (const model::Detail& detail : shard_.details) {
    numbers.push_back(detail.correlation_id);
  }
  EXPECT_THAT(numbers, ElementsAre(0x80000003u, 0x80000001u, 0x80000002u,
                                   0x80000002u, 0x80000003u));
}

}  // namespace
}  // namespace kymo
