// plugin_reader.h - reads what a library says about its plugin, and says what
// is wrong with it. For backend_library.h and exporter_library.h.
//
//   const PluginReader reader({path, "backend", "kymo/backend_plugin.h"});
//   KYMO_RETURN_IF_ERROR(reader.CheckVersion(plugin));
//   const KymoBackendPlugin copy = CopySized(plugin);
//   if (copy.start == nullptr) return reader.Wrong("start is NULL");
//
// Errors: kFailedPrecondition, which names the library and what to do.
// Threads: any.
#ifndef KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_READER_H_
#define KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_READER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kymo/backend_plugin.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/library/library_version.h"
#include "profiler/plugin/library/plugin_abi.h"
#include "profiler/plugin/library/plugin_records.h"
#include "profiler/plugin/plugin_info.h"

namespace kymo {

class PluginReader {
 public:
  explicit PluginReader(LibraryFacts library) : library_(std::move(library)) {}

  const std::string& path() const noexcept { return library_.path; }

  // "the backend in './libmine.so' cannot be used: `what`; ..."
  absl::Status Wrong(const std::string& what) const;

  // Whether the struct can be read: it is there, is of our major version, and
  // has at least the fields of the first one.
  template <typename Plugin>
  absl::Status CheckVersion(const Plugin* plugin) const {
    return plugin == nullptr ? CheckHead(nullptr, nullptr, 0)
                             : CheckHead(&plugin->struct_size, &plugin->version,
                                         kFirstSize<Plugin>);
  }

  // What is cut is no longer what the library meant.
  absl::Status CheckTexts(std::initializer_list<const char*> texts) const;

  // Sets the name and the purpose.
  absl::Status ReadNames(const char* name, const char* purpose,
                         PluginInfo& info) const;

  // Adds the settings to `info`, whose name is set, and their names without
  // that of the plugin to `names`.
  absl::Status ReadSettings(const KymoSetting* settings, uint32_t count,
                            PluginInfo& info,
                            std::vector<std::string>& names) const;

  // Calls `read` with a copy of each element of a library's array, which is as
  // long as its own first element says.
  template <typename T, typename Function>
  absl::Status ForEach(const T* array, uint32_t count, uint32_t most,
                       const char* what, Function read) const {
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

 private:
  absl::Status CheckHead(const uint32_t* struct_size, const uint32_t* version,
                         uint32_t first_size) const;

  const LibraryFacts library_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_READER_H_
