#include "backends/mpi/target/clock_sync.h"

#include <stdint.h>

#include <iterator>

#include "backends/mpi/target/exchange.h"
#include "backends/mpi/target/mpi_library.h"
#include "backends/mpi/target/rank_meeting.h"
#include "profiler/base/clock.h"
#include "profiler/record/captured.h"

namespace kymo::mpi {
namespace {

// So many round trips at least; then more while the shortest one is long,
// because a rank had to wait for a core.
constexpr int kFewRoundTrips = 40;
constexpr int kMostRoundTrips = 2'000;
constexpr int64_t kShortNs = 20'000;
constexpr int64_t kMeasureNs = 50'000'000;
// In place of a time.
constexpr int64_t kEnough = -1;
constexpr int64_t kGaveUp = -2;
// Looks at both clocks of a rank, the kernel's and that of the recording, until
// they take so little time together.
constexpr int kMostLooks = 100;
constexpr int64_t kOneLookNs = 500;
// Ranks come to MPI_Finalize one after another, as their work ends.
constexpr int64_t kLateNs = 60'000'000'000;

constinit OwnFunction<2> sync_rank("PMPI_Comm_rank");
constinit OwnFunction<2> sync_size("PMPI_Comm_size");

constinit Exchange exchange;

struct Offset {
  int64_t offset_ns = 0;
  int64_t bound_ns = 0;
};
static_assert(sizeof(Offset) <= Exchange::kMostBytes);

// The rank whose clock is known answers until the other one has enough, and
// then says how far it is itself.
bool Answer(int peer, const Offset& own) noexcept {
  int64_t limit = kLateNs;
  for (;;) {
    int64_t now;
    if (!exchange.Receive(peer, &now, sizeof(now), limit)) return false;
    if (now == kGaveUp) return false;
    if (now == kEnough) break;
    limit = Exchange::kLimitNs;
    now = MonotonicNs();
    if (!exchange.Send(peer, &now, sizeof(now))) return false;
  }
  return exchange.Send(peer, &own, sizeof(own));
}

bool Ask(int peer, Offset& own) noexcept {
  int64_t shortest = INT64_MAX;
  int64_t offset = 0;
  int64_t first = 0;
  for (int i = 0; i < kMostRoundTrips; ++i) {
    const int64_t begin = MonotonicNs();
    // The first round trip is over when the other rank has come.
    if (i == 1) first = begin;
    if (i >= kFewRoundTrips &&
        (shortest <= kShortNs || begin - first > kMeasureNs)) {
      break;
    }
    int64_t theirs;
    const int64_t limit = i == 0 ? kLateNs : Exchange::kLimitNs;
    if (!exchange.Send(peer, &begin, sizeof(begin)) ||
        !exchange.Receive(peer, &theirs, sizeof(theirs), limit) ||
        theirs == kGaveUp) {
      return false;
    }
    const int64_t round_trip = MonotonicNs() - begin;
    if (round_trip >= shortest) continue;
    shortest = round_trip;
    offset = theirs - (begin + round_trip / 2);
  }
  Offset parent;
  if (!exchange.Send(peer, &kEnough, sizeof(kEnough))) return false;
  if (!exchange.Receive(peer, &parent, sizeof(parent))) return false;
  if (parent.offset_ns == kGaveUp) return false;
  own = {.offset_ns = parent.offset_ns + offset,
         .bound_ns = parent.bound_ns + shortest / 2 + 1};
  return true;
}

// In round k, the ranks below 2^k know their clocks, and each of them measures
// with the rank that is 2^k above it. A rank that has given up says so to the
// others, which may come much later: they need not wait for it.
bool Measure(int rank, int size, Offset& own) noexcept {
  bool is_known = true;
  for (int64_t step = 1; step < size; step *= 2) {
    if (rank < step) {
      if (rank + step >= size) continue;
      is_known = is_known && Answer(rank + step, own);
      if (!is_known) exchange.SendLast(rank + step, kGaveUp);
    } else if (rank < 2 * step) {
      is_known = Ask(rank - step, own);
      if (!is_known) exchange.SendLast(rank - step, kGaveUp);
    }
  }
  return is_known;
}

// The same moment of both clocks of this rank.
struct Moment {
  uint64_t ticks = 0;  // 0: nothing is recorded here
  int64_t mono_ns = 0;
  int64_t bound_ns = INT64_MAX;  // by how much mono_ns can be wrong
};

// A thread that loses its core between two looks may be away for milliseconds.
Moment FindMoment() noexcept {
  Moment found;
  for (int i = 0; i < kMostLooks && found.bound_ns > kOneLookNs / 2; ++i) {
    const int64_t before = MonotonicNs();
    const uint64_t ticks = record::TicksNow();
    const int64_t bound = (MonotonicNs() - before) / 2 + 1;
    if (bound >= found.bound_ns) continue;
    found = {.ticks = ticks, .mono_ns = before + bound, .bound_ns = bound};
  }
  return found;
}

void MeasureAndRecord() noexcept {
  int rank = 0;
  int size = 0;
  sync_rank(Abi().comm_world, &rank);
  sync_size(Abi().comm_world, &size);
  Offset own;
  if (!Measure(rank, size, own) || !record::IsOn()) return;
  const Moment now = FindMoment();
  if (now.ticks == 0) return;
  const record::CapturedArg args[] = {
      record::IntArg("mono_ns", now.mono_ns),
      record::IntArg("offset_ns", own.offset_ns),
      record::IntArg("bound_ns", own.bound_ns + now.bound_ns)};
  record::RecordCapturedInstantAt(
      now.ticks, {.name = {.id = record::LiteralId("MPI clock")},
                  .args = args,
                  .arg_count = std::size(args)});
}

}  // namespace

void StartClocks() noexcept {
  int rank = 0;
  int size = 0;
  sync_rank(Abi().comm_world, &rank);
  sync_size(Abi().comm_world, &size);
  if (AllRanksMeet(rank, size) && exchange.Open()) MeasureAndRecord();
}

void EndClocks() noexcept {
  if (exchange.is_open()) MeasureAndRecord();
}

}  // namespace kymo::mpi
