// tool_variables.h - environment variables by which a program's libraries find
// what the command has made for them.
//
// A program finds the tool that hears what it says through NVTX or ITT. The
// command makes the runtime that tool. A tool that the user had named before
// moves to the "next" variable; the runtime loads it and passes every call on.
#ifndef KYMO_PROFILER_RECORD_TOOL_VARIABLES_H_
#define KYMO_PROFILER_RECORD_TOOL_VARIABLES_H_

namespace kymo::record {

inline constexpr char kNvtxToolVariable[] = "NVTX_INJECTION64_PATH";
inline constexpr char kNextNvtxToolVariable[] = "KYMO_NVTX_NEXT";
inline constexpr char kIttToolVariable[] = "INTEL_LIBITTNOTIFY64";
inline constexpr char kNextIttToolVariable[] = "KYMO_ITT_NEXT";

// The folder in which the ranks of a job agree that all are recorded
// (backends/mpi/target/rank_meeting.h).
inline constexpr char kMpiMeetingVariable[] = "KYMO_MPI_MEETING";
// Bytes of the file `token` there.
inline constexpr int kMeetingTokenSize = 16;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_TOOL_VARIABLES_H_
