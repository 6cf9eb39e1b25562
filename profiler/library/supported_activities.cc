// supported_activities.cc - what the built-in backends can record here.
#include <algorithm>
#include <string>
#include <vector>

#include "backends/builtin/builtin_backends.h"
#include "kymo/profile.h"
#include "profiler/plugin/activities.h"
#include "profiler/plugin/registry.h"

namespace kymo {

std::vector<std::string> supported_activities() {
  BackendRegistry backends;
  if (!RegisterBuiltinBackends(backends).ok()) return {};
  return SupportedActivities(backends);
}

bool kymo_available() {
  const std::vector<std::string> supported = supported_activities();
  return std::find(supported.begin(), supported.end(), "cpu") !=
         supported.end();
}

}  // namespace kymo
