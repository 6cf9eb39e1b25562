#include "backends/mpi/target/exchange.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#include "profiler/base/clock.h"

namespace kymo::mpi {
namespace {

constexpr int kTag = 1;
// Looks at a request between those at the clock.
constexpr int kLooks = 64;
// After so long the partner is late, and no round trip is measured any more.
constexpr int64_t kSpinNs = 20'000'000;

constinit OwnFunction<3> comm_idup("PMPI_Comm_idup");
constinit OwnFunction<7> isend("PMPI_Isend");
constinit OwnFunction<7> irecv("PMPI_Irecv");
constinit OwnFunction<3> test("PMPI_Test");
constinit OwnFunction<1> cancel("PMPI_Cancel");
constinit OwnFunction<1> request_free("PMPI_Request_free");

void Pause(int64_t waited_ns) noexcept {
  if (waited_ns < kSpinNs) {
    sched_yield();
    return;
  }
  const timespec pause = {.tv_nsec = 100'000};
  nanosleep(&pause, nullptr);
}

}  // namespace

bool Exchange::Complete(Word& request, int64_t limit_ns) noexcept {
  const int64_t begin = MonotonicNs();
  for (;;) {
    for (int look = 0; look < kLooks; ++look) {
      int is_done = 0;
      const int result = test(&request, &is_done, Abi().status_ignore);
      if (result != kSuccess) return false;
      if (is_done != 0) return true;
    }
    const int64_t waited = MonotonicNs() - begin;
    if (waited > limit_ns) return false;
    Pause(waited);
  }
}

bool Exchange::Open() noexcept {
  Word request = 0;
  // If it is not complete in time, it stays as it is: nothing can cancel it.
  if (comm_idup(Abi().comm_world, &new_comm_, &request) != kSuccess ||
      !Complete(request, kLimitNs)) {
    return false;
  }
  comm_ = Handle(new_comm_);
  return true;
}

bool Exchange::Send(int peer, const void* data, size_t bytes) noexcept {
  if (comm_ == 0) return false;
  memcpy(out_, data, bytes);
  Word request = 0;
  if (isend(out_, bytes, Abi().type_byte, peer, kTag, comm_, &request) ==
          kSuccess &&
      Complete(request, kLimitNs)) {
    return true;
  }
  comm_ = 0;
  return false;
}

void Exchange::SendLast(int peer, int64_t value) noexcept {
  if (new_comm_ == 0) return;
  last_ = value;
  Word request = 0;
  if (isend(&last_, sizeof(last_), Abi().type_byte, peer, kTag,
            Handle(new_comm_), &request) == kSuccess) {
    request_free(&request);
  }
}

bool Exchange::Receive(int peer, void* data, size_t bytes,
                       int64_t limit_ns) noexcept {
  if (comm_ == 0) return false;
  Word request = 0;
  if (irecv(in_, bytes, Abi().type_byte, peer, kTag, comm_, &request) ==
      kSuccess) {
    if (Complete(request, limit_ns)) {
      memcpy(data, in_, bytes);
      return true;
    }
    cancel(&request);
    request_free(&request);
  }
  comm_ = 0;
  return false;
}

}  // namespace kymo::mpi
