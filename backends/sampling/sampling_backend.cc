#include "backends/sampling/sampling_backend.h"

namespace kymo {
namespace {

class SamplingBackend final : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }
  std::vector<model::ActivityType> activity_types() const override {
    return {model::ActivityType::kCpuSample};
  }
  absl::Status Availability(const SessionOptions&) const override {
    return absl::UnimplementedError("sampling is not built yet");
  }
  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    return Availability(options);
  }

 private:
  const PluginInfo info_{.name = "sampling"};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewSamplingBackend() {
  return std::make_unique<SamplingBackend>();
}

}  // namespace kymo
