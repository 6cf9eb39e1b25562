#include "profiler/unwind/known_frames.h"

namespace kymo::unwind {

constinit thread_local KnownFrames* KnownFrames::own_
    __attribute__((tls_model("initial-exec"))) = nullptr;
constinit KnownFrames KnownFrames::all_[kThreads] = {};

KnownFrames& KnownFrames::Choose() noexcept {
  static constinit std::atomic<size_t> threads{0};
  own_ = &all_[threads.fetch_add(1, std::memory_order_relaxed) % kThreads];
  return *own_;
}

}  // namespace kymo::unwind
