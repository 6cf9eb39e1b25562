// The backend of docs/add-a-backend.md in a recording of this process.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/registry.h"
#include "profiler/session/recording.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewDescriptorsBackend();  // made of the page

namespace {

TEST(AddABackendTest, TheBackendOfThePageDrawsALeak) {
  BackendRegistry registry;
  ASSERT_TRUE(registry.Register(NewDescriptorsBackend()).ok());
  SessionOptions options;
  options.settings["descriptors_period_ms"] = "10";
  auto recording = Recording::Create(registry, {"descriptors"}, options);
  ASSERT_TRUE(recording.ok()) << recording.status();
  ASSERT_TRUE((*recording)->Prepare(nullptr).ok());
  ASSERT_TRUE((*recording)->Start(getpid()).ok());
  std::vector<int> leaked;
  for (int i = 0; i < 30; ++i) {
    leaked.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    usleep(10'000);
  }
  ASSERT_TRUE((*recording)->Stop().ok());
  for (const int descriptor : leaked) close(descriptor);
  const FinishedRecording finished = (*recording)->Finish({});
  ASSERT_TRUE(finished.trace.ok()) << finished.trace.status();
  const auto counters = finished.trace->counters();
  ASSERT_GE(counters.size(), 3u);
  EXPECT_EQ(finished.trace->Name(counters[0].name), "open descriptors");
  EXPECT_EQ(finished.trace->tracks()[counters[0].track].id, getpid());
  for (size_t i = 1; i < counters.size(); ++i) {
    EXPECT_GT(counters[i].time_ns, counters[i - 1].time_ns);
    EXPECT_GE(counters[i].value, counters[i - 1].value);
  }
  EXPECT_GE(counters.back().value, counters.front().value + 10);
  EXPECT_FALSE(finished.trace->ledger().AnythingLost());
}

TEST(AddABackendTest, AForkedChildCanEndItsCopy) {
  const auto backend = NewDescriptorsBackend();
  auto session = backend->NewSession({});
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE((*session)->Start(getpid()).ok());
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const bool is_stopped = (*session)->Stop().ok();
    session->reset();
    _exit(is_stopped ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE((*session)->Stop().ok());
}

TEST(AddABackendTest, ASettingThatIsWrongIsRefused) {
  SessionOptions options;
  options.settings["descriptors_period_ms"] = "0";
  const absl::Status status = NewDescriptorsBackend()->Availability(options);
  EXPECT_EQ(
      std::string(status.message()),
      "descriptors_period_ms is '0'; it takes a whole number of ms from 10 "
      "to 60000");
}

}  // namespace
}  // namespace kymo
