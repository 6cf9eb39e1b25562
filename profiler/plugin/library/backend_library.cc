#include "profiler/plugin/library/backend_library.h"

#include <dlfcn.h>

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/names.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/library/plugin_backend.h"
#include "profiler/plugin/library/plugin_reader.h"
#include "profiler/plugin/library/plugin_records.h"

namespace kymo {
namespace {

constexpr char kEntry[] = "kymo_backend_plugin";
using EntryFunction = const KymoBackendPlugin* (*)(uint32_t host_version);

constexpr uint32_t kMostLosses = 64;

absl::Status ReadLosses(const PluginReader& reader,
                        const KymoLossCounter* losses, uint32_t count,
                        std::vector<PluginLoss>& read) {
  return reader.ForEach(
      losses, count, kMostLosses, "loss counters",
      [&](const KymoLossCounter& from) -> absl::Status {
        KYMO_RETURN_IF_ERROR(reader.CheckTexts({from.name, from.text}));
        PluginLoss& loss = read.emplace_back();
        loss = {PluginText(from.name), PluginText(from.text)};
        if (!IsLowerSnake(loss.name) || loss.text.empty()) {
          return reader.Wrong(
              absl::StrCat("its loss counter '", loss.name,
                           "' lacks a lower_snake name or a text"));
        }
        return absl::OkStatus();
      });
}

// Reads a library's struct, and says what is wrong with it.
absl::StatusOr<PluginFacts> ReadPlugin(const KymoBackendPlugin* from,
                                       const std::string& path) {
  const PluginReader reader({path, "backend", "kymo/backend_plugin.h"});
  KYMO_RETURN_IF_ERROR(reader.CheckVersion(from));
  PluginFacts facts;
  facts.path = path;
  facts.plugin = from;
  facts.functions = CopySized(from);
  const KymoBackendPlugin& plugin = facts.functions;
  KYMO_RETURN_IF_ERROR(
      reader.ReadNames(plugin.name, plugin.purpose, facts.info));
  KYMO_RETURN_IF_ERROR(reader.CheckTexts({plugin.device}));
  facts.info.device = PluginText(plugin.device);
  if (!facts.info.device.empty() && !IsLowerSnake(facts.info.device)) {
    return reader.Wrong(absl::StrCat("its device, '", facts.info.device,
                                     "', is not lower_snake"));
  }
  if (plugin.create == nullptr || plugin.start == nullptr ||
      plugin.stop == nullptr || plugin.collect == nullptr) {
    return reader.Wrong("one of create, start, stop and collect is NULL");
  }
  KYMO_RETURN_IF_ERROR(reader.ReadSettings(
      plugin.settings, plugin.setting_count, facts.info, facts.setting_names));
  KYMO_RETURN_IF_ERROR(
      ReadLosses(reader, plugin.losses, plugin.loss_count, facts.losses));
  return facts;
}

absl::StatusOr<const KymoBackendPlugin*> Load(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("cannot load the backend library: ", dlerror()));
  }
  const auto entry = reinterpret_cast<EntryFunction>(dlsym(library, kEntry));
  if (entry == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", path, "' is not a backend library: it lacks the ",
                     "function ", kEntry, " of kymo/backend_plugin.h"));
  }
  try {
    return entry(KYMO_PLUGIN_VERSION);
  } catch (...) {
    return absl::FailedPreconditionError(absl::StrCat(
        "'", path, "' cannot be used: ", kEntry, " lets an exception out"));
  }
}

// A setting of this backend that another one has, too.
absl::Status CheckSettingsAreNew(const PluginInfo& info,
                                 const BackendRegistry& registry) {
  for (const ActivityBackend* const other : registry.List()) {
    for (const SettingInfo& theirs : other->info().settings) {
      for (const SettingInfo& ours : info.settings) {
        if (ours.name != theirs.name && ours.name != theirs.old_name) continue;
        return absl::AlreadyExistsError(
            absl::StrCat("the setting ", ours.name, " of backend ", info.name,
                         " is already one of backend ", other->info().name));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> LoadBackend(const std::string& path,
                                        BackendRegistry& registry) {
  KYMO_ASSIGN_OR_RETURN(const KymoBackendPlugin* const plugin, Load(path));
  KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ActivityBackend> backend,
                        AdaptBackend(plugin, path));
  std::string name = backend->info().name;
  if (IsPluginBackend(registry.Find(name), plugin)) return name;
  KYMO_RETURN_IF_ERROR(CheckSettingsAreNew(backend->info(), registry));
  KYMO_RETURN_IF_ERROR(registry.Register(std::move(backend)));
  return name;
}

}  // namespace

bool IsBackendPath(std::string_view activity) {
  return activity.find('/') != std::string_view::npos;
}

absl::StatusOr<std::vector<std::string>> LoadBackends(
    const std::vector<std::string>& activities, BackendRegistry& registry) {
  std::vector<std::string> names;
  for (const std::string& activity : activities) {
    if (!IsBackendPath(activity)) {
      names.push_back(activity);
      continue;
    }
    KYMO_ASSIGN_OR_RETURN(std::string name, LoadBackend(activity, registry));
    names.push_back(std::move(name));
  }
  return names;
}

absl::StatusOr<std::unique_ptr<ActivityBackend>> AdaptBackend(
    const KymoBackendPlugin* plugin, const std::string& path) {
  KYMO_ASSIGN_OR_RETURN(PluginFacts facts, ReadPlugin(plugin, path));
  return NewPluginBackend(std::move(facts));
}

}  // namespace kymo
