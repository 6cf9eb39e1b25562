#include "tools/profile_command/injection.h"

#include <stdlib.h>

#include "backends/itt/itt_abi.h"
#include "backends/nvtx/nvtx_abi.h"
#include "profiler/record/host.h"

namespace kymo::tools {
namespace {

struct Interface {
  const char* setting;
  const char* variable;
  const char* next_variable;
};
constexpr Interface kInterfaces[] = {
    {"capture_itt", itt::kToolVariable, itt::kNextToolVariable},
    {"capture_nvtx", nvtx::kInjectionVariable, nvtx::kNextToolVariable},
};

}  // namespace

void InjectInto(const std::map<std::string, std::string>& settings,
                const std::string& runtime, Environment* environment) {
  if (!environment->contains(record::kArenaVariable)) return;
  for (const Interface& interface : kInterfaces) {
    const auto setting = settings.find(interface.setting);
    if (setting != settings.end() && setting->second == "0") continue;
    const char* const other = getenv(interface.variable);
    if (other != nullptr && *other != '\0' && other != runtime) {
      (*environment)[interface.next_variable] = other;
    }
    (*environment)[interface.variable] = runtime;
  }
}

}  // namespace kymo::tools
