// registry.h - plugins by name.
//
//   kymo::ImporterRegistry registry;   // RegisterBuiltinImporters() fills it
//   kymo::TraceImporter* const importer = registry.Find("chrome");
//   if (importer == nullptr) Print("there are: ", registry.Names());
//
// There are no globals and no static initialisers. A program makes a registry
// and calls the lists of plugins that it wants, such as
// RegisterBuiltinBackends.
//
// Threads:   Register needs exclusive access; the rest may run concurrently.
// Ownership: the registry owns its plugins. Share lets a plugin outlive it.
#ifndef KYMO_PROFILER_PLUGIN_REGISTRY_H_
#define KYMO_PROFILER_PLUGIN_REGISTRY_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/names.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/trace_exporter.h"
#include "profiler/plugin/trace_importer.h"

namespace kymo {

template <typename Plugin>
class PluginRegistry {
 public:
  // Adds a plugin. kInvalidArgument if its name or the name of its device is
  // not lower_snake, kAlreadyExists if another plugin has the name.
  absl::Status Register(std::unique_ptr<Plugin> plugin) {
    const std::string name = plugin->info().name;
    if (!IsLowerSnake(name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("plugin name '", name, "' is not lower_snake"));
    }
    if (const std::string& device = plugin->info().device;
        !device.empty() && !IsLowerSnake(device)) {
      return absl::InvalidArgumentError(
          absl::StrCat("plugin ", name, ": the name of its device, '", device,
                       "', is not lower_snake"));
    }
    const auto [it, inserted] = plugins_.try_emplace(name, std::move(plugin));
    if (!inserted) {
      return absl::AlreadyExistsError(
          absl::StrCat("a plugin named '", name, "' is already registered"));
    }
    return absl::OkStatus();
  }

  // The plugin of that name, or null.
  Plugin* Find(std::string_view name) const {
    const auto it = plugins_.find(std::string(name));
    return it == plugins_.end() ? nullptr : it->second.get();
  }

  // The same, for whoever may need the plugin after the registry is gone.
  std::shared_ptr<Plugin> Share(std::string_view name) const {
    const auto it = plugins_.find(std::string(name));
    return it == plugins_.end() ? nullptr : it->second;
  }

  // All plugins, by name.
  std::vector<Plugin*> List() const {
    std::vector<Plugin*> list;
    for (const auto& [name, plugin] : plugins_) list.push_back(plugin.get());
    return list;
  }

  // The names for error messages: "chrome, perfetto, stacks".
  std::string Names() const {
    std::string names;
    for (const auto& [name, plugin] : plugins_) {
      absl::StrAppend(&names, names.empty() ? "" : ", ", name);
    }
    return names;
  }

 private:
  std::map<std::string, std::shared_ptr<Plugin>> plugins_;
};

using BackendRegistry = PluginRegistry<ActivityBackend>;
using ExporterRegistry = PluginRegistry<TraceExporter>;
using ImporterRegistry = PluginRegistry<TraceImporter>;

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_REGISTRY_H_
