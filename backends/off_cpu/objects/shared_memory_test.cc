#include "backends/off_cpu/objects/shared_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kymo::off_cpu {
namespace {

uint64_t Address(const void* at) { return reinterpret_cast<uint64_t>(at); }

// Memory that is unmapped at the end.
class Mapped {
 public:
  Mapped(int flags, int fd)
      : at_(static_cast<char*>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, flags, fd, 0))) {}
  ~Mapped() { munmap(at_, kBytes); }
  uint64_t address() const { return Address(at_); }

 private:
  static constexpr size_t kBytes = 8192;
  char* const at_;
};

TEST(SharedMemoryTest, ProcessesThatMapAFileShareItWhereverItIs) {
  const int fd = memfd_create("locks", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, 8192), 0);
  const Mapped one(MAP_SHARED, fd);
  const Mapped other(MAP_SHARED, fd);
  close(fd);
  SharedMemory memory;
  const auto at_one = memory.At(getpid(), 0, one.address() + 0x40);
  const auto at_other = memory.At(getpid(), 0, other.address() + 0x40);
  ASSERT_TRUE(at_one && at_other);
  EXPECT_EQ(at_one->file, "/memfd:locks");
  EXPECT_EQ(at_one->file, at_other->file);
  EXPECT_EQ(at_one->id, at_other->id);
  EXPECT_EQ(one.address() + at_one->delta, 0u);
  EXPECT_EQ(other.address() + at_other->delta, 0u);
}

TEST(SharedMemoryTest, ChildrenShareMemoryWithoutAName) {
  const Mapped shared(MAP_SHARED | MAP_ANONYMOUS, -1);
  const Mapped more(MAP_SHARED | MAP_ANONYMOUS, -1);
  const Mapped own(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  SharedMemory memory;
  const auto here = memory.At(getpid(), 0, shared.address());
  EXPECT_EQ(here->file, "memory");
  EXPECT_EQ(here, memory.At(child, getpid(), shared.address()));
  EXPECT_NE(here->id, memory.At(child, getpid(), more.address())->id);
  EXPECT_FALSE(memory.At(child, getpid(), own.address()));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  // Nobody can read any more what it had.
  SharedMemory later;
  later.At(getpid(), 0, shared.address());
  EXPECT_EQ(here, later.At(child, getpid(), shared.address()));
}

}  // namespace
}  // namespace kymo::off_cpu
