// kymo_manual.h - the manual of the program `kymo`, which has all commands.
#ifndef KYMO_TOOLS_KYMO_COMMAND_KYMO_MANUAL_H_
#define KYMO_TOOLS_KYMO_COMMAND_KYMO_MANUAL_H_

#include "tools/command_line/manual.h"

namespace kymo::tools {

Manual MakeKymoManual();

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_KYMO_COMMAND_KYMO_MANUAL_H_
