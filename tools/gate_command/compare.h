// compare.h - `kymo compare`: runs two programs in turns, and says which of
// their rows differ for sure.
//
//   return CompareMain({"--runs=10", "./base", "./head", "--size=100"});
//
// The runs alternate as base, head, head, base, so that what drifts (heat,
// neighbours) meets both sides alike. The programs and their recorder are
// pinned to one CPU by default. The first runs of each, which warm caches, do
// not count. The recordings stay in base/ and head/ of the output folder, and
// `kymo report --diff` compares them.
#ifndef KYMO_TOOLS_GATE_COMMAND_COMPARE_H_
#define KYMO_TOOLS_GATE_COMMAND_COMPARE_H_

#include <sched.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command_line/manual.h"

namespace kymo::tools {

// Returns the exit status. `arguments` are all words but the command's name.
int CompareMain(const std::vector<std::string>& arguments);

Manual MakeCompareManual();

// The sides of `runs` runs of each program, in the order in which they run:
// 0 is base, 1 is head.
std::vector<int> RunOrder(int runs);

// The CPUs of "2", "0-3,6". Nothing if it is no such list.
std::optional<cpu_set_t> ParseCpus(std::string_view text);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_GATE_COMMAND_COMPARE_H_
