// test_profile.h - records a session of all threads, for tests.
//
//   const auto profile = Record([] { RecordFunction range("work"); });
//   EXPECT_EQ(Counts(*profile)["work"], 1);
#ifndef KYMO_TESTS_INTEGRATION_TEST_PROFILE_H_
#define KYMO_TESTS_INTEGRATION_TEST_PROFILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "profiler/model/trace.h"

namespace kymo {

// Records `work` in one session of all threads.
template <typename Work>
std::unique_ptr<Profile> Record(Work work, ProfileOptions options = {}) {
  options.experimental_config.profile_all_threads = true;
  auto profile = std::make_unique<Profile>(std::move(options));
  EXPECT_TRUE(profile->Start().ok());
  work();
  const absl::Status status = profile->Stop();
  EXPECT_TRUE(status.ok()) << status;
  const absl::Status valid = model::ValidateTrace(*profile->trace());
  EXPECT_TRUE(valid.ok()) << valid;
  return profile;
}

inline std::map<std::string, int64_t> Counts(Profile& profile) {
  std::map<std::string, int64_t> counts;
  const KeyAverages averages = profile.key_averages();
  for (const auto& row : averages) counts[row.key] = row.count;
  return counts;
}

// Index of the first event of that name.
inline model::EventIndex Find(const model::Trace& trace,
                              std::string_view name) {
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (trace.EventName(i) == name) return i;
  }
  ADD_FAILURE() << "no event named " << name;
  return 0;
}

inline std::string_view ParentName(const model::Trace& trace,
                                   std::string_view name) {
  const model::EventIndex parent = trace.parent()[Find(trace, name)];
  return parent == model::kNoEvent ? "" : trace.EventName(parent);
}

}  // namespace kymo

#endif  // KYMO_TESTS_INTEGRATION_TEST_PROFILE_H_
