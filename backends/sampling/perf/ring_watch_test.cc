#include "backends/sampling/perf/ring_watch.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "profiler/base/clock.h"
#include "profiler/base/owned_descriptor.h"

namespace kymo::sampling {
namespace {

// A descriptor that becomes ready, as an event's does with each sample.
class FakeEvent {
 public:
  FakeEvent() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  void Sample() const { eventfd_write(fd_.get(), 1); }
  // False if there was none.
  bool Take() const {
    eventfd_t count = 0;
    return eventfd_read(fd_.get(), &count) == 0;
  }
  int get() const { return fd_.get(); }

 private:
  const OwnedDescriptor fd_;
};

void WaitUntil(const std::atomic<int>& count, int wanted) {
  while (count < wanted) usleep(100);
}

TEST(RingWatchTest, ReadsWhenThereIsASample) {
  const FakeEvent event;
  std::atomic<int> samples = 0;
  RingWatch watch;
  watch.Start([&] { return std::vector{event.get()}; },
              [&] { samples += event.Take() ? 1 : 0; });
  EXPECT_TRUE(watch.is_running());
  for (int i = 1; i <= 3; ++i) {
    event.Sample();
    WaitUntil(samples, i);
  }
  watch.Stop();
  EXPECT_FALSE(watch.is_running());
  event.Sample();
  usleep(1'000);
  EXPECT_EQ(samples, 3);  // it reads no more
}

TEST(RingWatchTest, EventsMayBeReplaced) {
  const FakeEvent first;
  const FakeEvent second;
  std::atomic<int> current = first.get();
  std::atomic<int> samples = 0;
  RingWatch watch;
  watch.Start([&] { return std::vector<int>{current}; },
              [&] { samples += first.Take() || second.Take() ? 1 : 0; });
  first.Sample();
  WaitUntil(samples, 1);
  current = second.get();
  second.Sample();
  WaitUntil(samples, 2);
}

// As the event of a process that has ended: it is ready at all times.
TEST(RingWatchTest, AnEventThatHasEndedDoesNotKeepItBusy) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[1]);  // the other end is then ready for ever
  const OwnedDescriptor ended(ends[0]);
  const FakeEvent event;
  std::atomic<int> reads = 0;
  std::atomic<int> samples = 0;
  RingWatch watch;
  watch.Start(
      [&] {
        return std::vector{ended.get(), event.get()};
      },
      [&] {
        ++reads;
        samples += event.Take() ? 1 : 0;
      });
  event.Sample();
  WaitUntil(samples, 1);
  const int64_t begin_ns = MonotonicNs();
  const int before = reads;
  usleep(20'000);
  const int after = reads;
  // One for the pause of 100 ms that may end now. Without the rule: thousands.
  EXPECT_LE(after - before, 3 + (MonotonicNs() - begin_ns) / (100 * kNsPerMs));
  event.Sample();
  WaitUntil(samples, 2);
}

}  // namespace
}  // namespace kymo::sampling
