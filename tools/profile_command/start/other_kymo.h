// other_kymo.h - whether a program was built with Kymo, and with which version.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_START_OTHER_KYMO_H_
#define KYMO_TOOLS_PROFILE_COMMAND_START_OTHER_KYMO_H_

#include <string>
#include <vector>

#include "profiler/model/trace.h"

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

// A sentence for each file, except `target`, that stacks of the trace come from
// and that has copies of another version only. Sorted.
std::vector<std::string> DescribeOtherKymo(const model::Trace& trace,
                                           const std::string& target);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_START_OTHER_KYMO_H_
