// plugin_call.h - calls a function of a library that returns a KymoResult and
// says why.
//
//   absl::Status status = CallPlugin("stop", plugin.stop, session);
//
// The function gets `why` and `why_size` behind the given arguments. Its
// exceptions pass through: whoever calls a plugin expects them
// (guarded_call.h).
#ifndef KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_CALL_H_
#define KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_CALL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kymo/backend_plugin.h"
#include "profiler/plugin/library/plugin_records.h"

namespace kymo {

inline constexpr size_t kWhySize = 1024;

// Unknown results are kInternal.
inline absl::StatusCode CodeOfResult(uint32_t result) {
  switch (result) {
    case KYMO_INVALID_ARGUMENT:
      return absl::StatusCode::kInvalidArgument;
    case KYMO_NOT_FOUND:
      return absl::StatusCode::kNotFound;
    case KYMO_PERMISSION_DENIED:
      return absl::StatusCode::kPermissionDenied;
    case KYMO_UNAVAILABLE:
      return absl::StatusCode::kUnavailable;
    case KYMO_UNIMPLEMENTED:
      return absl::StatusCode::kUnimplemented;
    case KYMO_OUT_OF_MEMORY:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::StatusCode::kInternal;
  }
}

template <typename Function, typename... Arguments>
absl::Status CallPlugin(const char* name, Function* function,
                        Arguments... arguments) {
  std::array<char, kWhySize> why = {};
  const uint32_t result = function(arguments..., why.data(), why.size());
  if (result == KYMO_OK) return absl::OkStatus();
  const std::string text = PluginText(why.data(), why.size());
  return absl::Status(CodeOfResult(result),
                      text.empty() ? absl::StrCat(name, " returned the error ",
                                                  result, " and no reason")
                                   : text);
}

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_LIBRARY_PLUGIN_CALL_H_
