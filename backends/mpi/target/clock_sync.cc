#include "backends/mpi/target/clock_sync.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>

#include "backends/mpi/target/mpi_library.h"
#include "backends/mpi/target/rank_meeting.h"
#include "profiler/record/range.h"

namespace kymo::mpi {
namespace {

constexpr int kRoundTrips = 40;
constexpr int kTag = 1;

constinit OwnFunction<2> comm_rank("PMPI_Comm_rank");
constinit OwnFunction<2> comm_size("PMPI_Comm_size");
constinit OwnFunction<2> comm_dup("PMPI_Comm_dup");
constinit OwnFunction<6> send("PMPI_Send");
constinit OwnFunction<7> receive("PMPI_Recv");

// Of our own messages; 0: no clock can be measured.
constinit Word clock_comm = 0;

int64_t NowNs() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

struct Offset {
  int64_t offset_ns = 0;
  int64_t bound_ns = 0;
};

bool Send(int peer, const void* data, int bytes) noexcept {
  return send(data, bytes, Abi().type_byte, peer, kTag, clock_comm) == kSuccess;
}
bool Receive(int peer, void* data, int bytes) noexcept {
  return receive(data, bytes, Abi().type_byte, peer, kTag, clock_comm,
                 Abi().status_ignore) == kSuccess;
}

// The rank whose clock is known answers, and then says how far it is itself.
bool Answer(int peer, const Offset& own) noexcept {
  for (int i = 0; i < kRoundTrips; ++i) {
    int64_t now;
    if (!Receive(peer, &now, sizeof(now))) return false;
    now = NowNs();
    if (!Send(peer, &now, sizeof(now))) return false;
  }
  return Send(peer, &own, sizeof(own));
}

bool Ask(int peer, Offset& own) noexcept {
  int64_t shortest = INT64_MAX;
  int64_t offset = 0;
  for (int i = 0; i < kRoundTrips; ++i) {
    const int64_t begin = NowNs();
    int64_t theirs;
    if (!Send(peer, &begin, sizeof(begin)) ||
        !Receive(peer, &theirs, sizeof(theirs))) {
      return false;
    }
    const int64_t round_trip = NowNs() - begin;
    if (round_trip >= shortest) continue;
    shortest = round_trip;
    offset = theirs - (begin + round_trip / 2);
  }
  Offset parent;
  if (!Receive(peer, &parent, sizeof(parent))) return false;
  own = {.offset_ns = parent.offset_ns + offset,
         .bound_ns = parent.bound_ns + shortest / 2 + 1};
  return true;
}

// In round k, the ranks below 2^k know their clocks, and each of them measures
// with the rank that is 2^k above it.
bool Measure(int rank, int size, Offset& own) noexcept {
  for (int64_t step = 1; step < size; step *= 2) {
    if (rank < step) {
      if (rank + step < size && !Answer(rank + step, own)) return false;
    } else if (rank < 2 * step) {
      if (!Ask(rank - step, own)) return false;
    }
  }
  return true;
}

void MeasureAndRecord() noexcept {
  int rank = 0;
  int size = 0;
  comm_rank(clock_comm, &rank);
  comm_size(clock_comm, &size);
  Offset own;
  if (!Measure(rank, size, own) || !record::IsOn()) return;
  const record::Arg args[] = {{"mono_ns", NowNs()},
                              {"offset_ns", own.offset_ns},
                              {"bound_ns", own.bound_ns}};
  record::RecordInstant("MPI clock", {}, args, std::size(args));
}

}  // namespace

void StartClocks() noexcept {
  int rank = 0;
  int size = 0;
  comm_rank(Abi().comm_world, &rank);
  comm_size(Abi().comm_world, &size);
  if (!AllRanksMeet(rank, size)) return;
  if (comm_dup(Abi().comm_world, &clock_comm) != kSuccess) {
    clock_comm = 0;
    return;
  }
  MeasureAndRecord();
}

void EndClocks() noexcept {
  if (clock_comm != 0) MeasureAndRecord();
}

}  // namespace kymo::mpi
