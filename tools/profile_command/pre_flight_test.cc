#include "tools/profile_command/pre_flight.h"

#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "kymo/version.h"

namespace kymo::tools {
namespace {

TEST(PreFlightTest, SaysWhatIsRecordedAndWhatIsNot) {
  EXPECT_EQ(PreFlightLine({.recorded = {"cpu"}, .target_name = "a.out"}),
            "recording cpu");
  EXPECT_EQ(PreFlightLine({.recorded = {"cpu", "itt"},
                           .skipped = {{"sampling",
                                        absl::FailedPreconditionError("why")}},
                           .limitations = {"itt: limited"},
                           .target_name = "a.out"}),
            "recording cpu, itt; not sampling (why); itt: limited");
}

TEST(PreFlightTest, WhatTheMachineDoesNotHaveIsNotSaid) {
  EXPECT_EQ(
      PreFlightLine({.recorded = {"cpu"},
                     .skipped = {{"cuda", absl::NotFoundError("no driver")}}}),
      "recording cpu");
}

TEST(PreFlightTest, StaticTargetIsSampledOnlyIfItIsSampled) {
  PreFlight facts = {.recorded = {"cpu", "sampling"},
                     .target_name = "a.out",
                     .obstacle = "is statically linked",
                     .heap_is_hidden = true};
  EXPECT_EQ(PreFlightLine(facts),
            "recording cpu, sampling; a.out is statically linked, so nothing "
            "can be preloaded into it: it is sampled only");
  facts.recorded = {"cpu"};
  EXPECT_EQ(PreFlightLine(facts),
            "recording cpu; a.out is statically linked, so nothing can be "
            "preloaded into it: nothing of it is recorded");
}

TEST(PreFlightTest, StaticTargetWithKymoRecordsItself) {
  PreFlight facts = {.recorded = {"cpu", "sampling"},
                     .target_name = "a.out",
                     .obstacle = "is statically linked",
                     .records_itself = true};
  EXPECT_EQ(PreFlightLine(facts),
            "recording cpu, sampling; a.out is statically linked, so nothing "
            "can be preloaded into it: it is sampled, and its own ranges are "
            "recorded");
  facts.recorded = {"cpu"};
  EXPECT_EQ(PreFlightLine(facts),
            "recording cpu; a.out is statically linked, so nothing can be "
            "preloaded into it: only its own ranges are recorded");
  facts.wants_stacks = true;
  EXPECT_EQ(PreFlightLine(facts),
            "recording cpu; a.out is statically linked, so nothing can be "
            "preloaded into it: only its own ranges are recorded, without "
            "stacks");
  facts.recorded = {"nvtx"};
  EXPECT_EQ(PreFlightLine(facts),
            "recording nvtx; a.out is statically linked, so nothing can be "
            "preloaded into it: nothing of it is recorded");
}

TEST(PreFlightTest, HiddenHeapIsSaid) {
  EXPECT_EQ(
      PreFlightLine(
          {.recorded = {"cpu"}, .target_name = "a.out", .heap_is_hidden = true})
          .find("recording cpu; a.out brings a malloc of its own"),
      0u);
}

TEST(PreFlightTest, AnotherVersionOfKymoIsSaid) {
  EXPECT_EQ(PreFlightLine({.recorded = {"cpu"},
                           .target_name = "a.out",
                           .has_other_kymo = true}),
            "recording cpu; a.out was built with another version of Kymo, so "
            "its ranges are not recorded: build it with Kymo " KYMO_VERSION
            ", which this command is of");
  EXPECT_EQ(PreFlightLine({.recorded = {"cpu"},
                           .target_name = "a.out",
                           .has_this_kymo = true,
                           .has_other_kymo = true}),
            "recording cpu; a part of a.out was built with another version of "
            "Kymo, so its ranges are not recorded: build it with "
            "Kymo " KYMO_VERSION ", which this command is of");
}

}  // namespace
}  // namespace kymo::tools
