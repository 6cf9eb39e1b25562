// mpi_calls.h - the ranks of a trace, and their calls of MPI.
//
//   const RankCalls calls = FindRankCalls(trace);
//   for (const MpiCall& call : calls.calls) Print(calls.ranks[call.rank].host);
//
// A rank is a process that said so, by the instants `MPI ranks` and `MPI clock`
// (backends/mpi), or the first process of a rank without MPI, of which the
// command says so by `job rank` and `job clock`. The command also says how the
// rank's program ended, by `rank end`. Kernels of collective operations of a
// rank's devices (device_collectives.h) are among its calls.
//
// Units: nanoseconds and bytes. Threads: values.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_MPI_CALLS_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_MPI_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// How a program ended.
struct RankEnd {
  TimeNs time_ns = 0;
  int64_t signal = 0;  // 0: none killed it
  int64_t status = 0;
};

struct Rank {
  int64_t rank = 0;
  int64_t size = 0;  // of the job
  int64_t pid = 0;
  std::string host;
  bool is_mpi = false;
  // When it called MPI_Init. Without MPI, when its recording began.
  TimeNs start_ns = 0;
  // From the end of MPI_Init to the begin of MPI_Finalize, or to the end of the
  // program or the recording if the rank never called that. Without MPI, of the
  // recording.
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;
  bool is_finalized = false;
  std::optional<RankEnd> ended;  // nothing: its command did not say
  bool has_aborted = false;      // it called MPI_Abort
  int64_t abort_code = 0;        // with this
  // By how much the rank's clock may be wrong against rank 0's. Nothing: it
  // was not measured. If it was measured at the start only, 100 ppm of the time
  // since then are added: nobody saw how the clocks drifted.
  std::optional<DurationNs> clock_bound_ns;
  int64_t requests_lost = 0;
};

// What a call is for waiting.
enum class MpiKind : uint8_t {
  kSend,        // to one rank
  kReceive,     // from one rank
  kExchange,    // both: MPI_Sendrecv
  kCollective,  // with all ranks of a communicator
  kWait,        // for requests: MPI_Wait and its like
  kProbe,       // for a message that another call receives: MPI_Probe
  kOther,
};

struct MpiCall {
  size_t rank = 0;  // into RankCalls::ranks
  model::EventIndex event = 0;
  MpiKind kind = MpiKind::kOther;
  // From the call that began an operation to the one that completed it: no
  // range of a thread, and nobody waited for all of it.
  bool is_request = false;
  bool on_device = false;  // a kernel of NCCL: no call of a thread
  bool is_open = false;    // it went on when the recording ended
  bool has_failed = false;
  // Whether `to` and `from` stand for messages. Of a non-blocking operation the
  // request does, and not the call that began it. A failed call has none, but a
  // receive that failed because its message was too long.
  bool is_message = false;
  // When it took its place among the receives of a rank: its begin; if
  // MPI_Mprobe or MPI_Improbe found the message, when they did.
  TimeNs receives_at_ns = 0;
  int64_t comm = -1;  // the same number in each rank; -1: not known
  // Of collective calls that have numbers in their communicator; -1: the nth
  // call of a rank is the nth one of the others.
  int64_t sequence = -1;
  // Ranks in MPI_COMM_WORLD, -1: none. An open receive has the tag that the
  // program asked for, and then also the sender, if it asked for one.
  int64_t to = -1;
  int64_t from = -1;
  int64_t send_tag = -1;
  int64_t receive_tag = -1;
  // Of an open receive without `from`: whom the program asked for; -1: anybody.
  // Its tag is receive_tag; -1: any.
  int64_t source = -1;
  int64_t root = -1;  // of a collective call that has one, as `to`
  int64_t bytes = 0;  // sent; of a kReceive: received
  // Of a request that the program polled: how long before its end it first
  // looked.
  std::optional<DurationNs> polled_ns;
};

// Or a window or a file, which all ranks of a communicator make together.
struct Communicator {
  std::string name;           // empty: it has none
  std::vector<size_t> ranks;  // into RankCalls::ranks: who made or used it
};

struct RankCalls {
  std::vector<Rank> ranks;     // by rank
  std::vector<MpiCall> calls;  // by rank, then by the trace's order
  std::map<int64_t, Communicator> communicators;  // by MpiCall::comm
};

RankCalls FindRankCalls(const model::Trace& trace);

// Whether SIGTERM or SIGINT ended it, with which launchers and users end whole
// jobs.
bool WasToldToEnd(const RankEnd& end);

// The first rank of MPI that ended without MPI_Finalize, into
// RankCalls::ranks, and was not told to. Nothing: none did, or no command lived
// to say so.
std::optional<size_t> FirstToBreakOff(const std::vector<Rank>& ranks);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_MPI_CALLS_H_
