// plugin_backend.h - a backend of a library (kymo/backend_plugin.h) as an
// ActivityBackend. For backend_library.h, which reads and checks the facts.
//
//   std::unique_ptr<ActivityBackend> backend = NewPluginBackend(facts);
//   IsPluginBackend(backend.get(), facts.plugin)   // true
//
// It translates in both directions: options, settings and results. Exceptions
// of the library pass through, as those of any backend: GuardedCall
// (guarded_call.h) expects them. Only destroying a session throws nothing.
#ifndef KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_BACKEND_H_
#define KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_BACKEND_H_

#include <memory>
#include <string>
#include <vector>

#include "kymo/backend_plugin.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/library/plugin_records.h"
#include "profiler/plugin/plugin_info.h"

namespace kymo {

// What is known of a plugin. All of it is checked.
struct PluginFacts {
  std::string path;                           // of the library
  const KymoBackendPlugin* plugin = nullptr;  // the library's own struct
  KymoBackendPlugin functions = {};           // a copy of it
  PluginInfo info;
  // The names of info.settings, without the plugin's.
  std::vector<std::string> setting_names;
  std::vector<PluginLoss> losses;
};

std::unique_ptr<ActivityBackend> NewPluginBackend(PluginFacts facts);

// Whether `backend`, which may be null, is the one of this struct.
bool IsPluginBackend(const ActivityBackend* backend,
                     const KymoBackendPlugin* plugin);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_BACKEND_H_
