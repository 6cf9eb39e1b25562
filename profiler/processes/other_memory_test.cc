#include "profiler/processes/other_memory.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace kymo::processes {
namespace {

constexpr int64_t kPid = 1234;

// A kernel in which somebody may have the lock of the process's mappings.
class PatientReaderTest : public ::testing::Test {
 protected:
  ~PatientReaderTest() override {
    // What still waits in Read uses this.
    Unlock();
    while (inside_ != 0) usleep(100);
  }

  void Lock() { is_locked_ = true; }
  void Unlock() { is_locked_ = false; }
  // A lock that is given back after 25 ms.
  void LockShortly() { shortly_ = true; }

  ssize_t Read(std::string* into) {
    into->assign(3, '-');
    const PatientReader::Read read = [this](std::span<std::byte> bytes) {
      return ReadLocked(bytes);
    };
    return reader_.ReadFrom(kPid, std::as_writable_bytes(std::span(*into)),
                            read, [&] { return read; });
  }

  std::atomic<bool> is_locked_ = false;
  std::atomic<bool> shortly_ = false;
  std::atomic<bool> busy_ = false;  // without a wait
  std::atomic<int> inside_ = 0;
  std::atomic<int> reads_ = 0;
  size_t threads_ = 1;
  PatientReader reader_{[this](int64_t) { return threads_; }, /*cpus=*/2};

 private:
  ssize_t ReadLocked(std::span<std::byte> into) {
    ++inside_;
    ++reads_;
    while (is_locked_) usleep(100);
    if (shortly_.exchange(false)) usleep(25'000);
    if (busy_.exchange(false)) {
      const auto begin = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - begin <
             std::chrono::milliseconds(25)) {
      }
    }
    memcpy(into.data(), "abc", into.size());
    --inside_;
    return static_cast<ssize_t>(into.size());
  }
};

TEST_F(PatientReaderTest, ReadsByItselfWhereNobodyIsInTheWay) {
  std::string text;
  EXPECT_EQ(Read(&text), 3);
  EXPECT_EQ(text, "abc");
}

TEST_F(PatientReaderTest, GivesUpOnAProcessOfManyThreads) {
  threads_ = 500;
  Lock();
  std::string text;
  EXPECT_EQ(Read(&text), -1);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_EQ(text, "---");
  // At once, because the other thread still waits.
  EXPECT_EQ(Read(&text), -1);
  EXPECT_EQ(errno, EBUSY);
  while (reads_ == 0) usleep(100);
  EXPECT_EQ(reads_, 1);
  Unlock();
  while (Read(&text) < 0) usleep(100);
  EXPECT_EQ(text, "abc");
}

TEST_F(PatientReaderTest, GivesUpOnAProcessThatKeptItWaiting) {
  LockShortly();
  std::string text;
  EXPECT_EQ(Read(&text), 3);
  Lock();
  EXPECT_EQ(Read(&text), -1);
  EXPECT_EQ(errno, EBUSY);
}

TEST_F(PatientReaderTest, GivesUpOnNoProcessBecauseOthersHadTheCpu) {
  busy_ = true;
  std::string text;
  EXPECT_EQ(Read(&text), 3);
  Lock();
  std::thread unlocker([this] {
    usleep(10'000);
    Unlock();
  });
  EXPECT_EQ(Read(&text), 3);  // it waits
  unlocker.join();
}

// Several threads read, some of them while the others' reads are given up.
TEST_F(PatientReaderTest, EachCallerGetsWhatItAskedFor) {
  threads_ = 500;
  std::vector<std::thread> callers;
  for (size_t size : {1, 2000, 50, 3000}) {
    callers.emplace_back([this, size] {
      for (int i = 0; i < 5000; ++i) {
        std::vector<std::byte> bytes(size);
        const PatientReader::Read read = [size](std::span<std::byte> into) {
          std::ranges::fill(into, static_cast<std::byte>(size));
          return static_cast<ssize_t>(into.size());
        };
        const ssize_t got =
            reader_.ReadFrom(kPid, bytes, read, [&] { return read; });
        if (got < 0) continue;  // another one was before it
        EXPECT_EQ(got, static_cast<ssize_t>(size));
        EXPECT_EQ(std::ranges::count(bytes, static_cast<std::byte>(size)), got);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(OtherMemoryTest, ReadsPiecesOfAnotherProcess) {
  std::array<char, 7> words = {"abcdef"};
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  const std::array<iovec, 2> pieces = {iovec{words.data() + 4, 2},
                                       iovec{words.data(), 3}};
  std::string text(5, '-');
  EXPECT_EQ(ReadOtherMemory(child, child, pieces,
                            std::as_writable_bytes(std::span(text))),
            5);
  EXPECT_EQ(text, "efabc");
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(ReadOtherMemory(child, child, pieces,
                            std::as_writable_bytes(std::span(text))),
            -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(OtherMemoryTest, ReadsArguments) {
  std::ifstream file("/proc/self/cmdline");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(ReadArguments(getpid()), text);
  EXPECT_EQ(ReadArguments(1 << 30), "");
}

}  // namespace
}  // namespace kymo::processes
