// manual_files.h - files that packages install, made of a command's manual.
//
//   const std::string page = ManPage(manual, "kymo-report", KYMO_VERSION);
//   const std::string script =
//       BashCompletion({profile_manual, report_manual, gate, compare});
//
// So they have the flags that --help has. completions.h has other shells'.
//
// Formats: man(7) of groff 1.22, and the "Programmable Completion" of Bash's
// manual.
#ifndef KYMO_TOOLS_COMMAND_LINE_MANUAL_FILES_H_
#define KYMO_TOOLS_COMMAND_LINE_MANUAL_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "profiler/plugin/settings.h"
#include "tools/command_line/manual.h"

namespace kymo::tools {

// The pages of section 1 that packages have.
inline constexpr std::string_view kManPages[] = {
    "kymo", "kymo-profile", "kymo-report", "kymo-gate", "kymo-compare"};

// All of the manual as a page of section 1. `title` is the page's name, which
// has no space. The page refers to the others.
std::string ManPage(const Manual& manual, std::string_view title,
                    std::string_view version);

// Its own flags and those of its plugins, in the order of --help=all.
std::vector<const SettingInfo*> FlagsOf(const Manual& manual);

// The flags, separated by spaces; a flag that takes a value ends with `=`.
std::string FlagWordsOf(const Manual& manual);

// Of kymo's commands.
struct CommandManuals {
  Manual profile;
  Manual report;
  Manual gate;
  Manual compare;
};

// Completes commands, their flags, files, and the target with its arguments.
std::string BashCompletion(const CommandManuals& manuals);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_MANUAL_FILES_H_
