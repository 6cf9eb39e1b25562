// command.h - //tools:report from its words to its exit status.
//
//   return RunReport({"--format=csv", "trace.json"});
#ifndef KYMO_TOOLS_REPORT_COMMAND_COMMAND_H_
#define KYMO_TOOLS_REPORT_COMMAND_COMMAND_H_

#include <string>
#include <vector>

#include "profiler/plugin/registry.h"

namespace kymo::tools {

// Returns the exit status. `arguments` are all words but the command's name.
int RunReport(const std::vector<std::string>& arguments);

// The same with these plugins instead of the built-in ones. Adds the exporters
// of libraries that --export names.
int RunReport(const std::vector<std::string>& arguments,
              const ImporterRegistry& importers, ExporterRegistry& exporters);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_COMMAND_H_
