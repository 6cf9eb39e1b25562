#include "profiler/record/host/restricted_calls.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <iterator>
#include <span>
#include <string>

#include "profiler/base/clock.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/host/host.h"
#include "profiler/record/range.h"

namespace kymo::record {
namespace {

constexpr int kRanges = 3 * kSlotsPerChunk;

void Record(Literal name) {
  OpenRange range;
  BeginRange(range, name, RecordScope::kFunction);
  EndRange(range);
}

// As the filter of sshd's process before the login.
void EndAtPrctlAndMadvise() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {.len = std::size(filter), .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    _exit(3);
  }
}

TEST(RestrictedCallsTest, AProgramThatRestrictsItsCallsIsRecordedOn) {
  int fd = -1;
  const Arena arena =
      Arena::CreateShared({.capacity_bytes = 16 * kChunkBytes,
                           .chunk_bytes_total = 16 * kChunkBytes,
                           .clock_source = DetectClockSource()},
                          &fd);
  ASSERT_TRUE(arena.valid());
  arena.header().recording.store(1);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  setenv(kArenaVariable, path.c_str(), 1);
  ASSERT_TRUE(IsRecording());
  const pid_t child = fork();
  if (child == 0) {
    Record("before");
    calls_are_restricted = true;
    EndAtPrctlAndMadvise();
    for (int i = 0; i < kRanges; ++i) Record("restricted");
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "31: because of a system call";
  int count = 0;
  ChunkReader(arena).ReadAll([&](const ChunkView& view) {
    ForEachRecord(view, [&](const Slot& head, std::span<const Slot>, uint32_t) {
      count += arena.NameText(head.name) == "restricted";
    });
  });
  EXPECT_EQ(count, kRanges);
}

}  // namespace
}  // namespace kymo::record
