// frame_chain.h - the Python functions of one run of the interpreter's loop.
//
//   FrameChain chain(layout, &codes, &memory);
//   if (chain.Walk(frame, loop, copy, now_ns)) Use(chain.places());
//
// A call from Python to Python needs no C function since 3.11: the loop goes on
// with a new frame, which points to the caller's. So one C frame of the loop
// stands for several Python frames, up to the one with which it began. 3.11
// marks that one. Later versions end the chain with a frame on the C stack, in
// the loop's own part.
//
// The chain is read from a copy of the sample's time (frame_copies.h), or else
// later, while the thread runs on. So everything in it is checked: there must
// be a code object in each frame, an instruction within it, and the end where
// it belongs.
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_FRAME_CHAIN_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_FRAME_CHAIN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backends/sampling/python/code_cache.h"
#include "backends/sampling/python/frame_copies.h"
#include "backends/sampling/python/python_layout.h"
#include "backends/sampling/python/target_memory.h"
#include "backends/sampling/unwind/stack_copy.h"
#include "backends/sampling/unwind/unwinder.h"

namespace kymo::sampling {

class FrameChain {
 public:
  static constexpr size_t kMostFrames = 1024;
  enum class End {
    kWhole,
    kTooDeep,  // more than kMostFrames
    kBroken,   // something is no frame
  };
  // The instruction at which the thread was in the chain's first function,
  // given what its frame says now; and whether that function is another one.
  struct Exact {
    PythonCode* code;
    uint64_t instruction;
  };
  using FindExact = std::function<std::optional<Exact>(PythonCode& code)>;

  // All three are borrowed.
  FrameChain(const PythonLayout* layout, CodeCache* codes, TargetMemory* memory)
      : layout_(*layout), codes_(*codes), memory_(*memory) {}

  // Follows the chain from `frame`, an address in the program. `loop` is the C
  // frame, and `copy` the stack that it lies on. `exact` may be null.
  End Walk(uint64_t frame, const WatchedFrame& loop, const StackCopy& copy,
           int64_t now_ns, const FindExact& exact = nullptr);

  // Whether the first function of the last Walk, as its frame says, may go on
  // with the instruction.
  bool MayGoOnAt(uint64_t instruction) const noexcept {
    return instruction > first_begin_ && instruction <= first_end_ &&
           instruction % 2 == 0;
  }
  // Of the last Walk, innermost first: numbers of named places.
  const std::vector<uint64_t>& places() const noexcept { return places_; }
  size_t frame_count() const noexcept { return frame_count_; }
  // The frame that runs in the next outer loop. 0: none, or not known.
  uint64_t outer_frame() const noexcept { return outer_frame_; }

  // The one of the last Walk with which its thread began. 0: there is none.
  uint64_t thread_frame() const noexcept { return thread_frame_; }

  // The one with which the last Walk ended, if it is 3.11's.
  uint64_t entry_frame() const noexcept { return entry_frame_; }

  // Memory may have changed: the next Walk reads all again. `copy` may be null.
  void Forget(const FrameCopy* copy) noexcept {
    window_size_ = 0;
    copy_ = copy;
  }
  // Of the last Walk, innermost first: the pages of its first frames.
  const std::vector<uint64_t>& pages() const noexcept { return pages_; }
  // Whether the last Walk read frames that are not in the copy.
  bool was_late() const noexcept { return was_late_; }

 private:
  struct Fields {
    uint64_t code;
    uint64_t previous;
    uint64_t instruction;
    uint8_t owner;
    bool is_entry;
  };

  std::optional<Fields> ReadFrame(uint64_t frame);
  void NotePage(uint64_t address);
  std::span<const std::byte> ReadBytes(uint64_t address, size_t size);
  bool AddFrame(uint64_t frame, const Fields& fields, int64_t now_ns,
                const FindExact& exact);
  // Whether the chain ends with the frame at `address` on the C stack.
  bool IsEndOfLoop(uint64_t address, const WatchedFrame& loop,
                   const StackCopy& copy);

  static constexpr size_t kWindowBytes = 4096 + 1024;

  const PythonLayout& layout_;
  CodeCache& codes_;
  TargetMemory& memory_;
  std::vector<uint64_t> places_;
  size_t frame_count_ = 0;
  uint64_t first_begin_ = 0;
  uint64_t first_end_ = 0;
  uint64_t outer_frame_ = 0;
  uint64_t entry_frame_ = 0;
  uint64_t thread_frame_ = 0;
  std::vector<uint64_t> pages_;
  bool was_late_ = false;
  const FrameCopy* copy_ = nullptr;
  std::vector<std::byte> copied_;
  // What was read last. Frames of a thread lie one behind the other.
  std::array<std::byte, kWindowBytes> window_;
  uint64_t window_begin_ = 0;
  size_t window_size_ = 0;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_FRAME_CHAIN_H_
