// names.h - the form of names of plugins, settings, devices and loss counters.
//
//   kymo::IsLowerSnake("cuda_markers")   // true
//   kymo::IsLowerSnake("Cuda-Markers")   // false
//
// These names are words of the command line, and keys in files. So they consist
// of the letters a to z, digits and underscores.
#ifndef KYMO_PROFILER_BASE_NAMES_H_
#define KYMO_PROFILER_BASE_NAMES_H_

#include <string_view>

namespace kymo {

// False for the empty text.
constexpr bool IsLowerSnake(std::string_view name) noexcept {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
             std::string_view::npos;
}

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_NAMES_H_
