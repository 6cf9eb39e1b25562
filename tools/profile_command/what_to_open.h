// what_to_open.h - how to look at the files of a folder.
//
//   for (const std::string& line : WhatToOpen("/home/me/out", "out"))
//     Say(line);  // "timeline: open out/trace.json in https://ui.perfetto.dev"
#ifndef KYMO_TOOLS_PROFILE_COMMAND_WHAT_TO_OPEN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_WHAT_TO_OPEN_H_

#include <string>
#include <vector>

namespace kymo::tools {

// A line for each viewer: at most three, and one for the tables. They call the
// folder `shown`.
std::vector<std::string> WhatToOpen(const std::string& folder,
                                    const std::string& shown);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_WHAT_TO_OPEN_H_
