#include "backends/sampling/perf/ring_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <system_error>
#include <utility>

#include "backends/sampling/perf/go_first.h"
#include "profiler/base/descriptor.h"

namespace kymo::sampling {
namespace {

constexpr int kLongestWaitMs = 100;

}  // namespace

void RingWatch::Start(std::function<std::vector<int>()> descriptors,
                      std::function<void()> read) {
  if (is_running()) return;
  end_ = OwnedDescriptor(
      AboveStandardStreams(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  if (end_.get() < 0) return;
  descriptors_ = std::move(descriptors);
  read_ = std::move(read);
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    // No thread.
  }
}

void RingWatch::Stop() {
  if (!is_running()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(end_.get(), &one, sizeof(one));
  thread_.join();
}

void RingWatch::Run() {
  // On a machine that is full, what is to be read soon would be gone.
  GoFirst();
  while (Wait()) read_();
}

bool RingWatch::Wait() {
  std::vector<int> descriptors = descriptors_();
  if (descriptors != watched_) {
    watched_ = std::move(descriptors);
    ended_.clear();
  }
  std::vector<pollfd> waited = {{end_.get(), POLLIN, 0}};
  for (const int fd : watched_) {
    if (!ended_.contains(fd)) waited.push_back({fd, POLLIN, 0});
  }
  poll(waited.data(), waited.size(), kLongestWaitMs);
  // Without its processes, an event is ready at all times.
  for (size_t i = 1; i < waited.size(); ++i) {
    if ((waited[i].revents & ~POLLIN) != 0) ended_.insert(waited[i].fd);
  }
  return waited[0].revents == 0;
}

}  // namespace kymo::sampling
