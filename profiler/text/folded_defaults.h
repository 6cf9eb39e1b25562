// folded_defaults.h - a C++ function's name without what its author left out.
//
//   FoldDefaults("std::vector<int, std::allocator<int> >::push_back(int&&)")
//   // "std::vector<int>::push_back(int&&)"
//
// Demangled names spell out what nobody writes: default template arguments of
// the standard library, its inline namespaces, ABI tags ("[abi:cxx11]"), and
// strings as templates. Other text stays as it is. For people: two functions
// that differ may get one name.
#ifndef KYMO_PROFILER_TEXT_FOLDED_DEFAULTS_H_
#define KYMO_PROFILER_TEXT_FOLDED_DEFAULTS_H_

#include <string>
#include <string_view>

namespace kymo::report {

// A name of more than 4096 bytes stays as it is.
std::string FoldDefaults(std::string_view name);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_TEXT_FOLDED_DEFAULTS_H_
