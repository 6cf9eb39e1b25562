// Ranges from annotations to the trace: arguments, nesting, odd ends.
#include <setjmp.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/annotate.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "tests/integration/test_profile.h"

namespace kymo {
namespace {

TEST(ProfileTest, RecordsNestedRangesWithArguments) {
  const auto profile = Record([] {
    RecordFunction outer("outer", {{"rows", 64}, {"rate", 0.5}});
    {
      RecordFunction inner(std::string("dynamic inner"),
                           {{"kind", "relu"}, {"negative", -3}});
      Instant("mark", {{"at", 1u}});
    }
    Counter("loss", 0.25);
    Counter("loss of layer " + std::to_string(2), 0.75);
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(ParentName(trace, "dynamic inner"), "outer");
  EXPECT_EQ(ParentName(trace, "mark"), "dynamic inner");
  const auto outer = trace.args(Find(trace, "outer"));
  ASSERT_EQ(outer.size(), 2);
  EXPECT_EQ(trace.Name(outer[0].key), "rows");
  EXPECT_EQ(outer[0].int_value(), 64);
  EXPECT_EQ(outer[1].double_value(), 0.5);
  const auto inner = trace.args(Find(trace, "dynamic inner"));
  ASSERT_EQ(inner.size(), 2);
  EXPECT_EQ(trace.Name(inner[0].string_value()), "relu");
  EXPECT_EQ(inner[1].int_value(), -3);
  ASSERT_EQ(trace.counters().size(), 2);
  EXPECT_EQ(trace.Name(trace.counters()[0].name), "loss");
  EXPECT_EQ(trace.counters()[0].value, 0.25);
  EXPECT_EQ(trace.Name(trace.counters()[1].name), "loss of layer 2");
  EXPECT_EQ(trace.counters()[1].value, 0.75);
  EXPECT_FALSE(trace.ledger().AnythingLost());
}

TEST(ProfileTest, ANameThatIsNullIsSaid) {
  const auto profile = Record([] {
    const char* const none = nullptr;
    Instant(none);
    Counter(none, 0.25);
  });
  const model::Trace& trace = *profile->trace();
  ASSERT_EQ(trace.event_count(), 1u);
  EXPECT_EQ(trace.EventName(0), "(no name)");
  ASSERT_EQ(trace.counters().size(), 1u);
  EXPECT_EQ(trace.Name(trace.counters()[0].name), "(no name)");
}

TEST(ProfileTest, SelfTimesSumToWhatTopLevelRangesCover) {
  const auto profile = Record([] {
    for (int i = 0; i < 100; ++i) {
      RecordFunction top("top");
      for (int j = 0; j < 50; ++j) {
        RecordFunction middle("middle");
        RecordFunction leaf("leaf");
      }
    }
  });
  const model::Trace& trace = *profile->trace();
  DurationNs covered = 0;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (trace.parent()[i] == model::kNoEvent) {
      covered += trace.end()[i] - trace.start()[i];
    }
  }
  EXPECT_NEAR(profile->key_averages().self_cpu_time_total(),
              static_cast<double>(covered) / 1000,
              1e-6 * static_cast<double>(covered) / 1000);
  EXPECT_EQ(Counts(*profile),
            (std::map<std::string, int64_t>{
                {"top", 100}, {"middle", 5000}, {"leaf", 5000}}));
}

TEST(ProfileTest, ManyChunksKeepEveryRangeAndItsParent) {
  constexpr int kInner = 100'000;
  const auto profile = Record([] {
    RecordFunction outer("outer");
    for (int i = 0; i < kInner; ++i) RecordFunction inner("inner");
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(trace.event_count(), kInner + 1);
  const model::EventIndex outer = Find(trace, "outer");
  EXPECT_EQ(trace.flags()[outer], 0);  // ended, though its chunk was long gone
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (i == outer) continue;
    EXPECT_EQ(trace.parent()[i], outer);
  }
  EXPECT_FALSE(trace.ledger().AnythingLost());
}

TEST(ProfileTest, LongNamesAndArgumentsAreKeptWhole) {
  const std::string name(100'000, 'n');
  const std::string value(70'000, 'v');
  const auto profile = Record([&] {
    RecordFunction range(name, {{"text", value}, {"after", 1}});
    range.AddArg("more", value);
  });
  const model::Trace& trace = *profile->trace();
  ASSERT_EQ(trace.event_count(), 1);
  EXPECT_EQ(trace.EventName(0), name);
  const auto args = trace.args(0);
  ASSERT_EQ(args.size(), 3);
  EXPECT_EQ(trace.Name(args[0].string_value()), value);
  EXPECT_EQ(args[1].int_value(), 1);
  EXPECT_EQ(trace.Name(args[2].string_value()), value);
}

TEST(ProfileTest, LongTextsArriveInLinearTime) {
  const std::string value(16 << 20, 'v');
  const auto profile = Record([&] {
    RecordFunction range("range");
    range.AddArg("text", value);
  });
  const auto args = profile->trace()->args(0);
  ASSERT_EQ(args.size(), 1u);
  EXPECT_EQ(profile->trace()->Name(args[0].string_value()).size(),
            value.size());
}

TEST(ProfileTest, RangeThatEndsOnAnotherThreadIsAsynchronous) {
  const auto profile = Record([] {
    RecordFunction around("around");
    auto handed_over = std::make_unique<RecordFunction>(Literal("handed over"));
    RecordFunction inside("inside");
    std::thread([&] {
      RecordFunction on_worker("on worker");
      handed_over.reset();
    }).join();
  });
  const model::Trace& trace = *profile->trace();
  const model::EventIndex async = Find(trace, "handed over");
  EXPECT_EQ(trace.flags()[async], model::kEventAsync);
  EXPECT_EQ(trace.parent()[async], model::kNoEvent);
  EXPECT_EQ(ParentName(trace, "inside"), "around");
  EXPECT_FALSE(trace.ledger().AnythingLost());
}

// The thread is long gone when the recording ends.
TEST(ProfileTest, OfWhatAThreadLeavesOpenOnlyPushesEndWithIt) {
  TimeNs gone_ns = 0;
  std::unique_ptr<RecordFunction> handed_on;
  const auto profile = Record([&] {
    std::thread([&] {
      kymo_push("pushed");
      RecordFunction around("around");
      handed_on = std::make_unique<RecordFunction>(Literal("handed on"));
    }).join();
    gone_ns = MonotonicNs() + EpochOffsetNs();
    usleep(100'000);
  });
  const model::Trace& trace = *profile->trace();
  const model::EventIndex object = Find(trace, "handed on");
  const model::EventIndex push = Find(trace, "pushed");
  EXPECT_EQ(trace.flags()[object], model::kEventOpen | model::kEventAsync);
  EXPECT_EQ(trace.end()[object], trace.end_ns());
  EXPECT_EQ(trace.flags()[push], model::kEventOpen);
  // The two clocks do not agree on the last microseconds.
  EXPECT_LE(trace.end()[push], gone_ns + 10 * kNsPerMs);
  EXPECT_GE(trace.end()[object], gone_ns + 90 * kNsPerMs);
}

TEST(ProfileTest, RangesThatEndInTheWrongOrderAreShownBesideEachOther) {
  const auto profile = Record([] {
    auto first = std::make_unique<RecordFunction>(Literal("first"));
    usleep(100);
    auto second = std::make_unique<RecordFunction>(Literal("second"));
    usleep(100);
    first.reset();
    usleep(100);
    second.reset();
    RecordFunction after("after");
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(trace.ledger().Get(model::Loss::kRangesOverlapping), 1);
  EXPECT_EQ(ParentName(trace, "second"), "");
  EXPECT_EQ(ParentName(trace, "after"), "");
}

TEST(ProfileTest, LongjmpThroughARangeHealsAtTheNextEnd) {
  const auto profile = Record([] {
    RecordFunction outer("outer");
    {
      RecordFunction middle("middle");
      jmp_buf target;
      if (setjmp(target) == 0) {
        alignas(RecordFunction) unsigned char memory[sizeof(RecordFunction)];
        new (memory) RecordFunction("abandoned");
        longjmp(target, 1);
      }
    }
    RecordFunction after("after");
  });
  const model::Trace& trace = *profile->trace();
  EXPECT_TRUE(trace.flags()[Find(trace, "abandoned")] & model::kEventOpen);
  EXPECT_EQ(ParentName(trace, "abandoned"), "middle");
  EXPECT_EQ(ParentName(trace, "after"), "outer");
}

TEST(ProfileTest, DeepNestingIsLinear) {
  constexpr int kDepth = 100'000;
  const auto profile = Record([] {
    std::vector<std::unique_ptr<RecordFunction>> open;
    for (int i = 0; i < kDepth; ++i) {
      open.push_back(std::make_unique<RecordFunction>(Literal("nested")));
    }
    while (!open.empty()) open.pop_back();
  });
  const model::Trace& trace = *profile->trace();
  ASSERT_EQ(trace.event_count(), kDepth);
  for (model::EventIndex i = 1; i < kDepth; ++i) {
    ASSERT_EQ(trace.parent()[i], i - 1);
  }
}

TEST(ProfileTest, WrappedCallableIsARangeAndPassesEverythingThrough) {
  const auto profile = Record([] {
    auto add = Recorded("add", [](int a, int b) { return a + b; });
    EXPECT_EQ(add(2, 3), 5);
    EXPECT_EQ(add(4, 5), 9);
  });
  EXPECT_EQ(Counts(*profile)["add"], 2);
}

}  // namespace
}  // namespace kymo
