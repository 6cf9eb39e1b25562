// The scenarios within a session of their own process.
#include "tests/reliability/scenarios.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <map>
#include <string>

#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "profiler/model/trace.h"

namespace kymo::reliability {
namespace {

// False for scenarios that AddressSanitizer cannot run. A child that is forked
// beside threads may find its malloc locked for ever. It takes a library's own
// copy of Kymo for a mistake.
[[maybe_unused]] bool IsForAddressSanitizer(const std::string& scenario) {
  return scenario != "fork_beside_threads" && scenario != "unloaded_libraries";
}

#ifndef __SANITIZE_ADDRESS__
// The last library annotates before this program does, so its copy of Kymo is
// the host of this program's sessions.
const bool library_was_first = [] {
  const std::string paths = getenv("KYMO_LIBRARIES");
  void* const library =
      dlopen(paths.substr(paths.rfind(' ') + 1).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) abort();
  reinterpret_cast<const char* (*)()>(dlsym(library, "Annotated"))();
  return true;
}();
#endif

class ScenariosTest : public testing::TestWithParam<Scenario> {};

TEST_P(ScenariosTest, IsRecordedWhole) {
  const Scenario& scenario = GetParam();
  if (scenario.starts_itself) GTEST_SKIP() << "see process_test.py";
#ifdef __SANITIZE_ADDRESS__
  if (!IsForAddressSanitizer(scenario.name)) {
    GTEST_SKIP() << "not under AddressSanitizer";
  }
#endif
  ProfileOptions options;
  options.activities = {"cpu"};
  options.experimental_config.profile_all_threads = true;
  Profile profile(options);
  ASSERT_TRUE(profile.Start().ok());
  const Expected expected = scenario.run();
  const absl::Status status = profile.Stop();
  ASSERT_TRUE(status.ok()) << status;
  const model::Trace& trace = *profile.trace();
  EXPECT_TRUE(model::ValidateTrace(trace).ok());
  Counts counts;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    ++counts[std::string(trace.EventName(i))];
  }
  for (const auto& [name, count] : expected.own) {
    if (count == -1) counts[name] = -1;
  }
  EXPECT_EQ(counts, expected.own);
  EXPECT_EQ(trace.ledger().Get(model::Loss::kRangesOpenAtEnd), expected.open);
  EXPECT_FALSE(trace.ledger().AnythingLost());
}

INSTANTIATE_TEST_SUITE_P(All, ScenariosTest, testing::ValuesIn(Scenarios()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kymo::reliability
