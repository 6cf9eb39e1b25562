#include "profiler/plugin/library/backend_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/names.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/library/library_version.h"
#include "profiler/plugin/library/plugin_abi.h"
#include "profiler/plugin/library/plugin_backend.h"
#include "profiler/plugin/library/plugin_records.h"
#include "profiler/plugin/library/plugin_setting.h"

namespace kymo {
namespace {

constexpr char kEntry[] = "kymo_backend_plugin";
using EntryFunction = const KymoBackendPlugin* (*)(uint32_t host_version);

constexpr uint32_t kMostSettings = 256;
constexpr uint32_t kMostLosses = 64;

// Reads a library's struct, and says what is wrong with it.
class PluginReader {
 public:
  explicit PluginReader(std::string path) : path_(std::move(path)) {}

  absl::StatusOr<PluginFacts> Read(const KymoBackendPlugin* from) {
    KYMO_RETURN_IF_ERROR(CheckVersion(from));
    facts_.path = path_;
    facts_.plugin = from;
    facts_.functions = CopySized(from);
    const KymoBackendPlugin& plugin = facts_.functions;
    KYMO_RETURN_IF_ERROR(
        CheckTexts({plugin.name, plugin.purpose, plugin.device}));
    facts_.info.name = PluginText(plugin.name);
    if (!IsLowerSnake(facts_.info.name)) {
      return Wrong(absl::StrCat("its name, '", facts_.info.name,
                                "', is not lower_snake"));
    }
    facts_.info.purpose = PluginText(plugin.purpose);
    if (facts_.info.purpose.empty()) return Wrong("it has no purpose");
    facts_.info.device = PluginText(plugin.device);
    if (!facts_.info.device.empty() && !IsLowerSnake(facts_.info.device)) {
      return Wrong(absl::StrCat("its device, '", facts_.info.device,
                                "', is not lower_snake"));
    }
    if (plugin.create == nullptr || plugin.start == nullptr ||
        plugin.stop == nullptr || plugin.collect == nullptr) {
      return Wrong("one of create, start, stop and collect is NULL");
    }
    KYMO_RETURN_IF_ERROR(ReadSettings(plugin.settings, plugin.setting_count));
    KYMO_RETURN_IF_ERROR(ReadLosses(plugin.losses, plugin.loss_count));
    return std::move(facts_);
  }

 private:
  absl::Status Wrong(const std::string& what) const {
    return absl::FailedPreconditionError(
        absl::StrCat("the backend in '", path_, "' cannot be used: ", what,
                     "; kymo/backend_plugin.h says what Kymo expects"));
  }

  absl::Status CheckVersion(const KymoBackendPlugin* plugin) const {
    const LibraryFacts library = {path_, "backend", "kymo/backend_plugin.h"};
    const std::string ours = VersionText(KYMO_PLUGIN_VERSION);
    if (plugin == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("'", path_, "' does not work with version ", ours,
                       " of the backend interface, which this Kymo has; ",
                       HowToMakeItFit(library)));
    }
    if (plugin->struct_size < kPluginHeadSize) {
      return Wrong(absl::StrCat("its struct_size is ", plugin->struct_size,
                                ", too little for any version; version ", ours,
                                ", which this Kymo has, needs ",
                                kFirstSize<KymoBackendPlugin>));
    }
    KYMO_RETURN_IF_ERROR(
        CheckLibraryVersion(library, plugin->version, KYMO_PLUGIN_VERSION));
    if (plugin->struct_size < kFirstSize<KymoBackendPlugin>) {
      return Wrong(absl::StrCat(
          "it was built for version ", VersionText(plugin->version),
          ", but its struct_size is ", plugin->struct_size, "; version ", ours,
          ", which this Kymo has, needs at least ",
          kFirstSize<KymoBackendPlugin>));
    }
    return absl::OkStatus();
  }

  // What is cut is no longer what the library meant.
  absl::Status CheckTexts(std::initializer_list<const char*> texts) const {
    for (const char* const text : texts) {
      if (text == nullptr ||
          strnlen(text, kMostTextBytes + 1) <= kMostTextBytes) {
        continue;
      }
      return Wrong(absl::StrCat("a text that begins with '",
                                PluginText(text, 40), "' is over ",
                                kMostTextBytes, " bytes"));
    }
    return absl::OkStatus();
  }

  // Calls `read` with a copy of each element of a library's array, which is as
  // long as its own first element says.
  template <typename T, typename Function>
  absl::Status ForEach(const T* array, uint32_t count, uint32_t most,
                       const char* what, Function read) {
    if (count == 0) return absl::OkStatus();
    if (count > most) {
      return Wrong(absl::StrCat("it has ", count, " ", what, ", over ", most));
    }
    if (array == nullptr) return Wrong(absl::StrCat("its ", what, " are NULL"));
    const uint32_t stride = array->struct_size;
    if (stride < kFirstSize<T> || stride % alignof(T) != 0) {
      return Wrong(absl::StrCat("the struct_size of its ", what, " is ", stride,
                                "; it needs at least ", kFirstSize<T>));
    }
    const auto* const bytes = reinterpret_cast<const std::byte*>(array);
    for (uint32_t i = 0; i < count; ++i) {
      const T* const element =
          reinterpret_cast<const T*>(bytes + size_t{i} * stride);
      if (element->struct_size != stride) {
        return Wrong(
            absl::StrCat("not all its ", what, " have the same struct_size"));
      }
      KYMO_RETURN_IF_ERROR(read(CopySized(element)));
    }
    return absl::OkStatus();
  }

  absl::Status ReadSettings(const KymoSetting* settings, uint32_t count) {
    std::set<std::string> names;
    return ForEach(
        settings, count, kMostSettings, "settings",
        [&](const KymoSetting& setting) -> absl::Status {
          KYMO_RETURN_IF_ERROR(CheckTexts({setting.name, setting.default_value,
                                           setting.purpose, setting.words}));
          const std::string name = PluginText(setting.name);
          if (!IsLowerSnake(name)) {
            return Wrong(absl::StrCat("the name of a setting, '", name,
                                      "', is not lower_snake"));
          }
          if (!names.insert(name).second) {
            return Wrong(absl::StrCat("it has two settings named ", name));
          }
          absl::StatusOr<SettingInfo> info =
              PluginSetting(facts_.info.name, setting);
          if (!info.ok()) return Wrong(std::string(info.status().message()));
          facts_.info.settings.push_back(*std::move(info));
          facts_.setting_names.push_back(name);
          return absl::OkStatus();
        });
  }

  absl::Status ReadLosses(const KymoLossCounter* losses, uint32_t count) {
    return ForEach(
        losses, count, kMostLosses, "loss counters",
        [&](const KymoLossCounter& loss) -> absl::Status {
          KYMO_RETURN_IF_ERROR(CheckTexts({loss.name, loss.text}));
          PluginLoss& read = facts_.losses.emplace_back();
          read = {PluginText(loss.name), PluginText(loss.text)};
          if (!IsLowerSnake(read.name) || read.text.empty()) {
            return Wrong(absl::StrCat("its loss counter '", read.name,
                                      "' lacks a lower_snake name or a text"));
          }
          return absl::OkStatus();
        });
  }

  const std::string path_;
  PluginFacts facts_;
};

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
  KYMO_ASSIGN_OR_RETURN(PluginFacts facts, PluginReader(path).Read(plugin));
  return NewPluginBackend(std::move(facts));
}

}  // namespace kymo
