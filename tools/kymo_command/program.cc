// kymo - the program; `kymo --help` is its manual.

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

using Command = int (*)(const std::vector<std::string>& words);

// Null if there is none of that name.
Command CommandOf(const std::string& name) {
  if (name == "profile") return ProfileMain;
  if (name == "report") return ReportMain;
  if (name == "gate") return GateMain;
  if (name == "compare") return CompareMain;
  return nullptr;
}

int PrintManual() {
  OccupyStandardStreams();
  return Answer(*ManualPage(MakeKymoManual(), "all"));
}

// What the manual of kymo itself describes.
bool IsAboutKymo(const std::string& word) {
  return word == "help" || word == "version" || word == "--help" ||
         word == "-h" || word == "--version" || word == "-v";
}

// kymo help [command [topic]].
int Help(const std::vector<std::string>& words) {
  if (words.empty() || IsAboutKymo(words[0])) return PrintManual();
  const Command command = CommandOf(words[0]);
  if (command == nullptr) {
    return Usage("there is no command '" + words[0] +
                 "'; it is one of: profile, report, gate, compare");
  }
  return command({words.size() == 1 ? "--help" : "--help=" + words[1]});
}

int Main(const std::vector<std::string>& words) {
  if (words.empty()) {
    return Usage(
        "no command; to record a program: kymo -- PROGRAM (see kymo "
        "--help)");
  }
  const std::string& first = words[0];
  const std::vector<std::string> others(words.begin() + 1, words.end());
  if (const Command command = CommandOf(first)) return command(others);
  if (first == "help") return Help(others);
  OccupyStandardStreams();
  if (first == "--version" || first == "-v" || first == "version") {
    return Answer(kVersionLine);
  }
  if (first == "--help" || first == "-h") return PrintManual();
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
