#include "exporters/tensorboard/xspace/device_details.h"

#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::tensorboard {
namespace {

using model::Arg;

// A trace of one activity with these arguments.
model::Trace Activity(TestTrace t, std::initializer_list<Arg> args) {
  t.AddRange(t.AddStream(0, 7), "sgemm", 0, 10,
             model::ActivityType::kConcurrentKernel);
  t.Describe(1, args);
  return std::move(t).Build();
}

TEST(DeviceDetailsTest, ReplaysTheExample) {
  TestTrace t;
  const Arg args[] = {Arg::Int(t.Intern("registers per thread"), 32),
                      Arg::Int(t.Intern("shared memory"), 1'024),
                      Arg::Json(t.Intern("grid"), t.Intern("[64, 1, 1]")),
                      Arg::Json(t.Intern("block"), t.Intern("[256, 1, 1]")),
                      Arg::Double(t.Intern("est. achieved occupancy %"), 50.9)};
  const model::Trace trace =
      Activity(std::move(t), {args[0], args[1], args[2], args[3], args[4]});
  EXPECT_EQ(KernelDetails(trace, 0),
            "regs:32 static_shared:0 dynamic_shared:1024 grid:64,1,1 "
            "block:256,1,1 occ_pct:50");
}

TEST(DeviceDetailsTest, SharedMemoryIsStaticAsFarAsTheTraceSaysSo) {
  TestTrace t;
  const Arg args[] = {Arg::Int(t.Intern("shared memory"), 1'024),
                      Arg::Int(t.Intern("static shared memory"), 1'000)};
  EXPECT_EQ(KernelDetails(Activity(std::move(t), {args[0], args[1]}), 0),
            "regs:0 static_shared:1000 dynamic_shared:24 grid:1,1,1 "
            "block:1,1,1 occ_pct:0");
  TestTrace odd;
  const Arg more = Arg::Int(odd.Intern("static shared memory"), 1'000);
  EXPECT_EQ(KernelDetails(Activity(std::move(odd), {more}), 0),
            "regs:0 static_shared:0 dynamic_shared:0 grid:1,1,1 block:1,1,1 "
            "occ_pct:0");
}

TEST(DeviceDetailsTest, KernelsWithoutArgumentsHaveDetailsToo) {
  EXPECT_EQ(KernelDetails(Activity(TestTrace(), {}), 0),
            "regs:0 static_shared:0 dynamic_shared:0 grid:1,1,1 block:1,1,1 "
            "occ_pct:0");
}

TEST(DeviceDetailsTest, ArgumentsOfOtherKindsAreNone) {
  TestTrace t;
  const Arg args[] = {
      Arg::Int(t.Intern("registers per thread"), -1),
      Arg::Double(t.Intern("shared memory"), std::nan("")),
      Arg::String(t.Intern("grid"), t.Intern("none: regs")),
      Arg::Json(t.Intern("block"), t.Intern("[2,3,4,5]")),
      Arg::String(t.Intern("est. achieved occupancy %"), t.Intern("7"))};
  const model::Trace trace =
      Activity(std::move(t), {args[0], args[1], args[2], args[3], args[4]});
  EXPECT_EQ(KernelDetails(trace, 0),
            "regs:0 static_shared:0 dynamic_shared:0 grid:1,1,1 block:2,3,4 "
            "occ_pct:0");
}

TEST(DeviceDetailsTest, CopiesAndFillsSayHowManyBytes) {
  TestTrace t;
  const Arg bytes = Arg::Int(t.Intern("bytes"), 4'096);
  const model::Trace trace = Activity(std::move(t), {bytes});
  EXPECT_EQ(CopyDetails(trace, 0), "num_bytes:4096\nsize:4096");
  EXPECT_EQ(FillDetails(trace, 0), "num_bytes:4096");
}

TEST(DeviceDetailsTest, CopiesHaveTheNamesThatCount) {
  EXPECT_EQ(CopyName("Memcpy HtoD (Pageable -> Device)"), "MemcpyHToD");
  EXPECT_EQ(CopyName("Memcpy DtoH (Device -> Pinned)"), "MemcpyDToH");
  EXPECT_EQ(CopyName("Memcpy PtoP"), "MemcpyDToD");
  EXPECT_EQ(CopyName("other\xFF"), "other\xEF\xBF\xBD");
}

}  // namespace
}  // namespace kymo::tensorboard
