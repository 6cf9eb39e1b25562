// python_process.h - the Python functions on the stacks of one process.
//
//   PythonProcess python(pid, layout, type_address, &places);
//   const PythonProcess::Result result =
//       python.Expand(copy, learned, now_ns, &frames, &stack);
//
// Each C frame of the interpreter's loop is replaced by the Python functions
// that it ran. The loop's variable `frame` tells the innermost one. Its value
// at the time of the sample stands in a register or in the copied stack
// (value_homes.h). So does the next instruction, which tells the function even
// if its frame has gone since, and the line. The callers' frames are read from
// the program, or from a copy of its memory (frame_chain.h).
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_PROCESS_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_PROCESS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/sampling/python/code_cache.h"
#include "backends/sampling/python/frame_chain.h"
#include "backends/sampling/python/frame_copies.h"
#include "backends/sampling/python/python_layout.h"
#include "backends/sampling/python/target_memory.h"
#include "backends/sampling/python/thread_name.h"
#include "backends/sampling/python/value_homes.h"
#include "backends/sampling/unwind/stack_copy.h"
#include "backends/sampling/unwind/unwinder.h"
#include "profiler/symbolize/named_places.h"

namespace kymo::sampling {

// What is learned of one build of the interpreter.
struct LearnedLoop {
  ValueHomes frame;
  ValueHomes instruction;
};

// Where a stack's frames are read.
struct FrameMemory {
  // Of the time of the sample. Null: there is none.
  const FrameCopy* copy = nullptr;
  // Out: their pages, and whether some were not in the copy.
  std::vector<uint64_t> pages;
  bool was_late = false;
};

class PythonProcess {
 public:
  enum class Result {
    kWhole,
    kTorn,    // some functions had returned before they were read
    kUnread,  // a loop stays as it is
  };

  // `type` is the address of PyCode_Type in the process.
  PythonProcess(std::unique_ptr<TargetMemory> memory,
                const PythonLayout& layout, uint64_t type,
                symbolize::NamedPlaces* places);

  // `stack->watched` has the loops.
  Result Expand(const StackCopy& copy, LearnedLoop& learned, int64_t now_ns,
                FrameMemory* frames, UnwoundStack* stack);

  // What the program calls the thread of the last Expand, read anew.
  std::optional<ProgramThread> ReadThreadName();

 private:
  struct Loop {
    uint64_t frame = 0;
    std::vector<uint64_t> places;
    FrameChain::End end = FrameChain::End::kBroken;
    uint64_t outer_frame = 0;
    uint64_t thread_frame = 0;  // that with which the thread began; 0: none
    uint64_t entry_frame = 0;   // the outermost of its own; 0: not known
    bool was_replaced = false;  // its first function had returned
    bool is_found = false;  // `frame` is what it ran at the time of the sample
    bool is_first_sure = false;  // its first function is that of the sample
  };

  Loop ReadLoop(const UnwoundStack& stack, size_t index, const StackCopy& copy,
                uint64_t expected, LearnedLoop& learned, int64_t now_ns);
  // Whether the chain that begins with `frame` in the innermost loop has as
  // many loops as the stack. `is_late` says if some of it was not in the copy.
  bool HasAllLoops(uint64_t frame, const UnwoundStack& stack,
                   const StackCopy& copy, int64_t now_ns, bool* is_late);
  bool Walk(uint64_t frame, const WatchedFrame& watched, const StackCopy& copy,
            int64_t now_ns, const FrameChain::FindExact& exact, Loop& loop);
  std::optional<FrameChain::Exact> FindExact(PythonCode& code,
                                             const WatchedFrame& watched,
                                             const StackCopy& copy,
                                             LearnedLoop& learned,
                                             bool* was_replaced);

  const std::unique_ptr<TargetMemory> memory_;
  const PythonLayout layout_;
  CodeCache codes_;
  FrameChain chain_;
  bool has_copy_ = false;       // of the frames of this stack
  bool follows_chain_ = false;  // from loop to loop
  uint64_t thread_frame_ = 0;   // of the last stack; 0: not known
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_PROCESS_H_
