#include "backends/cupti/cupti_backend.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backends/cupti/cuda_driver.h"
#include "backends/cupti/cupti_settings.h"
#include "backends/cupti/decode/saved_log.h"
#include "backends/cupti/target/test_cupti_api.h"
#include "profiler/base/clock.h"
#include "profiler/plugin/backend_controller.h"

namespace kymo {
namespace {

using cupti::ActivityKind;
using cupti::ApiStatus;
using cupti::FakeCupti;
using cupti::RecordKind;

bool cuda_is_up = false;
int waits = 0;
constexpr cupti::CudaDriver kDriver = {
    .is_up = []() noexcept { return cuda_is_up; },
    .wait = []() noexcept { ++waits; }};

class CuptiBackendTest : public ::testing::Test {
 protected:
  void Start(const SessionOptions& options = {}) {
    auto session = backend_->NewSession(options);
    ASSERT_TRUE(session.ok()) << session.status();
    controller_ =
        std::make_unique<BackendController>("cuda", *std::move(session));
    ASSERT_TRUE(controller_->Prepare(nullptr).ok());
    start_ = controller_->Start(getpid());
  }

  void EmitLaunch() {
    const auto now = static_cast<uint64_t>(MonotonicNs());
    cupti::CallRecord call = {};
    call.start = now;
    call.end = now + 1000;
    call.correlation = 5;
    call.thread = static_cast<uint32_t>(getpid());
    fake_.Emit(RecordKind::kCall, call, "cudaLaunchKernel_v7000");
    cupti::KernelRecord kernel = {};
    kernel.start = now + 2000;
    kernel.end = now + 3000;
    kernel.correlation = 5;
    kernel.stream = 7;
    fake_.Emit(RecordKind::kKernel, kernel, "axpy");
  }

  void Collect() {
    ASSERT_TRUE(controller_->Stop().ok());
    const absl::Status status = controller_->Collect(shard_).status();
    ASSERT_TRUE(status.ok()) << status;
  }

  FakeCupti fake_;
  const std::unique_ptr<ActivityBackend> backend_ =
      NewCuptiBackendWith(fake_.api(), kDriver);
  std::unique_ptr<BackendController> controller_;
  absl::Status start_;
  model::TraceShard shard_;
};

TEST_F(CuptiBackendTest, RecordsThisProcess) {
  EXPECT_TRUE(backend_->Availability({}).ok());
  Start();
  ASSERT_TRUE(start_.ok()) << start_;
  EmitLaunch();
  Collect();
  ASSERT_EQ(shard_.events.size(), 2u);
  EXPECT_EQ(shard_.tracks[shard_.events[0].track].pid, getpid());
  EXPECT_NEAR(shard_.events[1].start_ns[0], MonotonicNs() + EpochOffsetNs(),
              10e9);
  bool has_devices = false;
  for (const model::Metadata& entry : shard_.metadata) {
    has_devices |= shard_.strings.Get(entry.key) == "deviceProperties";
  }
  EXPECT_TRUE(has_devices);
}

TEST_F(CuptiBackendTest, AsksForWhatIsThereAlreadyWhereCudaIsUp) {
  cuda_is_up = false;
  Start();
  EXPECT_TRUE(fake_.described.empty());
  Collect();
  cuda_is_up = true;
  Start();
  EXPECT_TRUE(fake_.described.contains(ActivityKind::kDevice));
  EXPECT_TRUE(fake_.described.contains(ActivityKind::kContext));
  Collect();
  cuda_is_up = false;
}

TEST_F(CuptiBackendTest, WaitsForTheDeviceBeforeItTakesTheLast) {
  const int before = waits;
  Start();
  fake_.is_busy = true;
  EmitLaunch();
  EXPECT_EQ(waits, before);
  Collect();
  EXPECT_EQ(waits, before + 1);
  EXPECT_EQ(shard_.events.size(), 2u);
}

TEST_F(CuptiBackendTest, TakesWhatHasFinishedNowAndThen) {
  Start({.settings = {{"cuda_flush_ms", "10"}}});
  for (int i = 0; i < 2000 && fake_.flushes == 0; ++i) usleep(1000);
  EXPECT_GT(fake_.flushes, 0);
  Collect();
  EXPECT_GT(fake_.forced_flushes, 0);
}

TEST_F(CuptiBackendTest, TellsWhatCuptiRefused) {
  fake_.setting_status[cupti::ApiSetting::kLatency] = ApiStatus::kNotSupported;
  Start({.settings = {{"cuda_latency", "1"}}});
  ASSERT_TRUE(start_.ok()) << start_;
  Collect();
  const std::vector<std::string> remarks = controller_->Remarks();
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_NE(remarks[0].find("latency"), std::string::npos) << remarks[0];
}

TEST_F(CuptiBackendTest, FailsWhereAnotherClientHasCupti) {
  fake_.subscribe_status = ApiStatus::kOtherSubscriber;
  fake_.other_subscriber = "Nsight Compute";
  Start();
  EXPECT_EQ(start_.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(start_.message().find("Nsight Compute"), std::string::npos);
}

TEST_F(CuptiBackendTest, RecordsMemoryWhereItIsProfiled) {
  Start({.profile_memory = true});
  EXPECT_TRUE(fake_.enabled.contains(ActivityKind::kMemory));
  Collect();
}

TEST_F(CuptiBackendTest, TakesNvtxFromCuptiWhereItIsLedThere) {
  const SessionOptions options = {.settings = {{"cuda_markers", "1"}}};
  auto lost = backend_->NewSession(options);
  ASSERT_TRUE(lost.ok()) << lost.status();
  EXPECT_EQ((*lost)->Prepare(nullptr).code(),
            absl::StatusCode::kFailedPrecondition);
  setenv("NVTX_INJECTION64_PATH", "/opt/cuda/libcupti.so.13", 1);
  Start(options);
  unsetenv("NVTX_INJECTION64_PATH");
  ASSERT_TRUE(start_.ok()) << start_;
  EXPECT_TRUE(fake_.enabled.contains(ActivityKind::kMarker));
  EXPECT_TRUE(fake_.enabled.contains(ActivityKind::kMarkerData));
  EXPECT_TRUE(fake_.enabled.contains(ActivityKind::kName));
  cupti::MarkerRecord marker = {};
  marker.id = 1;
  marker.time = static_cast<uint64_t>(MonotonicNs());
  marker.phase = cupti::kMarkerStart;
  marker.thread = static_cast<uint32_t>(getpid());
  fake_.Emit(RecordKind::kMarker, marker, "step");
  marker.phase = cupti::kMarkerEnd;
  marker.time += 1000;
  fake_.Emit(RecordKind::kMarker, marker);
  Collect();
  ASSERT_EQ(shard_.events.size(), 1u);
  EXPECT_EQ(shard_.events[0].type[0], model::ActivityType::kNvtxRange);
  EXPECT_EQ(shard_.strings.Get(shard_.events[0].name[0]), "step");
  EXPECT_EQ(shard_.events[0].end_ns[0] - shard_.events[0].start_ns[0], 1000);
}

TEST_F(CuptiBackendTest, ASessionThatGoesLeavesNothingOn) {
  auto session = backend_->NewSession({});
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE((*session)->Prepare(nullptr).ok());
  ASSERT_TRUE((*session)->Start(getpid()).ok());
  EXPECT_FALSE(fake_.enabled.empty());
  session->reset();
  EXPECT_TRUE(fake_.enabled.empty());
}

TEST_F(CuptiBackendTest, RefusesSettingsThatCannotBe) {
  EXPECT_EQ(backend_->NewSession({.settings = {{"cuda_sync", "maybe"}}})
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(backend_->NewSession({.settings = {{"cuda_buffer_kib", "1"}}})
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(CuptiSettingsTest, EachSaysWhatIsRecorded) {
  using cupti::CuptiSettings;
  const auto parse = [](SettingMap settings, bool profile_memory = false) {
    return *cupti::ParseCuptiSettings(
        {.profile_memory = profile_memory, .settings = std::move(settings)});
  };
  const CuptiSettings none = parse({});
  EXPECT_EQ(none.capture.flags, cupti::kCaptureSync);
  EXPECT_FALSE(none.capture.is_late);
  EXPECT_EQ(none.capture.buffer_bytes, 262'144u);   // 256 KiB
  EXPECT_EQ(none.capture.max_bytes, 536'870'912u);  // 512 MiB
  EXPECT_EQ(none.flush_ms, 100u);
  EXPECT_FALSE(none.with_queries);
  EXPECT_EQ(none.device_check, cupti::DeviceCheck::kInDev);
  EXPECT_EQ(none.save_folder, "");
  EXPECT_EQ(parse({}, /*profile_memory=*/true).capture.flags,
            cupti::kCaptureSync | cupti::kCaptureMemory);
  const std::pair<SettingMap, uint32_t> further[] = {
      {{{"cuda_unified", "1"}}, cupti::kCaptureUnified},
      {{{"cuda_graphs", "whole"}}, cupti::kCaptureGraphs},
      {{{"cuda_graphs", "nodes"}}, 0},
      {{{"cuda_latency", "1"}}, cupti::kCaptureLatency},
      {{{"cuda_markers", "1"}}, cupti::kCaptureMarkers}};
  for (const auto& [settings, flag] : further) {
    EXPECT_EQ(parse(settings).capture.flags, cupti::kCaptureSync | flag);
  }
  EXPECT_EQ(parse({{"cuda_sync", "0"}}).capture.flags, 0u);
  const CuptiSettings all = parse({{"cuda_calls", "all"},
                                   {"cuda_buffer_kib", "65536"},
                                   {"cuda_flush_ms", "60000"},
                                   {"cuda_device_check", "0"},
                                   {"cuda_save", "folder"}});
  EXPECT_TRUE(all.with_queries);
  EXPECT_FALSE(parse({{"cuda_calls", "work"}}).with_queries);
  EXPECT_EQ(all.capture.buffer_bytes, 67'108'864u);  // 64 MiB
  EXPECT_EQ(all.flush_ms, 60'000u);
  EXPECT_EQ(all.device_check, cupti::DeviceCheck::kNone);
  EXPECT_EQ(all.save_folder, "folder");
  const auto is_taken = [](const char* name, const char* value) {
    return cupti::ParseCuptiSettings({.settings = {{name, value}}}).ok();
  };
  EXPECT_TRUE(is_taken("cuda_buffer_kib", "64"));
  EXPECT_FALSE(is_taken("cuda_buffer_kib", "63"));
  EXPECT_FALSE(is_taken("cuda_buffer_kib", "65537"));
  EXPECT_TRUE(is_taken("cuda_flush_ms", "10"));
  EXPECT_FALSE(is_taken("cuda_flush_ms", "9"));
  EXPECT_FALSE(is_taken("cuda_flush_ms", "60001"));
}

TEST_F(CuptiBackendTest, WhatCuptiSaidCanBeKeptAndDecodedAgain) {
  const std::string folder =
      std::filesystem::path(::testing::TempDir()) / "cupti_backend_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Start({.settings = {{"cuda_save", folder}}});
  EmitLaunch();
  Collect();
  const auto paths = cupti::FindLogs(folder);
  ASSERT_EQ(paths.size(), 1u);
  const auto log = cupti::SavedLog::Map(paths[0]);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(log->facts().pid, getpid());
  EXPECT_EQ(log->facts().state, cupti::LogState::kClosed);
  model::TraceShard again;
  cupti::DecodeLog(log->facts(), log->records(),
                   {.epoch_offset_ns = EpochOffsetNs()}, again);
  ASSERT_EQ(again.events.size(), shard_.events.size());
  EXPECT_EQ(again.events[1].start_ns[0], shard_.events[1].start_ns[0]);
}

TEST_F(CuptiBackendTest, CanBeSwitchedOffAndOnAgain) {
  Start();
  ASSERT_TRUE(controller_->SetCollecting(false).ok());
  EXPECT_TRUE(fake_.enabled.empty());
  ASSERT_TRUE(controller_->SetCollecting(true).ok());
  EXPECT_FALSE(fake_.enabled.empty());
  Collect();
}

}  // namespace
}  // namespace kymo
