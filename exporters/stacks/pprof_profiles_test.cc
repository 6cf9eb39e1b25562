#include "exporters/stacks/pprof_profiles.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/stacks/stacks_exporter.h"
#include "exporters/stacks/test_pprof.h"
#include "exporters/timeline/test_random_trace.h"
#include "exporters/timeline/test_whole_trace.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using stacks::DecodedProfile;
using stacks::ReadProfile;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Exported Files(TestTrace t) {
  ExportOptions options;
  options.settings["stacks_formats"] = "pprof";
  return Export(*NewStacksExporter(), std::move(t).Build(), options);
}

TestTrace WithThread() {
  TestTrace t;
  t.AddProcess(1, "xz");
  t.AddThread(1, 2, "worker");
  return t;
}

TEST(PprofProfilesTest, SamplesCountAndHaveTime) {
  TestTrace t = WithThread();
  t.SetWindow(1'000, 5'000);
  t.data().sampling_period_ns = 100;
  t.AddSample(0, 1'001, 100, {"main", "encode"});
  t.AddSample(0, 1'002, 50, {"main"});
  t.AddSample(0, 1'003, 25, {"main", "encode"});
  const DecodedProfile profile =
      ReadProfile(Files(std::move(t))["stacks.pb.gz"]);
  EXPECT_THAT(profile.types, ElementsAre("samples/count", "cpu/nanoseconds"));
  EXPECT_EQ(profile.default_type, "cpu");
  EXPECT_EQ(profile.period, "cpu/nanoseconds 100");
  EXPECT_EQ(profile.time_ns, 1'000);
  EXPECT_EQ(profile.duration_ns, 4'000);
  EXPECT_THAT(profile.Lines("cpu"),
              ElementsAre("main 50 process=xz (1) thread=worker (2)",
                          "main;encode 125 process=xz (1) thread=worker (2)"));
  EXPECT_EQ(profile.Total("samples"), 3);
}

TEST(PprofProfilesTest, WaitsHaveWallTimeAndTimeOffTheCpu) {
  TestTrace t = WithThread();
  t.AddSample(0, 1'001, 100, {"main", "f"});
  t.AddWait(
      {.kind = model::WaitKind::kLock, .begin_ns = 1'200, .duration_ns = 30},
      {"main", "f"});
  t.AddWait(
      {.kind = model::WaitKind::kPoll, .begin_ns = 1'300, .duration_ns = 50},
      {"main"});
  const DecodedProfile profile =
      ReadProfile(Files(std::move(t))["stacks.pb.gz"]);
  EXPECT_THAT(profile.types,
              ElementsAre("samples/count", "cpu/nanoseconds",
                          "wall/nanoseconds", "off_cpu/nanoseconds"));
  EXPECT_EQ(profile.default_type, "cpu");
  const std::string labels = " process=xz (1) thread=worker (2)";
  EXPECT_THAT(profile.Lines("cpu"), ElementsAre("main;f 100" + labels));
  EXPECT_THAT(profile.Lines("off_cpu"),
              ElementsAre("main;[poll wait, idle] 50" + labels,
                          "main;f;[lock wait] 30" + labels));
  EXPECT_EQ(profile.Total("wall"), 180);
}

TEST(PprofProfilesTest, WaitsAloneAreShownFirst) {
  TestTrace t = WithThread();
  t.AddRange(0, "work", 0, 100);
  t.AddWait({.kind = model::WaitKind::kSleep, .begin_ns = 1, .duration_ns = 9},
            {"main"});
  const DecodedProfile profile =
      ReadProfile(Files(std::move(t))["stacks.pb.gz"]);
  EXPECT_THAT(profile.types,
              ElementsAre("wall/nanoseconds", "off_cpu/nanoseconds",
                          "operations/count", "self_time/nanoseconds"));
  EXPECT_EQ(profile.default_type, "off_cpu");
  EXPECT_EQ(profile.Total("off_cpu"), 9);
  EXPECT_EQ(profile.Total("self_time"), 100);
}

// pprof names a profile after its first mapping.
TEST(PprofProfilesTest, TheProgramIsTheFirstMapping) {
  TestTrace t = WithThread();
  t.SetWindow(0, 100);
  t.data().sampling_period_ns = 10;
  model::StackId stack = model::kEmptyStack;
  for (const char* const module :
       {"/lib/ld.so", "/usr/bin/xz", "/lib/liblzma.so.5"}) {
    const model::FrameId frame = t.data().stacks.AddFrame(
        {.function = t.Intern("f"), .module = t.Intern(module)});
    stack = t.data().stacks.Push(stack, frame);
  }
  t.data().samples.push_back({0, stack, 10, 10});
  const DecodedProfile profile =
      ReadProfile(Files(std::move(t))["stacks.pb.gz"]);
  EXPECT_THAT(profile.modules, UnorderedElementsAre("/usr/bin/xz", "/lib/ld.so",
                                                    "/lib/liblzma.so.5"));
  EXPECT_EQ(profile.modules.front(), "/usr/bin/xz");
}

TEST(PprofProfilesTest, RangesCountAndHaveSelfTime) {
  TestTrace t = WithThread();
  t.AddRange(0, "forward", 0, 100);
  t.AddRange(0, "matmul", 10, 40);
  t.AddRange(0, "matmul", 50, 60);
  t.AddInstant(0, "tick", 300);
  const DecodedProfile profile =
      ReadProfile(Files(std::move(t))["stacks.pb.gz"]);
  EXPECT_THAT(profile.types,
              ElementsAre("operations/count", "self_time/nanoseconds"));
  EXPECT_EQ(profile.default_type, "self_time");
  EXPECT_THAT(
      profile.Lines("self_time"),
      ElementsAre("forward 60 process=xz (1) thread=worker (2)",
                  "forward;matmul 40 process=xz (1) thread=worker (2)"));
  EXPECT_THAT(profile.Lines("operations"),
              ElementsAre("forward 1 process=xz (1) thread=worker (2)",
                          "forward;matmul 2 process=xz (1) thread=worker (2)"));
}

TEST(PprofProfilesTest, BothShareAFile) {
  TestTrace t = WithThread();
  t.AddRange(0, "main", 0, 100);
  t.AddSample(0, 1, 7, {"main"});
  const DecodedProfile profile =
      ReadProfile(Files(std::move(t))["stacks.pb.gz"]);
  EXPECT_EQ(profile.types.size(), 4u);
  EXPECT_EQ(profile.Total("cpu"), 7);
  EXPECT_EQ(profile.Total("self_time"), 100);
  EXPECT_EQ(profile.samples.size(), 2u);
}

TEST(PprofProfilesTest, SamplesThatAreAddedUpCount) {
  TestTrace t = WithThread();
  t.AddSample(0, 1, 7, {"main"});
  t.AddSample(0, 2, 5, {"main"});
  t.AddUpSamples();
  t.AddSample(0, 3, 3, {"main"});
  const DecodedProfile profile =
      ReadProfile(Files(std::move(t))["stacks.pb.gz"]);
  EXPECT_EQ(profile.samples.size(), 1u);
  EXPECT_EQ(profile.Total("cpu"), 15);
  EXPECT_EQ(profile.Total("samples"), 3);
}

TEST(PprofProfilesTest, FramesKeepTheirPlaces) {
  TestTrace t = WithThread();
  const auto frame = [&](const char* function, uint32_t line) {
    return t.data().stacks.AddFrame({.function = t.Intern(function),
                                     .file = t.Intern("h.c"),
                                     .module = t.Intern("/bin/xz"),
                                     .line = line,
                                     .address = 16 * line});
  };
  auto stack = t.data().stacks.Push(model::kEmptyStack, frame("f", 3));
  t.data().samples.push_back({0, stack, 0, 1});
  stack = t.data().stacks.Push(stack, frame("f", 4));
  t.data().samples.push_back({0, stack, 1, 1});
  const DecodedProfile profile =
      ReadProfile(Files(std::move(t))["stacks.pb.gz"]);
  EXPECT_THAT(profile.places.at("f"),
              ElementsAre("h.c:3 /bin/xz 48", "h.c:4 /bin/xz 64"));
}

TEST(PprofProfilesTest, MemoryHasAFileOfItsOwn) {
  TestTrace t = WithThread();
  const auto stack = t.data().stacks.Push(
      model::kEmptyStack,
      t.data().stacks.AddFrame({.function = t.Intern("load")}));
  for (const int64_t bytes : {100, 20, 8}) {
    t.data().memory.push_back({.source = model::MemorySource::kHeap,
                               .time_ns = 128 - bytes,
                               .address = 64,
                               .bytes = bytes,
                               .stack = stack});
  }
  t.data().memory.push_back({.source = model::MemorySource::kHeap,
                             .time_ns = 500,
                             .address = 64,
                             .bytes = -100,
                             .partner = 0});
  t.data().memory[0].partner = 3;
  t.data().memory[2].source = model::MemorySource::kReported;
  t.data().memory[2].device_type = 1;
  t.data().memory[2].device_index = 0;
  Exported files = Files(std::move(t));
  EXPECT_EQ(files.size(), 2u);
  const DecodedProfile profile = ReadProfile(files["stacks.memory.pb.gz"]);
  EXPECT_EQ(profile.default_type, "alloc_space");
  EXPECT_THAT(
      profile.Lines("alloc_space"),
      ElementsAre("load 120 process=xz (1) thread=worker (2)",
                  "load 8 process=xz (1) thread=worker (2) device=cuda:0"));
  EXPECT_EQ(profile.Total("alloc_objects"), 3);
  EXPECT_EQ(profile.Total("inuse_objects"), 2);
  EXPECT_EQ(profile.Total("inuse_space"), 28);
}

TEST(PprofProfilesTest, EmptyTraceIsAProfileWithoutSamples) {
  const DecodedProfile profile =
      ReadProfile(Files(TestTrace())["stacks.pb.gz"]);
  EXPECT_THAT(profile.types,
              ElementsAre("operations/count", "self_time/nanoseconds"));
  EXPECT_THAT(profile.samples, IsEmpty());
}

TEST(PprofProfilesTest, OddNamesAreKeptAsUtf8) {
  TestTrace t;
  t.AddProcess(1, "p\xFF");
  t.AddThread(1, 2, "");
  t.AddRange(0, "a;\n\"λ\xC3", 0, 10);
  t.AddRange(0, "", 10, 15);
  t.AddRange(0, std::string(65'536, 'T'), 20, 21);
  const DecodedProfile profile =
      ReadProfile(Files(std::move(t))["stacks.pb.gz"]);
  EXPECT_THAT(
      profile.Lines("self_time"),
      ElementsAre(std::string(65'536, 'T') + " 1 process=p\uFFFD (1) thread=2",
                  "[unknown] 5 process=p\uFFFD (1) thread=2",
                  "a;\n\"λ\uFFFD 10 process=p\uFFFD (1) thread=2"));
}

TEST(PprofProfilesTest, RandomTracesKeepTheRules) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    const model::Trace trace = RandomTrace(seed).Make();
    const Exported files = Export(*NewStacksExporter(), trace);
    const DecodedProfile profile = ReadProfile(files.at("stacks.pb.gz"));
    EXPECT_EQ(profile.Total("samples"),
              static_cast<int64_t>(trace.samples().size()));
    ParseJson(files.at("stacks.speedscope.json"));
    if (HasFailure()) break;
  }
}

// Both files, with all that they say.
TEST(PprofProfilesTest, GoldenWhole) {
  ExportOptions options;
  options.settings["stacks_formats"] = "pprof";
  std::string text;
  for (const auto& [name, file] :
       Export(*NewStacksExporter(), WholeTrace(), options)) {
    const DecodedProfile profile = ReadProfile(file);
    text += "== " + name + "\ntypes";
    for (const std::string& type : profile.types) text += " " + type;
    text += "\ndefault " + profile.default_type + ", period " + profile.period +
            ", time " + std::to_string(profile.time_ns) + " + " +
            std::to_string(profile.duration_ns) + "\n";
    for (const std::string& module : profile.modules) {
      text += "module " + module + "\n";
    }
    for (const DecodedProfile::Sample& sample : profile.samples) {
      text += sample.stack + " [" + sample.labels + "]";
      for (const int64_t value : sample.values) {
        text += " " + std::to_string(value);
      }
      text += "\n";
    }
    for (const auto& [function, places] : profile.places) {
      text += "function " + function + ":";
      for (const std::string& place : places) text += " " + place;
      text += "\n";
    }
  }
  ExpectGolden(text, "exporters/stacks/testdata/whole_pprof.golden.txt");
}

}  // namespace
}  // namespace kymo
