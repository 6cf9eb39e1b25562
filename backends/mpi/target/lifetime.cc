// lifetime.cc - where MPI begins and ends, and what else changes what handles
// mean.
#include <stdio.h>
#include <unistd.h>

#include "backends/mpi/target/call.h"
#include "backends/mpi/target/clock_sync.h"
#include "backends/mpi/target/communicators.h"
#include "backends/mpi/target/datatypes.h"
#include "backends/mpi/target/mpi_library.h"
#include "backends/mpi/target/requests.h"
#include "backends/mpi/target/wrap.h"
#include "profiler/record/captured.h"

namespace kymo::mpi {
namespace {

constinit OwnFunction<2> world_rank("PMPI_Comm_rank");
constinit OwnFunction<2> world_size("PMPI_Comm_size");

// Says who this process is among the ranks.
void RecordRank() noexcept {
  if (!record::IsOn()) return;
  int rank = 0;
  int size = 0;
  world_rank(Abi().comm_world, &rank);
  world_size(Abi().comm_world, &size);
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  const record::Arg args[] = {{"rank", rank},
                              {"size", size},
                              {"host", std::string_view(host)},
                              {"requests_lost", RequestsLost()}};
  record::RecordInstant("MPI ranks", {}, args, std::size(args));
}

// A phase is a range of no thread, from one MPI_Pcontrol to the next.
constinit uint64_t open_phase = 0;

void ChangePhase(int level) noexcept {
  if (open_phase != 0) record::EndCapturedAsync(open_phase);
  open_phase = 0;
  if (level <= 0 || !record::IsOn()) return;
  char name[32];
  snprintf(name, sizeof(name), "phase %d", level);
  open_phase = record::BeginCapturedAsync({.name = record::NameOf(name)});
}

}  // namespace

// Stacks tell these two functions from the hooks of MPI by their names
// (profiler/symbolize/raw_stack_names.cc). So libraries without other symbols
// must have theirs, and stacks must have frames of them.
#define KYMO_IN_STACKS __attribute__((visibility("default"), noinline))

KYMO_IN_STACKS void AfterInit(Word result) noexcept {
  if (static_cast<int>(result) != kSuccess) return;
  AddCommunicator(Abi().comm_world);
  AddCommunicator(Abi().comm_self);
  RecordRank();
  StartClocks();
  asm volatile("");  // not by a jump, which would leave no frame
}

KYMO_IN_STACKS void BeforeFinalize() noexcept {
  EndClocks();
  RecordRank();
  asm volatile("");
}

KYMO_EXPORT Word MPI_Init(Word argc, Word argv) {
  KYMO_REAL(Init, 2)
  const bool is_outer = !IsInCall();
  // Other ranks are waited for in AfterInit, too.
  const PlainCall call("MPI_Init");
  const Word result = real(argc, argv);
  if (is_outer) AfterInit(result);
  return result;
}

KYMO_EXPORT Word MPI_Init_thread(Word argc, Word argv, Word required,
                                 Word provided) {
  KYMO_REAL(Init_thread, 4)
  const bool is_outer = !IsInCall();
  const PlainCall call("MPI_Init_thread");
  const Word result = real(argc, argv, required, provided);
  if (is_outer) AfterInit(result);
  return result;
}

KYMO_EXPORT int MPI_Finalize() {
  KYMO_REAL(Finalize, 0)
  const bool is_outer = !IsInCall();
  // Other ranks are waited for in BeforeFinalize, too.
  const PlainCall call("MPI_Finalize");
  if (is_outer) BeforeFinalize();
  return static_cast<int>(real());
}

KYMO_EXPORT Word MPI_Abort(Word comm, Word code) {
  KYMO_REAL(Abort, 2)
  if (IsRecording()) {
    const record::Arg args[] = {{"code", static_cast<int>(code)}};
    record::RecordInstant("MPI_Abort", {}, args, 1);
  }
  return real(comm, code);
}

KYMO_EXPORT Word MPI_Comm_free(Word comm) {
  KYMO_REAL(Comm_free, 1)
  RemoveCommunicator(HandleAt(comm, 0));
  const PlainCall call("MPI_Comm_free");
  return real(comm);
}

KYMO_EXPORT Word MPI_Comm_disconnect(Word comm) {
  KYMO_REAL(Comm_disconnect, 1)
  RemoveCommunicator(HandleAt(comm, 0));
  const PlainCall call("MPI_Comm_disconnect");
  return real(comm);
}

KYMO_EXPORT Word MPI_Type_free(Word type) {
  KYMO_REAL(Type_free, 1)
  const Word result = real(type);
  ForgetDatatypes();
  return result;
}

KYMO_EXPORT Word MPI_Comm_set_name(Word comm, Word name) {
  KYMO_REAL(Comm_set_name, 2)
  const Word result = real(comm, name);
  if (!IsInCall() && static_cast<int>(result) == kSuccess) {
    AddCommunicator(comm);
    NameShared(Handle(comm), reinterpret_cast<const char*>(name));
  }
  return result;
}

KYMO_EXPORT Word MPI_Win_set_name(Word window, Word name) {
  KYMO_REAL(Win_set_name, 2)
  const Word result = real(window, name);
  if (!IsInCall() && static_cast<int>(result) == kSuccess) {
    NameShared(Handle(window), reinterpret_cast<const char*>(name));
  }
  return result;
}

// A spawned program's way to those who spawned it.
KYMO_EXPORT Word MPI_Comm_get_parent(Word parent) {
  KYMO_REAL(Comm_get_parent, 1)
  const Word result = real(parent);
  if (!IsInCall() && static_cast<int>(result) == kSuccess) {
    AddCommunicator(HandleAt(parent, 0));
  }
  return result;
}

// Its further arguments are the tool's. Ours takes none.
KYMO_EXPORT int MPI_Pcontrol(const int level, ...) {
  ChangePhase(level);
  return kSuccess;
}

}  // namespace kymo::mpi
