// ring_watch.h - calls a function as soon as a perf event has a sample.
//
//   RingWatch watch;
//   watch.Start([&] { return Descriptors(); }, [&] { Read(); });
//   watch.Stop();                        // Read() runs no more
//
// For samples that must be read soon. The events must wake their readers
// (WakeAtEachSample). `descriptors` is called before each wait, so events may
// be replaced; a new one is noticed after at most 100 ms. A descriptor whose
// processes have all ended is left out.
//
// Threads: both functions run on a thread of the watch's own. Start and Stop
//   from one thread.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_RING_WATCH_H_
#define KYMO_BACKENDS_SAMPLING_PERF_RING_WATCH_H_

#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "profiler/base/owned_descriptor.h"

namespace kymo::sampling {

class RingWatch {
 public:
  RingWatch() = default;
  RingWatch(const RingWatch&) = delete;
  RingWatch& operator=(const RingWatch&) = delete;
  ~RingWatch() { Stop(); }

  // Does nothing if it runs, or if there can be no thread: then somebody else
  // reads the rings every few milliseconds.
  void Start(std::function<std::vector<int>()> descriptors,
             std::function<void()> read);
  void Stop();
  bool is_running() const noexcept { return thread_.joinable(); }

 private:
  void Run();
  // False if it is to end.
  bool Wait();

  std::function<std::vector<int>()> descriptors_;
  std::function<void()> read_;
  OwnedDescriptor end_;  // readable: end
  std::vector<int> watched_;
  std::set<int> ended_;  // of these
  std::thread thread_;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_RING_WATCH_H_
