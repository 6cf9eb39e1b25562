// strings.h - between std::string_view and the packaged Abseil's own view.
//
// Abseil 20220623 as Debian packages it was built with absl::string_view as a
// type of its own. Our signatures use std; convert at the call.
#ifndef KYMO_PROFILER_BASE_STRINGS_H_
#define KYMO_PROFILER_BASE_STRINGS_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace kymo {

inline absl::string_view ToAbsl(std::string_view text) noexcept {
  return absl::string_view(text.data(), text.size());
}

inline std::string_view ToStd(absl::string_view text) noexcept {
  return std::string_view(text.data(), text.size());
}

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_STRINGS_H_
