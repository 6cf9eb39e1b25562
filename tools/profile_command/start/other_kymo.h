// other_kymo.h - whether a program was built with another version of Kymo.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_START_OTHER_KYMO_H_
#define KYMO_TOOLS_PROFILE_COMMAND_START_OTHER_KYMO_H_

#include <string>

namespace kymo::tools {

// Reads the note of the Kymo that is linked into a program
// (profiler/record/arena/layout_note.h). True if that Kymo cannot record for
// this one. False for programs without Kymo, and for what is no ELF file.
// Libraries that the program loads are not looked at.
bool HasOtherKymo(const std::string& path);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_START_OTHER_KYMO_H_
