#include "backends/cupti/cupti_backend.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cupti/child_session.h"
#include "backends/cupti/cuda_driver.h"
#include "backends/cupti/cupti_settings.h"
#include "backends/cupti/driver.h"
#include "backends/cupti/local_session.h"
#include "backends/cupti/target/cupti_library.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

class CuptiBackend : public ActivityBackend {
 public:
  CuptiBackend(const cupti::CuptiApi* api, const cupti::CudaDriver& driver)
      : api_(api), driver_(driver) {}

  const PluginInfo& info() const noexcept override { return info_; }

  std::vector<model::ActivityType> activity_types() const override {
    using enum model::ActivityType;
    return {kConcurrentKernel, kGpuMemcpy,      kGpuMemset, kCudaRuntime,
            kCudaDriver,       kCudaSync,       kCudaEvent, kOverhead,
            kNvtxRange,        kCpuInstantEvent};
  }

  absl::Status Availability(const SessionOptions& options) const override {
    if (api_ != nullptr) return absl::OkStatus();
    KYMO_ASSIGN_OR_RETURN(const cupti::CuptiSettings settings,
                          cupti::ParseCuptiSettings(options));
    const absl::Status driver =
        cupti::FindDriver(settings.device_check).status();
    if (cupti::kHasCupti) return driver;
    char problem[256] = {};
    cupti::LoadCupti("", problem, sizeof(problem));
    // Without a driver there is nothing to record, however Kymo was built.
    return absl::IsNotFound(driver) ? absl::NotFoundError(absl::StrCat(
                                          driver.message(), "; ", problem))
                                    : absl::UnimplementedError(problem);
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    KYMO_ASSIGN_OR_RETURN(const cupti::CuptiSettings settings,
                          cupti::ParseCuptiSettings(options));
    if (options.target == TargetKind::kThisProcess) {
      return cupti::NewLocalSession(settings, api_, driver_);
    }
    KYMO_ASSIGN_OR_RETURN(const int driver,
                          cupti::FindDriver(settings.device_check));
    return cupti::NewChildSession(settings, options.scratch_dir,
                                  cupti::CuptiPaths(driver));
  }

 private:
  const cupti::CuptiApi* const api_;  // null: the library's
  const cupti::CudaDriver& driver_;
  const PluginInfo info_ = {
      .name = "cuda",
      .purpose =
          "kernels, copies and memory of NVIDIA devices, and the calls that "
          "asked for them",
      .maturity = Maturity::kExperimental,
      .settings = cupti::CuptiSettingInfos(),
      .device = "cuda"};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewCuptiBackend() {
  return std::make_unique<CuptiBackend>(nullptr, cupti::LoadedCudaDriver());
}

std::unique_ptr<ActivityBackend> NewCuptiBackendWith(
    const cupti::CuptiApi& api, const cupti::CudaDriver& driver) {
  return std::make_unique<CuptiBackend>(&api, driver);
}

}  // namespace kymo
