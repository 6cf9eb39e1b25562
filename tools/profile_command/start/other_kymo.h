// other_kymo.h - whether a program was built with Kymo, and with which version.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_START_OTHER_KYMO_H_
#define KYMO_TOOLS_PROFILE_COMMAND_START_OTHER_KYMO_H_

#include <string>

namespace kymo::tools {

// The copies of Kymo that are linked into a program.
struct LinkedKymo {
  bool has_this = false;   // one can record for this Kymo
  bool has_other = false;  // one cannot: it is of another version
};

// Reads the copies' notes (profiler/record/arena/layout_note.h). Both are false
// for programs without Kymo, for broken notes, and for what is no ELF file.
// Libraries that the program loads are not looked at.
LinkedKymo FindLinkedKymo(const std::string& path);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_START_OTHER_KYMO_H_
