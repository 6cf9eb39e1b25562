// range_screen.h - the ranges of the first screen.
//
//   Range  Self CPU %   Self CPU  CPU total  CPU time avg  ...  # of Calls
//   -----  ----------  ---------  ---------  ------------  ...  ----------
//   step       62.50%  500.000ms  800.000ms      80.000ms  ...          10
//
// "CPU" is the name of PyTorch's tables for the time of a range on its thread,
// waits included. If threads waited, three columns say what of "CPU total" they
// were on a CPU and waited: "On CPU", "Wait time" and "Wait %".
#ifndef KYMO_TOOLS_PROFILE_COMMAND_RANGE_SCREEN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_RANGE_SCREEN_H_

#include <string>
#include <vector>

#include "profiler/model/trace.h"
#include "profiler/report/fitted_table.h"
#include "profiler/report/table.h"
#include "tools/profile_command/first_screen.h"

namespace kymo::tools {

report::FittedTable RangesTable(
    const ScreenTables& tables,
    const std::vector<const report::TableRow*>& shown);

// A line about short waits, if they are a notable part of what the table calls
// CPU time. Else empty.
std::string ShortWaitsLine(const model::Trace& trace);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_RANGE_SCREEN_H_
