// gate_flags.h - the flags of `kymo gate`, as they are declared.
//
//   KYMO_ASSIGN_OR_RETURN(const GateFlags flags,
//                         GateFlagTable().Read(words.own));
#ifndef KYMO_TOOLS_GATE_COMMAND_GATE_FLAGS_H_
#define KYMO_TOOLS_GATE_COMMAND_GATE_FLAGS_H_

#include <string>

#include "profiler/plugin/settings.h"
#include "tools/command_line/manual.h"

namespace kymo::tools {

// Over the budget, or over a limit of --fail_if.
inline constexpr int kExitOver = 4;

struct GateFlags {
  std::string budget;
  bool update = false;
  std::string output_dir;
  std::string xml;
  int shard = -1;  // -1: all of the program runs
  bool filtered = false;
  bool version = false;
};

const SettingTable<GateFlags>& GateFlagTable();

Manual MakeGateManual();

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_GATE_COMMAND_GATE_FLAGS_H_
