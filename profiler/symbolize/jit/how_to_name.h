// how_to_name.h - what makes a program name the code that it makes as it runs.
//
//   Say(absl::StrCat("code without names; ", HowToNameCode("node", 4711)));
//
// Threads: any.
#ifndef KYMO_PROFILER_SYMBOLIZE_JIT_HOW_TO_NAME_H_
#define KYMO_PROFILER_SYMBOLIZE_JIT_HOW_TO_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::symbolize {

// `program`: the name of the process `pid`.
std::string HowToNameCode(std::string_view program, int64_t pid);

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_JIT_HOW_TO_NAME_H_
