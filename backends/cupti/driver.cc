#include "backends/cupti/driver.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kymo::cupti {
namespace {

constexpr int kNewestCupti = 13;
constexpr int kOldestCupti = 12;

std::vector<std::string> Matching(const std::string& pattern) {
  glob_t found = {};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

bool HasDeviceNode() {
  // The last one is for the Windows Subsystem for Linux.
  return !Matching("/dev/nvidia[0-9]*").empty() ||
         !Matching("/dev/nvidia-caps/nvidia-cap*").empty() ||
         access("/dev/dxg", F_OK) == 0;
}

// Folders in which a toolkit or a wheel has libcupti.
std::vector<std::string> Folders() {
  std::vector<std::string> folders;
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const root = getenv(variable);
    if (root == nullptr || *root == '\0') continue;
    for (const char* const part : {"/extras/CUPTI/lib64", "/lib64", "/lib"}) {
      folders.push_back(absl::StrCat(root, part));
    }
  }
  folders.push_back("/usr/local/cuda/extras/CUPTI/lib64");
  folders.push_back("/usr/local/cuda/lib64");
  std::vector<std::string> pythons;
  for (const auto& [variable, part] :
       {std::pair("VIRTUAL_ENV", "/lib"), std::pair("CONDA_PREFIX", "/lib"),
        std::pair("HOME", "/.local/lib")}) {
    const char* const root = getenv(variable);
    if (root == nullptr || *root == '\0') continue;
    pythons.push_back(absl::StrCat(root, part));
  }
  pythons.push_back("/usr/local/lib");
  pythons.push_back("/usr/lib");
  for (const std::string& python : pythons) {
    // CUDA 12's wheels use nvidia/cuda_cupti/lib, CUDA 13's nvidia/cu13/lib.
    folders.push_back(
        absl::StrCat(python, "/python3*/[sd]i[ts][et]-packages/nvidia/*/lib"));
  }
  // The folder of Conda's own package.
  const char* const conda = getenv("CONDA_PREFIX");
  if (conda != nullptr && *conda != '\0') {
    folders.push_back(absl::StrCat(conda, "/lib"));
  }
  return folders;
}

}  // namespace

absl::StatusOr<int> FindDriver(DeviceCheck check) {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) {
    return absl::NotFoundError(
        "no NVIDIA driver: libcuda.so.1 cannot be loaded; install the driver, "
        "or start the container with the GPU (--gpus all)");
  }
  // Every driver that supports CUDA 12 has this function, and it needs no
  // cuInit.
  const auto get_version =
      reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  if (get_version == nullptr || get_version(&version) != 0 || version == 0) {
    return absl::FailedPreconditionError(
        "no NVIDIA driver: libcuda.so.1 is a stub, or too old");
  }
  if (check == DeviceCheck::kInDev && !HasDeviceNode()) {
    return absl::FailedPreconditionError(
        "no NVIDIA GPU: there is a driver, but no device in /dev; load the "
        "kernel module, or start the container with the GPU (--gpus all). "
        "Where devices have other names: --cuda_device_check=0");
  }
  return version;
}

std::string CuptiPaths(int driver_version) {
  std::vector<std::string> paths;
  const int newest = std::min(kNewestCupti, driver_version / 1000);
  for (int version = newest; version >= kOldestCupti; --version) {
    const std::string name = absl::StrCat("libcupti.so.", version);
    for (const std::string& folder : Folders()) {
      for (std::string& path : Matching(absl::StrCat(folder, "/", name))) {
        paths.push_back(std::move(path));
      }
    }
    // Last of a version: the folders are the user's choice, the loader's search
    // path is only the machine's.
    paths.push_back(name);
  }
  return absl::StrJoin(paths, ":");
}

}  // namespace kymo::cupti
