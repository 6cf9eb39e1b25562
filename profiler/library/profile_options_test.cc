#include "kymo/profile_options.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/device_events.h"
#include "kymo/warning.h"

namespace kymo {
namespace {

using Texts = std::vector<std::string>;

class FakeBackend : public ActivityBackend {
 public:
  FakeBackend(std::string name, std::string device, absl::Status availability,
              bool throws, bool on_request = false)
      : availability_(std::move(availability)), throws_(throws) {
    info_.name = std::move(name);
    info_.device = std::move(device);
    info_.on_request = on_request;
  }
  const PluginInfo& info() const noexcept override { return info_; }
  std::vector<model::ActivityType> activity_types() const override {
    return {};
  }
  absl::Status Availability(const SessionOptions&) const override {
    if (throws_) throw std::runtime_error("no luck");
    return availability_;
  }
  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions&) override {
    return absl::UnimplementedError("fake");
  }

 private:
  PluginInfo info_;
  const absl::Status availability_;
  const bool throws_;
};

// A machine with `cpu` and what a test adds. The texts are those of PyTorch's
// torch/autograd/profiler.py and torch/profiler/profiler.py.
class PlanSessionTest : public testing::Test {
 protected:
  PlanSessionTest() {
    SetWarningHandler(
        [this](std::string_view text) { warnings_.emplace_back(text); });
    Add("cpu", "");
  }
  ~PlanSessionTest() override { SetWarningHandler({}); }

  void Add(const std::string& name, const std::string& device,
           absl::Status availability = absl::OkStatus(), bool throws = false) {
    const absl::Status status =
        backends_.Register(std::make_unique<FakeBackend>(
            name, device, std::move(availability), throws));
    ASSERT_TRUE(status.ok()) << status;
  }

  SessionPlan Plan(const ProfileOptions& options) {
    warnings_.clear();
    absl::StatusOr<SessionPlan> plan = PlanSession(options, backends_);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *std::move(plan) : SessionPlan();
  }

  std::string ErrorOf(const ProfileOptions& options) {
    warnings_.clear();
    const absl::Status status = PlanSession(options, backends_).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  BackendRegistry backends_;
  Texts warnings_;
};

TEST_F(PlanSessionTest, DeviceThatIsNotThereIsLeftOutWithAWarning) {
  Add("cuda", "cuda", absl::NotFoundError("no driver"));
  // PyTorch's words, and the reason of the backend that there is.
  const std::pair<const char*, Texts> cases[] = {
      {"cuda",
       {"CUDA is not available, disabling CUDA profiling",
        "activity cuda: no driver"}},
      {"xpu", {"XPU is not available, disabling XPU profiling"}},
      {"hpu", {"HPU is not available, disabling HPU profiling"}},
      {"privateuseone", {"The privateuseone is not a valid device option."}}};
  for (const auto& [device, warnings] : cases) {
    const SessionPlan named = Plan({.activities = {"cpu", device}});
    EXPECT_EQ(warnings_, warnings);
    EXPECT_EQ(named.activities, Texts{"cpu"});
    EXPECT_EQ(named.use_device, "");
    const SessionPlan used = Plan({.use_device = device});
    EXPECT_EQ(warnings_, warnings);
    EXPECT_EQ(used.activities, Texts{"cpu"});
    EXPECT_EQ(used.use_device, "");
    Plan({.activities = {"cpu", device}, .use_device = device});
    EXPECT_EQ(warnings_, warnings);
  }
}

TEST_F(PlanSessionTest, ABackendThatThrowsIsNotAvailable) {
  Add("broken", "cuda", absl::OkStatus(), /*throws=*/true);
  Plan({.activities = {"cpu", "cuda"}});
  EXPECT_EQ(warnings_, (Texts{"CUDA is not available, disabling CUDA profiling",
                              "activity broken: asking whether it is available "
                              "threw an exception: no luck"}));
  EXPECT_EQ(SupportedActivities(backends_), Texts{"cpu"});
}

TEST_F(PlanSessionTest, UnknownDeviceIsNoOption) {
  const SessionPlan plan = Plan({.use_device = "toaster"});
  EXPECT_EQ(warnings_, Texts{"The toaster is not a valid device option."});
  EXPECT_EQ(plan.activities, Texts{"cpu"});
  // A backend without a device is none, either.
  Plan({.use_device = "cpu"});
  EXPECT_EQ(warnings_, Texts{"The cpu is not a valid device option."});
}

TEST_F(PlanSessionTest, NothingIsLeftWithoutTheDevice) {
  Add("cuda", "cuda", absl::NotFoundError("no driver"));
  const std::string error = "No activities specified for the profiler";
  const Texts warning = {"CUDA is not available, disabling CUDA profiling",
                         "activity cuda: no driver"};
  EXPECT_EQ(ErrorOf({.activities = {"cuda"}}), error);
  EXPECT_EQ(warnings_, warning);
  EXPECT_EQ(ErrorOf({.use_cpu = false, .use_device = "cuda"}), error);
  EXPECT_EQ(warnings_, warning);
  EXPECT_EQ(ErrorOf({.use_cpu = false}), error);
  EXPECT_EQ(warnings_, Texts{});
}

TEST_F(PlanSessionTest, MtiaThatIsNotThereIsPyTorchsError) {
  const std::string error =
      "Legacy MTIA profiling is not supported. Requires use_kineto = true on "
      "MTIA devices.";
  EXPECT_EQ(ErrorOf({.use_device = "mtia"}), error);
  EXPECT_EQ(ErrorOf({.activities = {"cpu", "mtia"}}), error);
  Add("my_mtia", "mtia", absl::NotFoundError("no device"));
  EXPECT_EQ(ErrorOf({.use_device = "mtia"}), error);
  EXPECT_EQ(warnings_, Texts{});
}

TEST_F(PlanSessionTest, DeviceMeansTheBackendThatRecordsIt) {
  Add("cuda", "cuda", absl::NotFoundError("no driver"));
  Add("other_cuda", "cuda");
  Add("intel", "xpu");
  Add("gaudi", "hpu");
  Add("meta", "mtia");
  const std::pair<const char*, const char*> cases[] = {{"cuda", "other_cuda"},
                                                       {"xpu", "intel"},
                                                       {"hpu", "gaudi"},
                                                       {"mtia", "meta"}};
  for (const auto& [device, backend] : cases) {
    const SessionPlan used = Plan({.use_device = device});
    EXPECT_EQ(used.activities, (Texts{backend, "cpu"}));
    EXPECT_EQ(used.use_device, device);
    const SessionPlan named = Plan({.activities = {"cpu", device}});
    EXPECT_EQ(named.activities, (Texts{"cpu", backend}));
    EXPECT_EQ(named.use_device, device);
    const SessionPlan only = Plan({.activities = {device}});
    EXPECT_EQ(only.activities, Texts{backend});
    EXPECT_EQ(warnings_, Texts{});
  }
}

TEST_F(PlanSessionTest, BackendOfTheSameNameComesFirst) {
  Add("another", "cuda");
  Add("cuda", "cuda");
  EXPECT_EQ(Plan({.activities = {"cuda"}}).activities, Texts{"cuda"});
  EXPECT_EQ(Plan({.activities = {"another"}}).activities, Texts{"another"});
}

TEST_F(PlanSessionTest, CustomDeviceHasTheNameThatItsBackendGives) {
  Add("my_backend", "npu");
  for (const char* const word : {"npu", "privateuseone", "my_backend"}) {
    const SessionPlan used = Plan({.use_device = word});
    EXPECT_EQ(used.activities, (Texts{"my_backend", "cpu"})) << word;
    EXPECT_EQ(used.use_device, "npu") << word;
    EXPECT_EQ(used.devices.at(word), "my_backend");
    const SessionPlan named = Plan({.activities = {"cpu", word}});
    EXPECT_EQ(named.activities, (Texts{"cpu", "my_backend"})) << word;
    EXPECT_EQ(named.use_device, "npu") << word;
    EXPECT_EQ(warnings_, Texts{});
  }
}

TEST_F(PlanSessionTest, CustomDeviceThatIsNotThereIsLeftOut) {
  Add("my_backend", "npu", absl::NotFoundError("no device"));
  const SessionPlan plan = Plan({.activities = {"cpu", "privateuseone"}});
  EXPECT_EQ(warnings_, (Texts{"NPU is not available, disabling NPU profiling",
                              "activity my_backend: no device"}));
  EXPECT_EQ(plan.activities, Texts{"cpu"});
  EXPECT_EQ(plan.devices.at("privateuseone"), "");
}

TEST_F(PlanSessionTest, FirstOfSeveralDevicesIsShown) {
  Add("cuda", "cuda");
  Add("intel", "xpu");
  Add("my_backend", "npu");
  EXPECT_EQ(Plan({.activities = {"npu", "xpu", "cuda"}}).use_device, "cuda");
  EXPECT_EQ(Plan({.activities = {"npu", "xpu"}}).use_device, "xpu");
  const SessionPlan chosen =
      Plan({.activities = {"cpu", "cuda", "npu"}, .use_device = "npu"});
  EXPECT_EQ(chosen.use_device, "npu");
  EXPECT_EQ(chosen.activities, (Texts{"my_backend", "cpu", "cuda"}));
}

TEST_F(PlanSessionTest, WrongSettingOfADeviceIsAnError) {
  Add("cuda", "cuda", absl::InvalidArgumentError("cuda_x is 'y'"));
  EXPECT_EQ(ErrorOf({.use_device = "cuda"}), "activity cuda: cuda_x is 'y'");
  EXPECT_EQ(warnings_, Texts{});
}

TEST_F(PlanSessionTest, OldInterfaceWarnsAndRefuses) {
  Add("cuda", "cuda");
  Add("intel", "xpu");
  Add("gaudi", "hpu");
  Add("meta", "mtia");
  EXPECT_EQ(Plan({.use_cuda = true}).use_device, "cuda");
  EXPECT_EQ(warnings_,
            Texts{"The attribute `use_cuda` will be deprecated soon, please "
                  "use ``use_device = 'cuda'`` instead."});
  EXPECT_EQ(Plan({.use_device = "cuda", .use_kineto = false}).use_device,
            "cuda");
  EXPECT_EQ(ErrorOf({.use_device = "xpu", .use_kineto = false}),
            "Legacy XPU profiling is not supported. Requires use_kineto = true "
            "on XPU devices.");
  EXPECT_EQ(ErrorOf({.use_device = "hpu", .use_kineto = false}),
            "Legacy HPU profiling is not supported. Requires use_kineto = true "
            "on HPU devices.");
  EXPECT_EQ(
      ErrorOf({.use_device = "mtia", .use_kineto = false}),
      "Legacy MTIA profiling is not supported. Requires use_kineto = true "
      "on MTIA devices.");
  EXPECT_EQ(
      ErrorOf({.use_cpu = false, .use_device = "cuda", .use_kineto = false}),
      "Device-only events supported only with Kineto (use_kineto = true)");
}

// A program that takes the device's times itself.
class WithEvents {
 public:
  explicit WithEvents(std::string device) : device_(std::move(device)) {
    const absl::Status status = RegisterDeviceEvents(
        device_, {.record = [] { return nullptr; },
                  .elapsed_us = [](const void*, const void*) { return 0.0; }});
    EXPECT_TRUE(status.ok()) << status;
  }
  ~WithEvents() { UnregisterDeviceEvents(device_); }

 private:
  const std::string device_;
};

TEST_F(PlanSessionTest, EventsStandInForABackend) {
  Add("cuda", "cuda", absl::NotFoundError("no driver"));
  const WithEvents cuda("cuda");
  const WithEvents npu("npu");
  for (const auto& [word, device] :
       {std::pair("cuda", "cuda"), {"npu", "npu"}, {"privateuseone", "npu"}}) {
    const SessionPlan used = Plan({.use_device = word});
    EXPECT_EQ(used.activities, Texts{"cpu"}) << word;
    EXPECT_EQ(used.use_device, device);
    EXPECT_EQ(used.timed_device, device);
    const SessionPlan named = Plan({.activities = {"cpu", word}});
    EXPECT_EQ(named.activities, Texts{"cpu"}) << word;
    EXPECT_EQ(named.use_device, device);
    EXPECT_EQ(named.timed_device, device);
    EXPECT_EQ(warnings_, Texts{});
  }
  EXPECT_EQ(ErrorOf({.use_cpu = false, .use_device = "cuda"}),
            "Legacy CUDA profiling requires use_cpu = true");
  EXPECT_EQ(ErrorOf({.use_cpu = false, .use_device = "npu"}),
            "Legacy privateuse1 profiling requires use_cpu = true");
  EXPECT_EQ(ErrorOf({.activities = {"cuda"}}),
            "Legacy CUDA profiling requires use_cpu = true: only events of the "
            "program time this device, at the start and end of each range of "
            "\"cpu\"; add \"cpu\" to activities");
}

TEST_F(PlanSessionTest, BackendIsBetterThanEvents) {
  Add("cuda", "cuda");
  Add("my_backend", "npu");
  const WithEvents cuda("cuda");
  const WithEvents npu("npu");
  EXPECT_EQ(Plan({.use_device = "cuda"}).timed_device, "");
  EXPECT_EQ(Plan({.use_device = "npu"}).timed_device, "");
  const SessionPlan old = Plan({.use_device = "npu", .use_kineto = false});
  EXPECT_EQ(old.activities, Texts{"cpu"});
  EXPECT_EQ(old.timed_device, "npu");
  EXPECT_EQ(Plan({.use_device = "cuda", .use_kineto = false}).timed_device,
            "cuda");
}

TEST_F(PlanSessionTest, OnlyTheShownDeviceIsTimed) {
  const WithEvents npu("npu");
  {
    const WithEvents cuda("cuda");
    EXPECT_EQ(
        Plan({.activities = {"cpu", "npu"}, .use_device = "cuda"}).timed_device,
        "cuda");
  }
  Add("cuda", "cuda");
  const SessionPlan plan = Plan({.activities = {"cpu", "npu", "cuda"}});
  EXPECT_EQ(plan.use_device, "cuda");
  EXPECT_EQ(plan.timed_device, "");
}

TEST_F(PlanSessionTest, EachOptionReachesTheSessionAlone) {
  struct Case {
    ProfileOptions options;
    bool SessionOptions::*option;
  };
  const Case cases[] = {
      {{.record_shapes = true}, &SessionOptions::record_shapes},
      {{.with_flops = true}, &SessionOptions::record_shapes},
      {{.profile_memory = true}, &SessionOptions::profile_memory},
      {{.with_stack = true}, &SessionOptions::with_stack},
      {{.with_modules = true}, &SessionOptions::with_modules},
      {{.experimental_config = {.profile_all_threads = true}},
       &SessionOptions::all_threads},
      {{.experimental_config = {.capture_overload_names = true}},
       &SessionOptions::capture_overload_names}};
  bool SessionOptions::*const all[] = {
      &SessionOptions::record_shapes, &SessionOptions::profile_memory,
      &SessionOptions::with_stack,    &SessionOptions::with_modules,
      &SessionOptions::all_threads,   &SessionOptions::capture_overload_names};
  for (const Case& c : cases) {
    const SessionPlan plan = Plan(c.options);
    for (const auto option : all) {
      EXPECT_EQ(plan.session.*option, option == c.option);
    }
  }
}

TEST_F(PlanSessionTest, TimeoutMayBeZeroAndNotLess) {
  Plan({.post_processing_timeout_s = 0});
  EXPECT_EQ(ErrorOf({.post_processing_timeout_s = -0.001}),
            "post_processing_timeout_s must be non-negative");
}

TEST_F(PlanSessionTest, TraceOnlyGivesWayToStacks) {
  const SessionPlan plan =
      Plan({.with_stack = true, .experimental_config = {.trace_only = true}});
  EXPECT_FALSE(plan.trace_only);
  EXPECT_EQ(
      warnings_,
      Texts{"trace_only = true is incompatible with with_stack = true (stack "
            "traces require event post-processing). Disabling "
            "trace_only."});
  EXPECT_TRUE(Plan({.experimental_config = {.trace_only = true}}).trace_only);
  EXPECT_EQ(warnings_, Texts{});
}

TEST_F(PlanSessionTest, SupportedIsWhatCanRecordHere) {
  Add("cuda", "cuda", absl::NotFoundError("no driver"));
  Add("my_backend", "npu");
  ASSERT_TRUE(backends_
                  .Register(std::make_unique<FakeBackend>(
                      "rare", "", absl::OkStatus(), /*throws=*/false,
                      /*on_request=*/true))
                  .ok());
  EXPECT_EQ(SupportedActivities(backends_), (Texts{"cpu", "my_backend"}));
}

}  // namespace
}  // namespace kymo
