// kymo - the program; `kymo --help` is its manual.
#include <stdio.h>

#include <string>
#include <vector>

#include "tools/command_line/manual.h"
#include "tools/command_line/say.h"
#include "tools/command_line/shared_flags.h"
#include "tools/command_line/standard_streams.h"
#include "tools/gate_command/compare.h"
#include "tools/gate_command/main.h"
#include "tools/kymo_command/kymo_manual.h"
#include "tools/profile_command/main.h"
#include "tools/report_command/main.h"

namespace kymo::tools {
namespace {

int Usage(const std::string& problem) {
  Say(problem);
  return kExitUsage;
}

int Main(const std::vector<std::string>& words) {
  if (words.empty()) {
    return Usage(
        "no command; to record a program: kymo -- PROGRAM (see kymo "
        "--help)");
  }
  const std::string& first = words[0];
  const std::vector<std::string> others(words.begin() + 1, words.end());
  if (first == "profile") return ProfileMain(others);
  if (first == "report") return ReportMain(others);
  if (first == "gate") return GateMain(others);
  if (first == "compare") return CompareMain(others);
  OccupyStandardStreams();
  if (first == "--version") {
    fputs(kVersionLine, stdout);
    return 0;
  }
  if (first == "--help" || first == "-h") {
    fputs(ManualPage(MakeKymoManual(), "all")->c_str(), stdout);
    return 0;
  }
  if (first.starts_with('-')) return ProfileMain(words);
  return Usage("there is no command '" + first +
               "'; to record a program of that name: kymo -- " + first +
               " (see kymo --help)");
}

}  // namespace
}  // namespace kymo::tools

int main(int argc, char** argv) {
  return kymo::tools::Main(std::vector<std::string>(argv + 1, argv + argc));
}
