// gate_run.h - runs a program for a gate, and measures it.
//
//   KYMO_ASSIGN_OR_RETURN(const Amounts amounts,
//                         MeasureProgram({"./app"}, "out", {}, importers));
//
// The program runs recorded by `kymo profile` and, if calls are to be counted,
// once more without the recorder. So a program must do the same each time, and
// bear to be started again.
//
// `out` gets key_averages.txt, summary.json and kymo.raw. RecordPage records
// once more, with the stacks of allocations, and adds report.html: finding the
// names of stacks takes most of the time, and few gates fail.
//
// Errors: kAborted if the program or its recorder fails: the text says which,
//         and the status. Those of syscall_trace.h. A loss of records is
//         kDataLoss, since lost records are missing from the counts.
#ifndef KYMO_TOOLS_GATE_COMMAND_GATE_RUN_H_
#define KYMO_TOOLS_GATE_COMMAND_GATE_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/plugin/registry.h"
#include "tools/gate_command/measures.h"
#include "tools/gate_command/program_streams.h"

namespace kymo::tools {

struct Measuring {
  StreamDescriptors streams = kOwnStreams;  // of the program
  bool counts_calls = false;
  // The C library keeps blocks for itself; stacks tell them from leaks.
  bool has_leaks = false;
};

absl::StatusOr<Amounts> MeasureProgram(const std::vector<std::string>& command,
                                       const std::string& out,
                                       const Measuring& measuring,
                                       const ImporterRegistry& importers);

absl::Status RecordPage(const std::vector<std::string>& command,
                        const std::string& out,
                        const StreamDescriptors& streams);

// The amounts of a recording on disk.
absl::StatusOr<Amounts> MeasureFile(const std::string& file,
                                    const ImporterRegistry& importers);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_GATE_COMMAND_GATE_RUN_H_
