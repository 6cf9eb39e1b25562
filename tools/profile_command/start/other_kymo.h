// other_kymo.h - whether a program was built with Kymo, and with which version.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_START_OTHER_KYMO_H_
#define KYMO_TOOLS_PROFILE_COMMAND_START_OTHER_KYMO_H_

#include <string>

namespace kymo::tools {

// Reads the notes of the copies of Kymo that are linked into a program
// (profiler/record/arena/layout_note.h). True if one of them cannot record for
// this Kymo. False for programs without Kymo, for broken notes, and for what is
// no ELF file. Libraries that the program loads are not looked at.
bool HasOtherKymo(const std::string& path);
// The same; true if one of them can record for this Kymo.
bool HasThisKymo(const std::string& path);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_START_OTHER_KYMO_H_
