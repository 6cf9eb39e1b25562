// outer_frames.h - the callers that a stack lacks, from the stack before it.
//
//   OuterFrames known;
//   if (!known.Complete(tid, image, copy, read, &stack)) ...  // no root
//
// Of some stacks only the inner part is found: the rest was deeper than the
// copy, the kernel stopped copying at memory that the thread never touched, or
// a function of hand-written assembly has no table. But a thread stays in its
// outer functions for long, each at one place of its stack. So the outermost
// frames of the last whole stack of the thread stand for those that are
// missing, as far as they lie above the last frame that was found, and as their
// return addresses are still on the stack: in the copy or, beyond it, in the
// thread's memory.
//
// Between the two parts stands a frame of ModuleTable::kCut, because what was
// called between them is not known. Watched frames (unwinder.h) are remembered
// with what they had in their registers then.
//
// Threads: none. Memory: 32 bytes for each frame of the last whole stack of at
//   most 4096 threads, and 160 for each that is watched.
#ifndef KYMO_BACKENDS_SAMPLING_UNWIND_OUTER_FRAMES_H_
#define KYMO_BACKENDS_SAMPLING_UNWIND_OUTER_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "backends/sampling/unwind/stack_copy.h"
#include "backends/sampling/unwind/unwinder.h"
#include "profiler/symbolize/code_place.h"

namespace kymo::sampling {

class OuterFrames {
 public:
  static constexpr size_t kMostThreads = 4096;

  // Reads words of the thread's memory. Returns how many could be read, from
  // the first one on.
  using ReadWords = std::function<size_t(std::span<const uint64_t> addresses,
                                         std::span<uint64_t> values)>;

  // Keeps a whole stack of the thread, which runs the program `image`. One that
  // is not whole gets the callers that it lacks; false if they are not known.
  bool Complete(int64_t tid, int64_t image, const StackCopy& copy,
                const ReadWords& read, UnwoundStack* stack);
  // The thread ended, or runs another program.
  void Forget(int64_t tid) { threads_.erase(tid); }

 private:
  struct Frame {
    symbolize::CodePlace place;
    UnwoundFrame at;
  };

  struct Thread {
    int64_t image = 0;
    // Leaf first, without the leaf: its place changes all the time.
    std::vector<Frame> frames;
    std::vector<WatchedFrame> watched;  // their indexes are those of `frames`
  };

  void Keep(int64_t tid, int64_t image, const UnwoundStack& stack);
  size_t CountOnStack(const Thread& thread, uint64_t above,
                      const StackCopy& copy, const ReadWords& read);
  static void Join(const Thread& thread, size_t first, UnwoundStack* stack);

  std::unordered_map<int64_t, Thread> threads_;
  std::vector<uint64_t> addresses_;
  std::vector<uint64_t> values_;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_UNWIND_OUTER_FRAMES_H_
