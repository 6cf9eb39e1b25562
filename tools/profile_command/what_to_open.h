// what_to_open.h - how to look at the files of a run.
//
//   for (const std::string& line : WhatToOpen({"trace.json"}, "out"))
//     Say(line);  // "timeline: open out/trace.json in https://ui.perfetto.dev"
#ifndef KYMO_TOOLS_PROFILE_COMMAND_WHAT_TO_OPEN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_WHAT_TO_OPEN_H_

#include <cstddef>
#include <string>
#include <vector>

namespace kymo::tools {

// "wrote out", or "wrote 6 of 9 files into out" if `tried` files were to be
// written and some could not be.
std::string WhatWasWritten(size_t written, size_t tried,
                           const std::string& shown);

// A line for each viewer: at most three, and one for the tables. `names` are
// those of the run's files, relative to the output folder. The lines call that
// folder `shown`.
std::vector<std::string> WhatToOpen(const std::vector<std::string>& names,
                                    const std::string& shown);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_WHAT_TO_OPEN_H_
