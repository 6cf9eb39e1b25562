// TensorboardTraceHandler of profile.h.
#include <limits.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kymo/profile.h"
#include "profiler/base/clock.h"

namespace kymo {
namespace {

std::string HostNameAndPid() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, sizeof(name) - 1) != 0) name[0] = '\0';
  return absl::StrCat(name[0] == '\0' ? "localhost" : name, "_", getpid());
}

}  // namespace

std::function<absl::Status(Profile&)> TensorboardTraceHandler(
    std::string directory, std::string worker_name, bool use_gzip) {
  return [directory = std::move(directory), worker = std::move(worker_name),
          use_gzip](Profile& profile) mutable -> absl::Status {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) {
      return absl::InternalError(absl::StrCat(
          "Can't create directory: ", directory, ": ", error.message()));
    }
    // Settled by the first call: a forked child writes under its parent's.
    if (worker.empty()) worker = HostNameAndPid();
    absl::Status status = profile.export_chrome_trace(absl::StrCat(
        directory, "/", worker, ".", MonotonicNs() + EpochOffsetNs(),
        ".pt.trace.json", use_gzip ? ".gz" : ""));
    status.Update(profile.Export("tensorboard", directory).status());
    return status;
  };
}

}  // namespace kymo
