#include "backends/stream/door_target.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "profiler/base/clock.h"
#include "profiler/base/descriptor.h"
#include "profiler/processes/process_list.h"

namespace kymo::stream {

void Renumber(const ShardSize& before, const OuterNumbers& outer,
              model::TraceShard& shard) {
  if (outer.empty()) return;
  const auto change = [&](int64_t& number) {
    const auto known = outer.find(number);
    if (known != outer.end()) number = known->second;
  };
  for (size_t i = before.processes; i < shard.processes.size(); ++i) {
    change(shard.processes[i].pid);
    // Outside, another process has the number that the program sees.
    shard.processes[i].parent_pid = 0;
  }
  for (size_t i = before.tracks; i < shard.tracks.size(); ++i) {
    change(shard.tracks[i].pid);
    change(shard.tracks[i].id);
  }
}

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
  NoteNumbers();
  return door_->Begin(wishes);
}

void DoorTarget::End() {
  end_ = door_->End();
  NoteNumbers();
}

void DoorTarget::Leave(const ShardSize& before_filling,
                       model::TraceShard& shard) {
  Renumber(before_filling, outer_, shard);
  door_.reset();
}

void DoorTarget::NoteNumbers() {
  const pid_t pid = door_->pid();
  if (processes::InnerNumberOf(pid, pid) == pid) return;
  for (const pid_t tid : processes::ThreadsOf(pid)) {
    const pid_t inner = processes::InnerNumberOf(pid, tid);
    if (inner != 0) outer_[inner] = tid;
  }
}

}  // namespace kymo::stream
