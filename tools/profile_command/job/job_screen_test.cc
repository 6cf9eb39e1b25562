#include "tools/profile_command/job/job_screen.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "profiler/text/text_cells.h"
#include "tests/support/test_trace.h"

namespace kymo::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr TimeNs kMs = 1'000'000;

// Three ranks of one job, each in MPI_Allreduce for a while in each of ten
// steps; rank 1 comes there 30 ms after the others.
model::Trace Job() {
  TestTrace t;
  const auto number = [&](const char* key, int64_t value) {
    return model::Arg::Int(t.Intern(key), value);
  };
  for (int64_t rank = 0; rank < 3; ++rank) {
    const auto main = t.AddThread(100 + rank, 100 + rank, "main");
    t.AddInstant(main, "MPI ranks", kMs);
    t.Describe(0, {number("rank", rank), number("size", 3)});
    for (int64_t step = 0; step < 10; ++step) {
      const TimeNs begin = (10 + 100 * step) * kMs;
      t.AddRange(main, "MPI_Allreduce", begin + (rank == 1 ? 30 * kMs : 0),
                 begin + 31 * kMs);
      t.Describe(0, {number("comm", 1'684'739'302)});
    }
    t.AddRange(main, "MPI_Finalize", 991 * kMs, 995 * kMs);
  }
  t.SetWindow(0, 1'000 * kMs);
  return std::move(t).Build();
}

std::string Screen(const model::Trace& trace, const ScreenOptions& options) {
  const analysis::LazyJobOfRanks ranks(trace);
  const analysis::JobOfRanks& job = ranks.Get();
  return JobScreen(trace,
                   {.target = "./solver",
                    .ranks = 3,
                    .with_trace = 3,
                    .times = TimesOfJob(job)},
                   JobTables(job, nullptr), FindingsOfJob(ranks), options);
}

TEST(JobScreenTest, BeginsWithTheJobAndTheLateRank) {
  const std::string screen = Screen(Job(), {.width = 100});
  EXPECT_THAT(
      screen,
      StartsWith("./solver: 3 ranks, 0.990 s; in MPI for 21 % of their time\n"
                 "\n"
                 "Finding: Other ranks waited 600 ms in all for rank 1, "
                 "longest in MPI_Allreduce (600 ms)\n"));
  EXPECT_THAT(screen, HasSubstr("\nRanks\n"));
  EXPECT_THAT(screen,
              HasSubstr("\nCritical path: what held up the end (0.990 s with "
                        "MPI_Init, which Wall leaves out)\n"));
  EXPECT_THAT(screen,
              HasSubstr("\nCollective calls: waiting until the last rank "
                        "entered\n"));
}

TEST(JobScreenTest, SaysWhatTheCpuLimitOfARankDid) {
  TestTrace t;
  t.SetCpuLimit({.quota_ns = 50 * kMs,
                 .period_ns = 100 * kMs,
                 .periods = 80,
                 .throttled_periods = 41});
  EXPECT_THAT(
      JobScreen(std::move(t).Build(),
                {.target = "a", .ranks = 2, .with_trace = 2}, {}, {},
                {.width = 200}),
      StartsWith("a: 2 ranks\n"
                 "CPU limit of the container of the rank that was stopped "
                 "longest (cgroup): 0.5 CPUs; it stopped threads in 41 of 80 "
                 "periods of 100 ms\n"));
}

TEST(JobScreenTest, IsNoWiderThanTheTerminal) {
  const model::Trace trace = Job();
  for (const size_t width : {60, 80, 120, 200}) {
    const std::string screen = Screen(trace, {.width = width});
    for (const absl::string_view line : absl::StrSplit(screen, '\n')) {
      EXPECT_LE(report::TextWidth({line.data(), line.size()}), width) << line;
    }
    EXPECT_THAT(screen, AllOf(HasSubstr("Late rank"), HasSubstr("Waiting"),
                              HasSubstr("MPI %")));
  }
  // What says least goes first.
  EXPECT_THAT(Screen(trace, {.width = 200}), HasSubstr("1684739302"));
  EXPECT_THAT(Screen(trace, {.width = 80}), Not(HasSubstr("1684739302")));
  // All were finalized, and nothing is known of their hosts.
  EXPECT_THAT(Screen(trace, {.width = 200}),
              AllOf(Not(HasSubstr("Finalized")), Not(HasSubstr("Host"))));
}

TEST(JobScreenTest, SaysHowManyRowsAndRanksAreNotThere) {
  const model::Trace trace = Job();
  EXPECT_THAT(Screen(trace, {.rows = 2}), HasSubstr("and 1 more\n"));
  const JobTimes times = TimesOfJob(analysis::JobOfRanks(trace));
  EXPECT_THAT(
      JobScreen(trace,
                {.target = "a", .ranks = 64, .with_trace = 3, .times = times},
                {}, {}, {}),
      StartsWith("a: 64 ranks, 0.990 s; in MPI for 21 % of their time; "
                 "with the traces of 3 ranks\n"));
}

TEST(JobScreenTest, WithoutRanksThereIsNoTable) {
  TestTrace t;
  t.AddRange(t.AddThread(1, 1, "main"), "solve", 0, 10);
  const model::Trace trace = std::move(t).Build();
  const analysis::JobOfRanks job(trace);
  EXPECT_THAT(JobTables(job, nullptr), IsEmpty());
  EXPECT_EQ(JobScreen(trace,
                      {.target = "a",
                       .ranks = 2,
                       .with_trace = 2,
                       .times = TimesOfJob(job)},
                      {}, {}, {}),
            "a: 2 ranks\n");
}

}  // namespace
}  // namespace kymo::tools
