// Sessions of this process, with a libcupti that plays by CUPTI's rules. The
// source makes two tests: clients come one after the other, or work side by
// side.
#include "backends/cupti/local_session.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>

#include "backends/cupti/target/cupti_library.h"

namespace kymo::cupti {
namespace {

template <typename F>
F* Scripted(const char* name) {
  void* const library = dlopen(getenv("KYMO_TEST_CUPTI"), RTLD_NOW);
  return reinterpret_cast<F*>(dlsym(library, name));
}

void Launch() { Scripted<void(const char*)>("kymo_test_launch")("_Z4axpyfPf"); }

constexpr CudaDriver kDriver = {
    .is_up =
        []() noexcept { return Scripted<int()>("kymo_test_is_up")() != 0; },
    .wait = []() noexcept { Scripted<void()>("kymo_test_wait")(); }};

class LocalSessionTest : public ::testing::Test {
 protected:
  LocalSessionTest() {
    char problem[256] = {};
    api_ = LoadCupti(getenv("KYMO_TEST_CUPTI"), problem, sizeof(problem));
    EXPECT_NE(api_, nullptr) << problem;
    Scripted<void(uint64_t)>("kymo_test_slow_down")(0);
  }

  absl::Status Start(const CuptiSettings& settings = {}) {
    session_ = NewLocalSession(settings, api_, kDriver);
    EXPECT_TRUE(session_->Prepare(nullptr).ok());
    shard_ = std::make_unique<model::TraceShard>();
    return session_->Start(getpid());
  }
  void Collect() {
    ASSERT_TRUE(session_->Stop().ok());
    const absl::Status status = session_->Collect(*shard_).status();
    ASSERT_TRUE(status.ok()) << status;
  }

  size_t Count(model::ActivityType type) const {
    size_t count = 0;
    for (const auto& events : shard_->events) {
      for (const model::ActivityType t : events.type) count += t == type;
    }
    return count;
  }
  std::string DeviceProperties() const {
    for (const model::Metadata& entry : shard_->metadata) {
      if (shard_->strings.Get(entry.key) == "deviceProperties") {
        return std::string(shard_->strings.Get(entry.json_value));
      }
    }
    return "";
  }

  const CuptiApi* api_ = nullptr;
  std::unique_ptr<ActivitySession> session_;
  std::unique_ptr<model::TraceShard> shard_;
};

constexpr auto kKernel = model::ActivityType::kConcurrentKernel;
constexpr auto kCall = model::ActivityType::kCudaRuntime;

TEST_F(LocalSessionTest, KnowsTheDeviceHoweverLateItComes) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Start().ok());
    Launch();
    Collect();
    EXPECT_EQ(Count(kKernel), 1u) << i;
    EXPECT_EQ(Count(kCall), 1u) << i;
    EXPECT_NE(DeviceProperties().find("Scripted GPU"), std::string::npos)
        << "session " << i << ": " << DeviceProperties();
  }
}

TEST_F(LocalSessionTest, KernelsAtWorkAtTheEndAreWaitedFor) {
  Launch();
  ASSERT_TRUE(Start().ok());
  Scripted<void(uint64_t)>("kymo_test_slow_down")(20'000'000);
  for (int i = 0; i < 5; ++i) Launch();
  Collect();
  EXPECT_EQ(Count(kKernel), 5u);
  EXPECT_FALSE(shard_->ledger.AnythingLost());
}

TEST_F(LocalSessionTest, ThreadsHaveTheSystemsIds) {
  ASSERT_TRUE(Start().ok());
  pid_t id = 0;
  std::thread([&] {
    id = gettid();
    Launch();
  }).join();
  Collect();
  bool has_track = false;
  for (const model::Track& track : shard_->tracks) {
    has_track |=
        track.kind == model::TrackKind::kThread && track.id == int64_t{id};
  }
  EXPECT_TRUE(has_track);
}

TEST_F(LocalSessionTest, MoreThreadsThanBuffersMayBeAreRecordedAllTheSame) {
  CuptiSettings settings = {.flush_ms = 10};
  settings.capture.max_bytes = 16 * settings.capture.buffer_bytes;
  ASSERT_TRUE(Start(settings).ok());
  const auto flushes = Scripted<int()>("kymo_test_flushes");
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 10; ++j) std::thread(Launch).join();
    // The second flush began after the activities ended.
    for (const int before = flushes(); flushes() < before + 2;) usleep(1000);
  }
  Collect();
  EXPECT_EQ(Count(kKernel), 200u);
  EXPECT_FALSE(shard_->ledger.AnythingLost());
}

TEST_F(LocalSessionTest, UnifiedMemoryIsRecordedWhereCudaIsUp) {
  Launch();
  CuptiSettings settings;
  settings.capture.flags |= kCaptureUnified;
  ASSERT_TRUE(Start(settings).ok());
  Scripted<void(uint64_t)>("kymo_test_copy")(4096);
  Collect();
  EXPECT_TRUE(session_->Remarks().empty());
  EXPECT_EQ(Count(model::ActivityType::kGpuMemcpy), 2u)
      << "the copy, and the pages that moved";
}

TEST_F(LocalSessionTest, APauseIsLeftOut) {
  Launch();
  ASSERT_TRUE(Start().ok());
  Launch();
  ASSERT_TRUE(session_->SetCollecting(false).ok());
  Launch();
  ASSERT_TRUE(session_->SetCollecting(true).ok());
  Launch();
  Collect();
  EXPECT_EQ(Count(kKernel), 2u);
}

TEST_F(LocalSessionTest, AnotherClientIsToldOrWorkedWith) {
  ASSERT_TRUE(Start().ok());
  const auto subscribe =
      Scripted<int(void**, void*, void*, void*)>("cuptiSubscribe_v2");
  struct {
    size_t size;
    const char* name = "another";
    char* old = nullptr;
    size_t old_size = 0;
    uint8_t allows_others = 1;
    uint8_t padding[7] = {};
  } params = {.size = 40};
  void* client = nullptr;
  const bool is_side_by_side = api_->version >= 130'300;
  if (!is_side_by_side) params.size = 32;
  EXPECT_EQ(subscribe(&client, nullptr, nullptr, &params),
            is_side_by_side ? 0 : 39);
  Collect();
  if (!is_side_by_side) {
    ASSERT_EQ(subscribe(&client, nullptr, nullptr, &params), 0);
  }
  const absl::Status status = Start();
  if (is_side_by_side) {
    ASSERT_TRUE(status.ok()) << status;
    Launch();
    Collect();
    EXPECT_EQ(Count(kKernel), 1u);
  } else {
    EXPECT_NE(status.message().find("another"), std::string::npos) << status;
  }
  Scripted<int(void*)>("cuptiUnsubscribe")(client);
}

}  // namespace
}  // namespace kymo::cupti
