#include "profiler/unwind/readable_stack.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <thread>

namespace kymo::unwind {
namespace {

constexpr size_t kPage = 4096;

uint64_t Here() {
  return reinterpret_cast<uint64_t>(__builtin_frame_address(0));
}

class Pages {
 public:
  explicit Pages(size_t count)
      : bytes_(count * kPage),
        begin_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Pages() { munmap(begin_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  uint64_t At(size_t page) const {
    return reinterpret_cast<uint64_t>(begin_) + page * kPage;
  }
  void Protect(size_t page) {
    mprotect(reinterpret_cast<void*>(At(page)), kPage, PROT_NONE);
  }

 private:
  size_t bytes_;
  void* begin_;
};

TEST(ReadableStackTest, KnowsReadablePages) {
  Pages pages(3);
  pages.Protect(1);
  errno = 77;
  EXPECT_TRUE(IsReadable(pages.At(0) + 123));
  EXPECT_FALSE(IsReadable(pages.At(1)));
  EXPECT_FALSE(IsReadable(pages.At(2) - 1));
  EXPECT_TRUE(IsReadable(pages.At(2)));
  for (const uint64_t nowhere : {uint64_t{0}, uint64_t{7}, ~uint64_t{0},
                                 uint64_t{1} << 47, uint64_t{1} << 63}) {
    EXPECT_FALSE(IsReadable(nowhere));
  }
  EXPECT_EQ(errno, 77);
}

TEST(ReadableStackTest, KnowsItsOwnStackUpToTheTop) {
  const auto check = [] {
    const uint64_t sp = Here() & ~uint64_t{7};
    ReadableStack stack(sp);
    EXPECT_TRUE(stack.Contains(sp));
    EXPECT_TRUE(stack.Contains(sp + 64));
    EXPECT_FALSE(stack.Contains(sp + 1));
    EXPECT_FALSE(stack.Contains(sp - 8));
    EXPECT_FALSE(stack.Contains(sp + (uint64_t{1} << 40)));
    EXPECT_FALSE(stack.Contains(0));
    EXPECT_FALSE(stack.Contains(~uint64_t{7}));
  };
  check();
  std::thread(check).join();
}

TEST(ReadableStackTest, AnotherStackEndsWhereItCannotBeRead) {
  Pages pages(6);
  pages.Protect(0);
  pages.Protect(4);
  ReadableStack stack(pages.At(2) + 64);
  EXPECT_TRUE(stack.Contains(pages.At(2) + 64));
  EXPECT_FALSE(stack.Contains(pages.At(2)));
  EXPECT_TRUE(stack.Contains(pages.At(4) - 8));
  EXPECT_FALSE(stack.Contains(pages.At(4)));
  EXPECT_FALSE(stack.Contains(pages.At(5)));  // there is a gap before it
  EXPECT_TRUE(stack.Contains(pages.At(3)));
}

TEST(ReadableStackTest, FollowsFromOneStackToAnother) {
  Pages pages(2);
  ReadableStack stack(pages.At(0));
  EXPECT_TRUE(stack.Contains(pages.At(0)));
  const uint64_t sp = Here() & ~uint64_t{7};
  stack.MoveTo(sp);
  EXPECT_TRUE(stack.Contains(sp));
  EXPECT_FALSE(stack.Contains(pages.At(0)));
}

// The memory of a stack that is gone must not be assumed readable.
// A frame may be up to a mebibyte further than what was found readable.
TEST(ReadableStackTest, AFrameHasALimit) {
  constexpr size_t kMostPages = (size_t{1} << 20) / kPage;
  Pages pages(kMostPages + 4);
  {
    ReadableStack stack(pages.At(0));
    EXPECT_FALSE(stack.Contains(pages.At(kMostPages) + 8));
  }
  {
    ReadableStack stack(pages.At(0));
    EXPECT_TRUE(stack.Contains(pages.At(kMostPages)));
    // From there on it goes as far again.
    EXPECT_TRUE(stack.Contains(pages.At(kMostPages + 3)));
  }
}

TEST(ReadableStackTest, AsksAgainInEveryCapture) {
  Pages pages(3);
  {
    ReadableStack stack(pages.At(0));
    EXPECT_TRUE(stack.Contains(pages.At(2)));
  }
  pages.Protect(1);
  ReadableStack stack(pages.At(0));
  EXPECT_FALSE(stack.Contains(pages.At(2)));
}

}  // namespace
}  // namespace kymo::unwind
