// short_name.h - a C++ function's name in less room, still to be recognised.
//
//   ShortName("ns::Table<int, char>::insert(int, char)", 22)
//   // "ns::Table<...>::insert"
//
// What nobody writes goes first (folded_defaults.h). Then a name that fits
// stays whole. Else it loses, one after the other and only as
// far as needed: the parameters, what is between angle brackets, its middle.
// The end stays longest: it tells functions apart. An address at the begin
// stays whole, because its last digits tell locks apart.
#ifndef KYMO_PROFILER_TEXT_SHORT_NAME_H_
#define KYMO_PROFILER_TEXT_SHORT_NAME_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace kymo::report {

// `width` counts code points.
std::string ShortName(std::string_view name, size_t width);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_TEXT_SHORT_NAME_H_
