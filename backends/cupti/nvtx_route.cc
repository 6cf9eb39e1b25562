#include "backends/cupti/nvtx_route.h"

#include <stdlib.h>
#include <unistd.h>

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "profiler/record/tool_variables.h"

namespace kymo::cupti {
namespace {

using record::kNvtxToolVariable;

bool NamesLibcupti(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return path.starts_with("libcupti.so");
}

std::string_view Configured() {
  const char* const path = getenv(kNvtxToolVariable);
  return path == nullptr ? std::string_view() : path;
}

// A name without a path is left to the loader.
std::string FirstOf(const std::string& library_paths) {
  std::string name;
  const std::vector<std::string> paths = absl::StrSplit(library_paths, ':');
  for (const std::string& path : paths) {
    if (path.find('/') == std::string::npos) {
      if (name.empty()) name = path;
    } else if (access(path.c_str(), R_OK) == 0) {
      return path;
    }
  }
  return name;
}

}  // namespace

absl::Status RouteNvtx(const std::string& library_paths, TargetSetup* setup) {
  for (const InjectedLibrary& library : setup->libraries) {
    if (library.variable != kNvtxToolVariable) continue;
    return absl::FailedPreconditionError(
        "cuda_markers=1 takes the program's NVTX from CUPTI, and Kymo "
        "captures it already: add --nvtx_capture=0, or leave cuda_markers "
        "out");
  }
  const std::string_view other = Configured();
  if (NamesLibcupti(other)) return absl::OkStatus();
  if (!other.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        kNvtxToolVariable, " is set to ", std::string(other),
        ", which gets the program's NVTX in place of CUPTI: unset it, or leave "
        "cuda_markers out"));
  }
  setup->environment[kNvtxToolVariable] = FirstOf(library_paths);
  return absl::OkStatus();
}

absl::Status CheckNvtxRoute() {
  if (NamesLibcupti(Configured())) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "cuda_markers=1 needs ", kNvtxToolVariable,
      " in the environment of this program from its start, with the path of "
      "the libcupti that it uses"));
}

}  // namespace kymo::cupti
