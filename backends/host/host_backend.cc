#include "backends/host/host_backend.h"

#include <unistd.h>

#include <vector>

#include "backends/host/host_session.h"
#include "backends/host/host_settings.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

class HostBackend final : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  // Counters are no events.
  std::vector<model::ActivityType> activity_types() const override {
    return {};
  }

  absl::Status Availability(const SessionOptions& options) const override {
    KYMO_RETURN_IF_ERROR(host::HostTable().Read(options.settings).status());
    if (access("/proc/self/stat", R_OK) == 0) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "/proc is not there: mount it (`mount -t proc proc /proc`)");
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    KYMO_ASSIGN_OR_RETURN(const host::HostSettings settings,
                          host::HostTable().Read(options.settings));
    return host::NewHostSession(settings, options.target, {});
  }

 private:
  const PluginInfo info_ = {
      .name = "host",
      .purpose =
          "counters of the machine and of the program: CPU use, memory, "
          "page faults, disk and network bytes, ...",
      .settings = host::HostTable().infos(),
      .on_request = true};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewHostBackend() {
  return std::make_unique<HostBackend>();
}

}  // namespace kymo
