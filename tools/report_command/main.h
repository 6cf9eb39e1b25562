// main.h - runs the command `report`.
//
//   int main(int argc, char** argv) {
//     return kymo::tools::ReportMain({argv + 1, argv + argc});
//   }
#ifndef KYMO_TOOLS_REPORT_COMMAND_MAIN_H_
#define KYMO_TOOLS_REPORT_COMMAND_MAIN_H_

#include <string>
#include <vector>

namespace kymo::tools {

// Returns the exit status. Call it once, from main().
int ReportMain(const std::vector<std::string>& arguments);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_MAIN_H_
