// test_session.h - records sessions of one thread, for tests.
//
//   const auto profile = Record({}, [] { RecordFunction range("mine"); });
//   EXPECT_EQ(CountsOf(profile->key_averages()), (Counts{{"mine", 1}}));
#ifndef KYMO_TESTS_INTEGRATION_TEST_SESSION_H_
#define KYMO_TESTS_INTEGRATION_TEST_SESSION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/events.h"
#include "kymo/profile.h"
#include "kymo/warning.h"

namespace kymo {

using Counts = std::map<std::string, int64_t>;

inline Counts CountsOf(const KeyAverages& averages) {
  EXPECT_TRUE(averages.status().ok()) << averages.status();
  Counts counts;
  for (const FunctionEventAvg& row : averages) counts[row.key] = row.count;
  return counts;
}

template <typename Work>
std::unique_ptr<Profile> Record(ProfileOptions options, Work work) {
  auto profile = std::make_unique<Profile>(std::move(options));
  absl::Status status = profile->Start();
  EXPECT_TRUE(status.ok()) << status;
  work();
  status = profile->Stop();
  EXPECT_TRUE(status.ok()) << status;
  return profile;
}

// Keeps warnings from standard error.
class Warnings {
 public:
  Warnings() {
    SetWarningHandler(
        [this](std::string_view text) { texts_.emplace_back(text); });
  }
  ~Warnings() { SetWarningHandler({}); }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

}  // namespace kymo

#endif  // KYMO_TESTS_INTEGRATION_TEST_SESSION_H_
