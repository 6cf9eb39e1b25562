// first.h - the beginning of a text, for code that links no C++ library.
//
//   First("--ranks=4", 7)   // "--ranks"
//
// It is string_view::substr without its exception.
#ifndef KYMO_PROFILER_RECORD_FIRST_H_
#define KYMO_PROFILER_RECORD_FIRST_H_

#include <cstddef>
#include <string_view>

namespace kymo::record {

constexpr std::string_view First(std::string_view text, size_t n) noexcept {
  return {text.data(), text.size() < n ? text.size() : n};
}

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_FIRST_H_
