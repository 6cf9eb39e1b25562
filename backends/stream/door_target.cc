#include "backends/stream/door_target.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "profiler/base/clock.h"
#include "profiler/base/descriptor.h"

namespace kymo::stream {

absl::StatusOr<record::Arena> DoorTarget::Take(int* fd) const {
  *fd = fcntl(door_->arena(), F_DUPFD_CLOEXEC, kFirstOwnDescriptor);
  const record::Arena arena = record::Arena::Attach(*fd);
  if (arena.valid()) return arena;
  return absl::ErrnoToStatus(
      errno, absl::StrCat("cannot map the records of ", door_->name()));
}

absl::Status DoorTarget::Begin(const record::Arena& arena,
                               const door::Wishes& wishes) {
  before_ = {.ticks = ReadTicks(arena.clock_source()),
             .first_ticket =
                 arena.header().next_ticket.load(std::memory_order_relaxed),
             .losses = ReadLosses(arena),
             .heap = ReadHeapNumbers(arena)};
  return door_->Begin(wishes);
}

}  // namespace kymo::stream
