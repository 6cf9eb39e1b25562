// What a capture requests for each flag, and what it says of refusals.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/cupti/log/log_reader.h"
#include "backends/cupti/log/test_log.h"
#include "backends/cupti/target/capture.h"
#include "backends/cupti/target/test_cupti_api.h"

namespace kymo::cupti {
namespace {

using Kind = ActivityKind;
using Kinds = std::set<ActivityKind>;
using Settings = std::set<ApiSetting>;
using Texts = std::vector<std::string>;

Settings taken_back;
decltype(CuptiApi::configure) configure_fake = nullptr;

class CaptureReportTest : public ::testing::Test {
 protected:
  CaptureReportTest() {
    taken_back.clear();
    configure_fake = api_.configure;
    api_.configure = [](ApiSetting setting, bool on) noexcept {
      if (!on) taken_back.insert(setting);
      return configure_fake(setting, on);
    };
  }
  bool Start(const CaptureSettings& settings = {.flags = 0}) {
    return StartCapture(api_, settings, AppendTo(bytes_), header_.get());
  }

  // The log's records of refusals: CUPTI's number, the status and the text.
  Texts Refusals() const {
    Texts texts;
    std::map<uint32_t, std::string> names;
    for (LogReader reader(bytes_); reader.Next();) {
      if (reader.kind() == RecordKind::kText) {
        names[reader.name()] = reader.text();
      }
      if (reader.kind() != RecordKind::kRefused) continue;
      const auto refused = reader.Get<RefusedRecord>();
      texts.push_back(std::to_string(refused.kind) + " " +
                      std::to_string(refused.status) + " " +
                      names.at(reader.name()));
    }
    return texts;
  }

  FakeCupti fake_;
  CuptiApi api_ = fake_.api();
  std::unique_ptr<LogHeader> header_ = std::make_unique<LogHeader>();
  std::vector<std::byte> bytes_;
};

TEST_F(CaptureReportTest, EachFlagHasItsKindsAndSettings) {
  const Kinds always = {Kind::kDevice,   Kind::kContext,  Kind::kStream,
                        Kind::kExternal, Kind::kOverhead, Kind::kDriver,
                        Kind::kRuntime,  Kind::kSet,      Kind::kPeerCopy,
                        Kind::kCopy,     Kind::kKernel};
  const Settings threads = {ApiSetting::kSystemThreads};
  struct Case {
    uint32_t flags;
    Kinds kinds;
    Settings settings;
  };
  for (const Case& c : {
           Case{0, {}, {}},
           Case{kCaptureSync,
                {Kind::kSync, Kind::kEvent},
                {ApiSetting::kEventTimes, ApiSetting::kOnlyFulfilledWaits}},
           Case{kCaptureMemory, {Kind::kMemory, Kind::kPool}, {}},
           Case{kCaptureUnified, {Kind::kUnified}, {ApiSetting::kUnified}},
           Case{kCaptureGraphs, {Kind::kGraph}, {ApiSetting::kWholeGraphs}},
           Case{kCaptureLatency, {}, {ApiSetting::kLatency}},
           Case{kCaptureMarkers,
                {Kind::kName, Kind::kMarkerData, Kind::kMarker},
                {}},
       }) {
    SCOPED_TRACE(c.flags);
    ASSERT_TRUE(Start({.flags = c.flags, .is_late = true}));
    Kinds kinds = always;
    kinds.insert(c.kinds.begin(), c.kinds.end());
    Settings settings = threads;
    settings.insert(c.settings.begin(), c.settings.end());
    EXPECT_EQ(fake_.enabled, kinds);
    EXPECT_EQ(fake_.configured, settings);
    EXPECT_EQ(fake_.described,
              (Kinds{Kind::kDevice, Kind::kContext, Kind::kStream}));
    StopCapture();
    EXPECT_EQ(fake_.enabled, Kinds());
    EXPECT_EQ(fake_.configured, Settings());
    EXPECT_EQ(std::exchange(taken_back, {}), settings);
    EXPECT_EQ(Refusals(), Texts());
  }
  fake_.described.clear();
  ASSERT_TRUE(Start());
  EXPECT_EQ(fake_.described, Kinds());
  StopCapture();
}

TEST_F(CaptureReportTest, RefusalsOfWhatWasAskedForAreSaid) {
  for (const Kind kind :
       {Kind::kDevice, Kind::kExternal, Kind::kName, Kind::kMarkerData,
        Kind::kMarker, Kind::kSync, Kind::kEvent, Kind::kMemory, Kind::kPool,
        Kind::kUnified, Kind::kGraph, Kind::kDriver, Kind::kPeerCopy}) {
    fake_.enable_status[kind] = ApiStatus::kNotSupported;
  }
  for (const ApiSetting setting :
       {ApiSetting::kSystemThreads, ApiSetting::kLatency,
        ApiSetting::kWholeGraphs, ApiSetting::kEventTimes}) {
    fake_.setting_status[setting] = ApiStatus::kInvalidKind;
  }
  ASSERT_TRUE(Start({.flags = 63, .is_late = true}));
  StopCapture();
  const std::string of = ": an error of the script (27)";
  EXPECT_EQ(Refusals(),
            (Texts{"0 21 latency: an error of the script (21)",
                   "0 21 whole graphs: an error of the script (21)",
                   "13 27 marker data" + of, "12 27 markers" + of,
                   "38 27 waits" + of, "36 27 CUDA events" + of,
                   "49 27 memory" + of, "50 27 memory pools" + of,
                   "25 27 unified memory" + of, "51 27 whole graphs" + of}));
}

TEST_F(CaptureReportTest, UnifiedMemoryIsRefusedOnce) {
  fake_.setting_status[ApiSetting::kUnified] = ApiStatus::kUnifiedNotSupported;
  ASSERT_TRUE(Start({.flags = kCaptureUnified, .is_late = true}));
  EXPECT_FALSE(fake_.enabled.contains(Kind::kUnified));
  StopCapture();
  const std::string refused =
      "0 28 unified memory: an error of the script (28)";
  EXPECT_EQ(Refusals(), (Texts{refused}));
  bytes_.clear();
  ASSERT_TRUE(Start({.flags = kCaptureUnified}));
  fake_.InitializeCuda();
  fake_.InitializeCuda();
  EXPECT_FALSE(fake_.enabled.contains(Kind::kUnified));
  StopCapture();
  EXPECT_EQ(Refusals(), (Texts{refused}));
  bytes_.clear();
  ASSERT_TRUE(Start({.flags = kCaptureUnified}));
  StopCapture();
  EXPECT_EQ(Refusals(),
            (Texts{"0 15 unified memory: an error of the script (15)"}));
}

TEST_F(CaptureReportTest, AKindThatMustBeEndsTheCapture) {
  for (const Kind kind :
       {Kind::kRuntime, Kind::kSet, Kind::kCopy, Kind::kKernel}) {
    fake_.enable_status = {{kind, ApiStatus::kInvalidKind}};
    EXPECT_FALSE(Start());
    EXPECT_EQ(header_->state, LogState::kFailed);
    EXPECT_STREQ(header_->problem,
                 "CUPTI: cannot record activities: an error of the script "
                 "(21)");
    EXPECT_EQ(fake_.enabled, Kinds());
    EXPECT_EQ(fake_.configured, Settings());
    EXPECT_FALSE(fake_.is_subscribed);
    *header_->problem = '\0';
    header_->state = LogState::kOpening;
  }
}

TEST_F(CaptureReportTest, EachProblemSaysWhatHelps) {
  const std::string driver =
      "; is there an NVIDIA driver, as new as this libcupti?";
  const std::string permission =
      "; profiling needs the driver's permission: see "
      "NVreg_RestrictProfilingToAdminUsers, or run as root";
  for (const auto& [status, advice] :
       {std::pair(ApiStatus::kNotInitialized, driver),
        {ApiStatus::kUnknown, driver},
        {ApiStatus::kNoPrivileges, permission},
        {ApiStatus::kNotSupported, ""}}) {
    const std::string number = " an error of the script (" +
                               std::to_string(static_cast<int>(status)) + ")" +
                               advice;
    fake_.subscribe_status = status;
    EXPECT_FALSE(Start());
    EXPECT_EQ(header_->problem, "CUPTI: cannot subscribe:" + number);
    EXPECT_EQ(header_->state, LogState::kFailed);
    header_->state = LogState::kOpening;
    fake_.subscribe_status = ApiStatus::kOk;
    fake_.register_status = status;
    EXPECT_FALSE(Start());
    EXPECT_EQ(header_->problem, "CUPTI: cannot record activities:" + number);
    EXPECT_EQ(header_->state, LogState::kFailed);
    EXPECT_FALSE(fake_.is_subscribed);
    fake_.register_status = ApiStatus::kOk;
  }
  fake_.subscribe_status = ApiStatus::kOtherSubscriber;
  EXPECT_FALSE(Start());
  EXPECT_STREQ(header_->problem,
               "another client uses CUPTI in this program, and it takes one at "
               "a time; run without the other profiler");
  fake_.other_subscriber = "Nsight";
  header_->state = LogState::kOpening;
  EXPECT_FALSE(Start());
  EXPECT_STREQ(
      header_->problem,
      "another client uses CUPTI in this program: Nsight, and it takes "
      "one at a time; run without the other profiler");
  EXPECT_EQ(header_->state, LogState::kFailed);
}

TEST_F(CaptureReportTest, TheHeaderSaysWhoseLogItIs) {
  api_.version = 27;
  ASSERT_TRUE(Start());
  EXPECT_EQ(header_->magic, kLogMagic);
  EXPECT_EQ(header_->version, kLogVersion);
  EXPECT_EQ(header_->pid, getpid());
  EXPECT_EQ(header_->cupti_version, 27u);
  EXPECT_EQ(header_->state, LogState::kOpen);
  // It took our clock, so one anchor has one time.
  LogReader reader(bytes_);
  ASSERT_TRUE(reader.Next());
  ASSERT_EQ(reader.kind(), RecordKind::kAnchor);
  const auto anchor = reader.Get<AnchorRecord>();
  EXPECT_EQ(anchor.clock, LogClock::kMonotonic);
  EXPECT_EQ(anchor.log_ns, anchor.monotonic_ns);
  EXPECT_NE(anchor.log_ns, 0u);
  EXPECT_EQ(anchor.uncertainty_ns, 0u);
  StopCapture();
}

// Only calls end at once; what the device does goes on while it settles.
TEST_F(CaptureReportTest, APauseEndsCallsFirst) {
  ASSERT_TRUE(Start({.flags = kCaptureSync | kCaptureMemory}));
  static FakeCupti* fake = nullptr;
  static Kinds left;
  fake = &fake_;
  PauseCapture([]() noexcept { left = fake->enabled; });
  EXPECT_EQ(left, (Kinds{Kind::kDevice, Kind::kContext, Kind::kStream,
                         Kind::kExternal, Kind::kOverhead, Kind::kEvent,
                         Kind::kMemory, Kind::kPool, Kind::kSet,
                         Kind::kPeerCopy, Kind::kCopy, Kind::kKernel}));
  EXPECT_EQ(fake_.enabled, Kinds());
  EXPECT_FALSE(fake_.configured.empty());
  fake_.described.clear();
  EXPECT_EQ(ResumeCapture(), ApiStatus::kOk);
  EXPECT_EQ(fake_.enabled.size(), 15u);
  EXPECT_EQ(fake_.described.size(), 3u);
  StopCapture();
  EXPECT_EQ(ResumeCapture(), ApiStatus::kOk);  // there is none
  EXPECT_EQ(fake_.enabled, Kinds());
}

}  // namespace
}  // namespace kymo::cupti
