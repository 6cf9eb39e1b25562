#include "tools/profile_command/injection.h"

#include <stdlib.h>

#include <set>

#include "absl/strings/str_split.h"
#include "backends/itt/target/itt_abi.h"
#include "backends/nvtx/target/nvtx_abi.h"
#include "profiler/record/host.h"

namespace kymo::tools {
namespace {

struct Interface {
  const char* name;
  const char* variable;
  const char* next_variable;
};
constexpr Interface kInterfaces[] = {
    {"itt", itt::kToolVariable, itt::kNextToolVariable},
    {"nvtx", nvtx::kInjectionVariable, nvtx::kNextToolVariable},
};

}  // namespace

void InjectInto(const std::string& runtime, Environment* environment) {
  const auto node = environment->extract(record::kCaptureVariable);
  if (node.empty()) return;
  const std::set<std::string> wanted = absl::StrSplit(node.mapped(), ',');
  for (const Interface& interface : kInterfaces) {
    if (!wanted.contains(interface.name)) continue;
    const char* const other = getenv(interface.variable);
    if (other != nullptr && *other != '\0' && other != runtime) {
      (*environment)[interface.next_variable] = other;
    }
    (*environment)[interface.variable] = runtime;
  }
}

}  // namespace kymo::tools
