#include "backends/sampling/python/frame_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "profiler/base/time.h"

namespace kymo::sampling {
namespace {

constexpr int64_t kPid = 10;
constexpr int64_t kTid = 11;
constexpr uint64_t kPage = 0x7f0000010000;
constexpr uint64_t kNext = kPage + kFramePageBytes;

// Each page is full of its number, and kNext is not there.
size_t ReadNumbers(int64_t pid, std::span<const uint64_t> pages,
                   std::span<std::byte> into) {
  EXPECT_EQ(pid, kPid);
  for (size_t i = 0; i < pages.size(); ++i) {
    if (pages[i] == kNext) return i;
    std::ranges::fill(into.subspan(i * kFramePageBytes, kFramePageBytes),
                      static_cast<std::byte>(pages[i] / kFramePageBytes));
  }
  return pages.size();
}

// Only what takes long lets time pass, so that a busy machine changes nothing.
int64_t now_ns = kNsPerSecond;
int64_t Now() { return now_ns; }

size_t ReadSlowly(int64_t pid, std::span<const uint64_t> pages,
                  std::span<std::byte> into) {
  now_ns += 60 * kNsPerMs;
  return ReadNumbers(pid, pages, into);
}

std::vector<uint64_t> PagesOf(const FrameCopy& copy) {
  return {copy.pages.begin(),
          copy.pages.begin() + static_cast<ptrdiff_t>(copy.page_count)};
}

TEST(FrameCopiesTest, TakesThePagesOfTheStackBefore) {
  FrameCopies copies(ReadNumbers, Now);
  const uint64_t other = kPage + 8 * kFramePageBytes;
  EXPECT_TRUE(copies.Take(kPid, kTid, 1));  // no Python, as far as is known
  copies.Learn(kPid, kTid, std::vector{kPage, other}, false);
  EXPECT_TRUE(copies.Take(kPid, kTid, 2));
  EXPECT_EQ(copies.Find(kTid, 1), nullptr);
  const auto copy = copies.Find(kTid, 2);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(PagesOf(*copy), (std::vector{other, kPage}));
  std::array<std::byte, 16> bytes;
  EXPECT_TRUE(copy->Read(other + 8, bytes));
  EXPECT_EQ(bytes[0], static_cast<std::byte>(other / kFramePageBytes));
  EXPECT_TRUE(copy->Read(kPage + kFramePageBytes - 16, bytes));
  EXPECT_FALSE(copy->Read(kPage + kFramePageBytes - 8, bytes));
  EXPECT_EQ(copies.Find(kTid, 2), nullptr);
}

TEST(FrameCopiesTest, AFrameMayLieInTwoPages) {
  FrameCopies copies(ReadNumbers, Now);
  copies.Learn(kPid, kTid, std::vector{kPage, kPage - kFramePageBytes}, false);
  copies.Take(kPid, kTid, 1);
  const auto copy = copies.Find(kTid, 1);
  ASSERT_NE(copy, nullptr);
  std::array<std::byte, 16> bytes;
  EXPECT_TRUE(copy->Read(kPage - 8, bytes));
  EXPECT_EQ(bytes[8], static_cast<std::byte>(kPage / kFramePageBytes));
  EXPECT_EQ(bytes[7], static_cast<std::byte>(kPage / kFramePageBytes - 1));
}

TEST(FrameCopiesTest, AlsoTakesThePageBehindAndThoseOfEarlierStacks) {
  FrameCopies copies(ReadNumbers, Now);
  const uint64_t far = kPage + 100 * kFramePageBytes;
  copies.Learn(kPid, kTid, std::vector{kPage}, false);
  copies.Learn(kPid, kTid, std::vector{far}, false);
  copies.Take(kPid, kTid, 1);
  const auto copy = copies.Find(kTid, 1);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->pages[0], far);
  EXPECT_EQ(copy->pages[1], kPage);
  // What may not be there is the last.
  std::vector<uint64_t> many;
  for (size_t i = 0; i < kMostFramePages - 1; ++i) {
    many.push_back(far + (10 + 2 * i) * kFramePageBytes);
  }
  copies.Learn(kPid, kTid, many, false);
  copies.Take(kPid, kTid, 2);
  const auto full = copies.Find(kTid, 2);
  ASSERT_NE(full, nullptr);
  std::ranges::reverse(many);
  many.push_back(many.back() + kFramePageBytes);
  EXPECT_EQ(PagesOf(*full), many);
}

TEST(FrameCopiesTest, GoesOnBehindPagesThatAreGone) {
  FrameCopies copies(ReadNumbers, Now);
  const uint64_t far = kPage + 100 * kFramePageBytes;
  // The frames of a deep stack; those from kNext on are gone, and so is the
  // page beside.
  copies.Learn(kPid, kTid,
               std::vector{far, kNext + kFramePageBytes, kNext, kPage}, false);
  EXPECT_TRUE(copies.Take(kPid, kTid, 1));
  const auto copy = copies.Find(kTid, 1);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(PagesOf(*copy), (std::vector{kPage, far, far + kFramePageBytes}));
  std::array<std::byte, 16> bytes;
  EXPECT_FALSE(copy->Read(kNext, bytes));
  EXPECT_TRUE(copy->Read(far, bytes));
  EXPECT_EQ(bytes[0], static_cast<std::byte>(far / kFramePageBytes));
}

TEST(FrameCopiesTest, GivesUpAProcessThatIsGone) {
  static int calls;
  calls = 0;
  FrameCopies copies([](int64_t, std::span<const uint64_t>,
                        std::span<std::byte>) -> size_t { return ++calls, 0; },
                     Now);
  std::vector<uint64_t> pages;
  for (uint64_t i = 0; i < 20; ++i) {
    pages.push_back(kPage + 2 * i * kFramePageBytes);
  }
  copies.Learn(kPid, kTid, pages, false);
  EXPECT_TRUE(copies.Take(kPid, kTid, 1));
  EXPECT_LE(calls, 9);
  EXPECT_EQ(copies.Find(kTid, 1)->page_count, 0);
}

TEST(FrameCopiesTest, LeavesOutPagesThatHadNoFramesForLong) {
  FrameCopies copies(ReadNumbers, Now);
  const uint64_t far = kPage + 100 * kFramePageBytes;
  copies.Learn(kPid, kTid, std::vector{far}, false);
  uint64_t now = 0;
  const auto take = [&] {
    copies.Take(kPid, kTid, ++now);
    const auto copy = copies.Find(kTid, now);
    return copy == nullptr ? std::vector<uint64_t>{} : PagesOf(*copy);
  };
  for (int i = 0; i < 150; ++i) {
    copies.Learn(kPid, kTid, std::vector{kPage}, false);
  }
  EXPECT_THAT(take(), testing::Contains(far));
  for (int i = 0; i < 150; ++i) {
    copies.Learn(kPid, kTid, std::vector{kPage}, false);
  }
  EXPECT_EQ(take(), std::vector{kPage});
}

TEST(FrameCopiesTest, AnotherProgramOfAProcessNeedNotBePython) {
  FrameCopies copies(ReadNumbers, Now);
  copies.Learn(kPid, kPid, std::vector{kPage}, false);
  EXPECT_FALSE(copies.Take(kPid, kTid, 1));
  copies.Forget(kPid);
  EXPECT_TRUE(copies.Take(kPid, kTid, 2));
}

TEST(FrameCopiesTest, SaysWhichStacksShouldBeUnwoundSoon) {
  FrameCopies copies(ReadNumbers, Now);
  copies.Learn(kPid, kTid, std::vector{kPage}, /*was_late=*/true);
  EXPECT_FALSE(copies.Take(kPid, kTid, 1));
  copies.Learn(kPid, kTid, std::vector{kPage}, /*was_late=*/false);
  EXPECT_TRUE(copies.Take(kPid, kTid, 2));
  EXPECT_FALSE(copies.Take(kPid, kTid + 1, 3));  // a thread that is new
  EXPECT_TRUE(copies.Take(kPid + 1, kTid + 2, 4));
  copies.Learn(kPid, kTid + 1, {}, false);
  EXPECT_TRUE(copies.Take(kPid, kTid + 1, 5));  // it runs no Python
}

TEST(FrameCopiesTest, AnotherProcessMayGetAThreadsNumber) {
  FrameCopies copies(ReadNumbers, Now);
  copies.Learn(kPid, kTid, std::vector{kPage}, false);
  EXPECT_TRUE(copies.Take(kPid + 1, kTid, 1));
  EXPECT_EQ(copies.Find(kTid, 1), nullptr);
  copies.Forget(kTid);
  copies.Take(kPid, kTid, 2);
  EXPECT_EQ(copies.Find(kTid, 2), nullptr);
}

TEST(FrameCopiesTest, AProgramThatIsSlowToReadIsLeftAloneForASecond) {
  FrameCopies copies(ReadSlowly, Now);
  copies.Learn(kPid, kTid, std::vector{kPage}, false);
  EXPECT_TRUE(copies.Take(kPid, kTid, 1));
  EXPECT_FALSE(copies.Take(kPid, kTid, 2));
  EXPECT_EQ(copies.Find(kTid, 2), nullptr);
  now_ns += kNsPerSecond;
  EXPECT_TRUE(copies.Take(kPid, kTid, 3));
  EXPECT_NE(copies.Find(kTid, 3), nullptr);
}

TEST(FrameCopiesTest, KeepsOnlySoMany) {
  FrameCopies copies(ReadNumbers, Now);
  copies.Learn(kPid, kTid, std::vector{kPage}, false);
  // Each has the page and the one behind it.
  constexpr uint64_t kMost = FrameCopies::kMostBytes / (2 * kFramePageBytes);
  for (uint64_t i = 1; i <= kMost; ++i) copies.Take(kPid, kTid, i);
  EXPECT_FALSE(copies.Take(kPid, kTid, kMost + 1));
  // The older ones make room.
  copies.GiveBack(copies.Find(kTid, kMost));
  EXPECT_TRUE(copies.Take(kPid, kTid, kMost + 2));
  EXPECT_NE(copies.Find(kTid, kMost + 2), nullptr);
}

TEST(FrameCopiesReadProcessTest, EndsAtAPageThatIsNotThere) {
  constexpr size_t kPages = 6;
  auto* const memory = static_cast<std::byte*>(
      mmap(nullptr, kPages * kFramePageBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  std::vector<uint64_t> pages;
  for (const size_t page : {5, 0, 1, 2, 3}) {
    memory[page * kFramePageBytes] = std::byte(page + 1);
    pages.push_back(
        reinterpret_cast<uint64_t>(memory + page * kFramePageBytes));
  }
  ASSERT_EQ(munmap(memory + 2 * kFramePageBytes, kFramePageBytes), 0);
  std::vector<std::byte> copied(pages.size() * kFramePageBytes);
  EXPECT_EQ(FrameCopies::ReadProcess(getpid(), pages, copied), 3u);
  EXPECT_EQ(copied[0], std::byte{6});
  EXPECT_EQ(copied[kFramePageBytes], std::byte{1});
  EXPECT_EQ(copied[2 * kFramePageBytes], std::byte{2});
  munmap(memory, kPages * kFramePageBytes);
}

}  // namespace
}  // namespace kymo::sampling
