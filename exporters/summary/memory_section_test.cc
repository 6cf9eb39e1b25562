#include "exporters/summary/memory_section.h"

#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "profiler/analysis/memory/lazy_profiles.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

// An object that has the section as its only member.
std::string Section(const model::Trace& trace) {
  EXPECT_TRUE(model::ValidateTrace(trace).ok()) << model::ValidateTrace(trace);
  std::string text;
  json::JsonWriter json(text);
  json.BeginObject();
  WriteMemory(trace, analysis::LazyMemoryProfiles(trace), json);
  json.EndObject();
  return text;
}

google::protobuf::Struct OnlyPool(const std::string& text) {
  const auto json = ParseJson(text);
  const auto& memory = json.fields().at("memory").struct_value();
  const auto& pools = memory.fields().at("pools").list_value();
  EXPECT_EQ(pools.values_size(), 1);
  return pools.values(0).struct_value();
}

class MemorySectionTest : public testing::Test {
 protected:
  MemorySectionTest() {
    t_.SetWindow(1'000'000, 9'000'000);
    t_.AddProcess(10, "xz");
    main_ = t_.AddThread(10, 10, "xz");
  }

  model::StackId Stack(std::string_view function, uint32_t line) {
    return t_.data().stacks.Push(
        model::kEmptyStack,
        t_.data().stacks.AddFrame({.function = t_.Intern(function),
                                   .file = t_.Intern("xz.cc"),
                                   .line = line}));
  }

  model::Trace Build() {
    std::move(memory_).AddTo(t_.data());
    return std::move(t_).Build();
  }

  TestTrace t_;
  TestMemory memory_;
  model::TrackIndex main_ = 0;
};

TEST_F(MemorySectionTest, Golden) {
  t_.AddAnnotation(main_, "ProfilerStep#3", 1'000'000, 2'000'000);
  t_.AddRange(main_, "compress", 1'100'000, 1'900'000);
  const auto encode = Stack("encode", 12);
  const auto kept = memory_.Allocate(
      {.track = main_, .bytes = 3'000, .stack = encode}, 1'500'000);
  memory_.Allocate({.track = main_, .bytes = 64}, 2'500'000);
  memory_.Free(kept, main_, 2'600'000);
  memory_.Free(memory_.Allocate({.track = main_, .bytes = 0, .stack = encode},
                                3'000'000),
               main_, 3'000'100);
  memory_.OutOfMemory({.track = main_, .bytes = 1 << 30}, 4'000'000);
  memory_.Allocate({.track = main_,
                    .bytes = 512,
                    .source = model::MemorySource::kReported,
                    .device_type = 1,
                    .device_index = 0},
                   5'000'000);
  const std::string text = Section(Build());
  ParseJson(text);
  ExpectGolden(text, "exporters/summary/testdata/memory.golden.json");
}

TEST_F(MemorySectionTest, WithoutMemoryThereIsNone) {
  EXPECT_TRUE(ParseJson(Section(Build())).fields().empty());
}

TEST_F(MemorySectionTest, CountsHaveTotalsOnly) {
  t_.data().allocation_counts = {{main_, 10, 8, 2'048}};
  const google::protobuf::Struct pool = OnlyPool(Section(Build()));
  EXPECT_EQ(pool.fields().at("detail").string_value(), "counts");
  const auto totals = pool.fields().at("totals").struct_value();
  EXPECT_EQ(totals.fields().at("allocations").number_value(), 10);
  EXPECT_EQ(totals.fields().count("alive_bytes"), 0u);
  EXPECT_EQ(pool.fields().count("peak"), 0u);
}

TEST_F(MemorySectionTest, ListsEndWithWhatIsMissingToTheSum) {
  for (uint32_t i = 1; i <= 60; ++i) {
    memory_.Allocate({.track = main_, .bytes = i, .stack = Stack("f", i)},
                     1'000'000 + i);
  }
  const google::protobuf::Struct pool = OnlyPool(Section(Build()));
  const auto& peak = pool.fields().at("peak").struct_value().fields();
  const auto& by_stack = peak.at("by_stack").list_value();
  ASSERT_EQ(by_stack.values_size(), 51);
  const auto& others = by_stack.values(50).struct_value().fields();
  EXPECT_EQ(others.at("others").number_value(), 10);
  EXPECT_EQ(others.at("count").number_value(), 10);
  EXPECT_EQ(others.at("bytes").number_value(), 55);
  double sum = 0;
  for (const auto& entry : by_stack.values()) {
    sum += entry.struct_value().fields().at("bytes").number_value();
  }
  EXPECT_EQ(sum, peak.at("bytes").number_value());
  // All of them in one function.
  const auto& by_function = peak.at("by_function").list_value();
  ASSERT_EQ(by_function.values_size(), 1);
  const auto& function = by_function.values(0).struct_value().fields();
  EXPECT_EQ(function.at("function").string_value(), "f");
  EXPECT_EQ(function.at("count").number_value(), 60);
  EXPECT_EQ(function.at("bytes").number_value(), sum);
}

TEST_F(MemorySectionTest, AThousandStepsAreListed) {
  for (int i = 0; i < 1'001; ++i) {
    t_.AddAnnotation(main_, "ProfilerStep#" + std::to_string(i),
                     1'000'000 + 1'000 * i, 1'000'500 + 1'000 * i);
  }
  memory_.Allocate({.track = main_, .bytes = 64}, 1'000'100);
  const google::protobuf::Struct pool = OnlyPool(Section(Build()));
  const auto& steps = pool.fields().at("steps").list_value();
  ASSERT_EQ(steps.values_size(), 1'000);
  const auto& last = steps.values(999).struct_value().fields();
  EXPECT_EQ(last.at("number").number_value(), 999);
  EXPECT_EQ(last.at("start_us").number_value(), 999);
  EXPECT_EQ(pool.fields().at("step_count").number_value(), 1'001);
}

}  // namespace
}  // namespace kymo
