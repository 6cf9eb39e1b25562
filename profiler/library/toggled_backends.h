// toggled_backends.h - which backends an activity's name switches on and off,
// and PyTorch's warnings about it.
//
//   const ToggledBackends toggled = BackendsToToggle({"cuda"}, plan, backends,
//                                                    /*is_recording=*/true);
//   toggled.backends   // {"cuda"}
//   toggled.warnings   // "Toggling GPU activity with CPU activity on may ..."
//
// As torch.profiler's toggle_collection_dynamic: it takes the activities in the
// order of PyTorch's ActivityType, and Kymo's own last.
#ifndef KYMO_PROFILER_LIBRARY_TOGGLED_BACKENDS_H_
#define KYMO_PROFILER_LIBRARY_TOGGLED_BACKENDS_H_

#include <string>
#include <vector>

#include "kymo/profile_options.h"
#include "profiler/plugin/registry.h"

namespace kymo {

struct ToggledBackends {
  std::vector<std::string> backends;  // in the order in which to switch them
  std::vector<std::string> warnings;  // in the order in which to say them
};

// Backends are known from the start of the recording on. Before, the only
// warnings are those on PyTorch's own activities.
ToggledBackends BackendsToToggle(const std::vector<std::string>& activities,
                                 const SessionPlan& plan,
                                 const BackendRegistry& backends,
                                 bool is_recording);

}  // namespace kymo

#endif  // KYMO_PROFILER_LIBRARY_TOGGLED_BACKENDS_H_
