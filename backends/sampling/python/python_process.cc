#include "backends/sampling/python/python_process.h"

#include <algorithm>

#include "profiler/symbolize/elf_module.h"

namespace kymo::sampling {
namespace {

// Where a program may have memory of its own.
constexpr uint64_t kLowest = 0x10000;
constexpr uint64_t kHighest = uint64_t{1} << 47;

// More than a chain has frames.
constexpr size_t kAllLoops = size_t{1} << 20;
constexpr size_t kSure = size_t{1} << 21;

}  // namespace

PythonProcess::PythonProcess(std::unique_ptr<TargetMemory> memory,
                             const PythonLayout& layout, uint64_t type,
                             symbolize::NamedPlaces* places)
    : memory_(std::move(memory)),
      layout_(layout),
      codes_(layout, type, places),
      chain_(&layout_, &codes_, memory_.get()) {}

std::optional<FrameChain::Exact> PythonProcess::FindExact(
    PythonCode& code, const WatchedFrame& watched, const StackCopy& copy,
    LearnedLoop& learned, bool* was_replaced) {
  // The variable is the *next* instruction.
  const auto next =
      learned.instruction.Find(watched, copy, 1, [&](uint64_t value) {
        return value > code.begin && value <= code.end && value % 2 == 0 ? 1u
                                                                         : 0u;
      });
  if (next) return FrameChain::Exact{&code, *next - 2};
  const auto usual = learned.instruction.Usual(watched, copy);
  if (!usual) return std::nullopt;
  PythonCode* const other = codes_.FindByInstruction(*usual - 2);
  if (other == nullptr || other == &code) return std::nullopt;
  *was_replaced = true;
  return FrameChain::Exact{other, *usual - 2};
}

bool PythonProcess::Walk(uint64_t frame, const WatchedFrame& watched,
                         const StackCopy& copy, int64_t now_ns,
                         const FrameChain::FindExact& exact, Loop& loop) {
  if (frame < kLowest || frame >= kHighest || frame % 8 != 0) return false;
  // Functions' frames are not on the C stack.
  if (frame - copy.base < copy.bytes.size()) return false;
  loop.was_replaced = loop.is_first_sure = false;
  loop.end = chain_.Walk(frame, watched, copy, now_ns, exact);
  if (chain_.frame_count() == 0) return false;
  loop.frame = frame;
  loop.places = chain_.places();
  loop.outer_frame = chain_.outer_frame();
  loop.entry_frame = chain_.entry_frame();
  loop.thread_frame = chain_.thread_frame();
  return true;
}

bool PythonProcess::HasAllLoops(uint64_t frame, const UnwoundStack& stack,
                                const StackCopy& copy, int64_t now_ns,
                                bool* is_late) {
  *is_late = false;
  for (const WatchedFrame& watched : stack.watched) {
    Loop loop;
    if (!Walk(frame, watched, copy, now_ns, nullptr, loop) ||
        loop.end != FrameChain::End::kWhole) {
      return false;
    }
    *is_late = *is_late || chain_.was_late();
    frame = loop.outer_frame;
  }
  return frame == 0 || stack.end != StackEnd::kComplete;
}

PythonProcess::Loop PythonProcess::ReadLoop(const UnwoundStack& stack,
                                            size_t index, const StackCopy& copy,
                                            uint64_t expected,
                                            LearnedLoop& learned,
                                            int64_t now_ns) {
  const WatchedFrame& watched = stack.watched[index];
  const bool is_innermost = index == 0 && !watched.is_remembered;
  Loop loop;
  FrameChain::FindExact exact;
  if (is_innermost) {
    exact = [&](PythonCode& code) {
      auto known = FindExact(code, watched, copy, learned, &loop.was_replaced);
      loop.is_first_sure = known.has_value();
      return known;
    };
  }
  // Frames of callers, and of functions that returned, stand in other places.
  // But only one has the function to which the next instruction belongs.
  // And in a copy, only those of the innermost loop lead through all loops. The
  // copy may lack the pages of the frame that is right, and have the callers'.
  const auto score = [&](uint64_t frame) -> size_t {
    bool is_late = false;
    const size_t all = is_innermost && has_copy_ &&
                               HasAllLoops(frame, stack, copy, now_ns, &is_late)
                           ? kAllLoops
                           : 0;
    if (!Walk(frame, watched, copy, now_ns, nullptr, loop) ||
        loop.end == FrameChain::End::kBroken) {
      return 0;
    }
    return learned.instruction.Has(
               watched, copy,
               [&](uint64_t value) { return chain_.MayGoOnAt(value); })
               ? all + kSure + chain_.frame_count()
               : all + chain_.frame_count();
  };
  // So the chain of the loops inside of this one tells its frame.
  if (follows_chain_ && Walk(expected, watched, copy, now_ns, exact, loop)) {
    loop.is_found = true;
    return loop;
  }
  if (!watched.is_remembered) {
    const size_t enough = learned.frame.is_learning() ? ~size_t{0}
                          : is_innermost && has_copy_ ? kAllLoops + kSure
                                                      : kSure;
    const auto found = learned.frame.Find(watched, copy, enough, score);
    if (found && Walk(*found, watched, copy, now_ns, exact, loop)) {
      loop.is_found = true;
      return loop;
    }
  }
  // The inner loop says where it was called; or else a part is better than
  // nothing.
  for (const auto& frame :
       {expected != 0 ? std::optional(expected) : std::nullopt,
        learned.frame.Usual(watched, copy)}) {
    if (frame && Walk(*frame, watched, copy, now_ns, exact, loop)) return loop;
  }
  return Loop{};
}

PythonProcess::Result PythonProcess::Expand(const StackCopy& copy,
                                            LearnedLoop& learned,
                                            int64_t now_ns, FrameMemory* frames,
                                            UnwoundStack* stack) {
  chain_.Forget(frames->copy);
  has_copy_ = frames->copy != nullptr;
  follows_chain_ = false;
  Result result = Result::kWhole;
  thread_frame_ = 0;
  std::vector<Loop> loops;
  uint64_t expected = 0;
  for (size_t i = 0; i < stack->watched.size(); ++i) {
    Loop loop = ReadLoop(*stack, i, copy, expected, learned, now_ns);
    if (loop.frame != 0) {
      frames->pages.insert(frames->pages.end(), chain_.pages().begin(),
                           chain_.pages().end());
    }
    frames->was_late = frames->was_late || loop.frame == 0 || chain_.was_late();
    if (i == 0) {
      bool is_late = false;
      follows_chain_ =
          has_copy_ && loop.is_found &&
          HasAllLoops(loop.frame, *stack, copy, now_ns, &is_late) && !is_late;
    }
    // A loop that has just been entered has no frame yet: its registers are
    // still its caller's.
    if (!loops.empty() && loops.back().frame != 0 &&
        loops.back().frame == loop.frame) {
      loops.back() = Loop{.end = FrameChain::End::kWhole};
    } else if (loop.frame == 0) {
      result = Result::kUnread;
    } else {
      // A chain that ends without a caller is of another interpreter, which
      // this loop entered (a subinterpreter).
      const bool enters_interpreter =
          !loops.empty() && expected == 0 &&
          loops.back().end == FrameChain::End::kWhole;
      // The frames of the loop inside of this one were read later than its
      // registers, and are those of functions that this one called since.
      if (loop.is_found && !loops.empty() && loops.back().frame != 0 &&
          !enters_interpreter && expected != loop.frame) {
        Loop& inner = loops.back();
        inner.places.resize(inner.is_first_sure && !inner.places.empty());
        if (inner.places.empty()) result = Result::kUnread;
        if (result == Result::kWhole) result = Result::kTorn;
      }
      if ((loop.end == FrameChain::End::kBroken || loop.was_replaced ||
           (expected != 0 && expected != loop.frame)) &&
          result == Result::kWhole) {
        result = Result::kTorn;
      }
    }
    // A frame is of one loop. What an outer loop called stands on its callees'
    // part of the stack, too, as what these had saved.
    for (Loop& inner : loops) {
      if (loop.entry_frame != 0 && inner.entry_frame == loop.entry_frame) {
        inner = Loop{};
        result = Result::kUnread;
      }
    }
    expected = loop.outer_frame;
    loops.push_back(std::move(loop));
  }
  if (!loops.empty() && loops.back().end == FrameChain::End::kWhole) {
    thread_frame_ = loops.back().thread_frame;
  }
  // From the outside in, so that the numbers of the other frames stay.
  for (size_t i = loops.size(); i-- > 0;) {
    const Loop& loop = loops[i];
    if (loop.places.empty()) continue;
    const auto at =
        stack->frames.begin() + static_cast<ptrdiff_t>(stack->watched[i].index);
    std::vector<symbolize::CodePlace> functions;
    for (const uint64_t place : loop.places) {
      functions.push_back({symbolize::ModuleTable::kNamed, place});
    }
    *at = functions.back();
    stack->frames.insert(at, functions.begin(), functions.end() - 1);
    if (loop.end == FrameChain::End::kTooDeep)
      stack->end = StackEnd::kTruncated;
  }
  return result;
}

std::optional<ProgramThread> PythonProcess::ReadThreadName() {
  if (thread_frame_ == 0) return std::nullopt;
  return sampling::ReadThreadName(thread_frame_, layout_, *memory_);
}

}  // namespace kymo::sampling
