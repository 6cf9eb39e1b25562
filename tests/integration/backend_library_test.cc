// A Profile with a backend from a library, in this process.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "profiler/model/trace.h"
#include "tests/integration/test_profile.h"

namespace kymo {
namespace {

using testing::HasSubstr;

std::string PathOf(const char* variable) {
  return std::string("./") + std::getenv(variable);
}

std::string_view NameOfTrack(const model::Trace& trace,
                             model::EventIndex event) {
  return trace.tracks()[trace.track()[event]].kind == model::TrackKind::kStream
             ? "stream"
             : "thread";
}

absl::Status StartError(ProfileOptions options) {
  Profile profile(std::move(options));
  return profile.Start();
}

TEST(BackendLibraryInProcessTest, ItsRecordsStandBesideOurs) {
  const auto profile = Record([] { RecordFunction range("work"); },
                              {.activities = {"cpu", PathOf("KYMO_TICKS")},
                               .settings = {{"ticks_every_ms", "7"}}});
  const model::Trace& trace = *profile->trace();
  EXPECT_EQ(Counts(*profile)["work"], 1);
  const model::EventIndex session = Find(trace, "ticks_session");
  EXPECT_EQ(trace.tracks()[trace.track()[session]].pid, getpid());
  EXPECT_EQ(ParentName(trace, "ticks_launch"), "ticks_session");
  EXPECT_EQ(NameOfTrack(trace, Find(trace, "ticks_kernel")), "stream");
  ASSERT_EQ(trace.counters().size(), 1u);
  EXPECT_EQ(trace.counters()[0].value, 1.5);

  // The options have the backend's name now: a second session is as good.
  ASSERT_TRUE(profile->Start().ok());
  ASSERT_TRUE(profile->Stop().ok());
  EXPECT_EQ(Counts(*profile)["ticks_session"], 1);
}

TEST(BackendLibraryInProcessTest, WrongRecordsAreCountedAndTheRestIsKept) {
  const auto profile = Record([] { RecordFunction range("work"); },
                              {.activities = {"cpu", PathOf("KYMO_TICKS")},
                               .settings = {{"ticks_hostile", "1"}}});
  EXPECT_EQ(profile->trace()->ledger().Get(model::Loss::kRecordsCorrupt), 7u);
  EXPECT_EQ(Counts(*profile)["work"], 1);
  EXPECT_EQ(Counts(*profile)["ticks_session"], 1);
}

TEST(BackendLibraryInProcessTest, WhatItLosesIsInTheLedgerByName) {
  const auto profile = Record([] { RecordFunction range("work"); },
                              {.activities = {"cpu", PathOf("KYMO_TICKS")}});
  const model::LossLedger& ledger = profile->trace()->ledger();
  EXPECT_EQ(ledger.Get(model::Loss::kBackendRecordsLost), 3u);
  EXPECT_TRUE(ledger.AnythingLost());
  EXPECT_EQ(model::LossText(ledger, model::Loss::kBackendRecordsLost),
            "records that a backend could not keep: of ticks, 3 ticks that "
            "came too late (ticks_missed)");
}

TEST(BackendLibraryInProcessTest, ItIsSwitchedByItsName) {
  Profile profile({.activities = {"cpu", PathOf("KYMO_TICKS")},
                   .settings = {{"ticks_fails_in", "set_collecting"}}});
  ASSERT_TRUE(profile.Start().ok());
  EXPECT_EQ(profile.toggle_collection_dynamic(false, {"cpu", "ticks"}),
            absl::UnavailableError("set_collecting does not work; try "
                                   "ticks_fails_in=none"));
  EXPECT_TRUE(profile.Stop().ok());
}

TEST(BackendLibraryInProcessTest, ABackendThatFailsCostsOnlyItsRecords) {
  for (const char* function : {"prepare", "start", "stop", "collect"}) {
    const auto profile = Record([] { RecordFunction range("work"); },
                                {.activities = {"cpu", PathOf("KYMO_TICKS")},
                                 .settings = {{"ticks_fails_in", function}}});
    EXPECT_EQ(Counts(*profile)["work"], 1) << function;
    EXPECT_EQ(Counts(*profile).count("ticks_session"), 0u) << function;
  }
}

TEST(BackendLibraryInProcessTest, WhatDoesNotFitIsSaidAtTheStart) {
  const absl::Status other =
      StartError({.activities = {"cpu", PathOf("KYMO_OTHER_VERSION")}});
  EXPECT_EQ(other.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(other.message()), HasSubstr("version 2.3"));
  EXPECT_EQ(StartError({.activities = {"./none.so"}}).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(StartError({.activities = {PathOf("KYMO_TICKS")},
                        .settings = {{"ticks_every_ms", "0"}}})
                .message(),
            "ticks_every_ms is '0'; it takes a whole number from 1 to 1000");
}

}  // namespace
}  // namespace kymo
