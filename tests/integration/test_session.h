// test_session.h - records sessions of one thread, for tests.
//
//   const auto profile = Record({}, [] { RecordFunction range("mine"); });
//   EXPECT_EQ(CountsOf(profile->key_averages()), (NameCounts{{"mine", 1}}));
#ifndef KYMO_TESTS_INTEGRATION_TEST_SESSION_H_
#define KYMO_TESTS_INTEGRATION_TEST_SESSION_H_

#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "kymo/events.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/warning.h"

namespace kymo {

using NameCounts = std::map<std::string, int64_t>;

inline NameCounts CountsOf(const KeyAverages& averages) {
  EXPECT_TRUE(averages.status().ok()) << averages.status();
  NameCounts counts;
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

// The first event of the name; null, and a failure, if there is none.
inline const FunctionEvent* Find(Profile& profile, std::string_view name) {
  const absl::StatusOr<const EventList*> events = profile.events();
  EXPECT_TRUE(events.ok()) << events.status();
  if (!events.ok()) return nullptr;
  for (const FunctionEvent& event : **events) {
    if (event.name == name) return &event;
  }
  ADD_FAILURE() << "no event " << name;
  return nullptr;
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// An operation with inputs.
struct Matrix {
  std::vector<int64_t> sizes;
};
inline TensorMeta KymoInput(const Matrix& matrix) {
  return {.sizes = matrix.sizes, .dtype = DType::kFloat};
}

inline void MatMul(const Matrix& a, const Matrix& b) {
  KYMO_RECORD_OP("aten::mm", a, b);
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
