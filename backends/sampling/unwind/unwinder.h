// unwinder.h - finds return addresses from a sample's registers and stack copy.
//
//   Unwinder unwinder(&modules);
//   UnwoundStack stack;
//   unwinder.Unwind(space, registers, copy, &stack);
//   stack.frames            // leaf first
//
// Each step applies the rule of the frame's address (cfi_rules.h). Where there
// is no table (hand-written assembly), a guess serves, if it finds an address
// behind a call. Else (JIT) it follows the frame pointer, if that leads up the
// stack to executable memory. The stack is complete if the
// tables say that its last frame has no caller, or if a chain of frame pointers
// ends with 0. So is that of a new thread that has not left clone(2) yet, and
// that of a coroutine, whose first function was not called.
//
// Of a thread that is looked at in /proc, only the stack pointer, the
// instruction and the arguments of its system call are known: the other
// registers are 0. A function that counts from its frame pointer is then left
// at the first return address that stands behind a direct call of this very
// function.
//
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_UNWIND_UNWINDER_H_
#define KYMO_BACKENDS_SAMPLING_UNWIND_UNWINDER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "backends/sampling/unwind/cfi_rules.h"
#include "backends/sampling/unwind/registers.h"
#include "backends/sampling/unwind/stack_copy.h"
#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/code_place.h"
#include "profiler/symbolize/elf_module.h"

namespace kymo::sampling {

enum class StackEnd {
  kComplete,
  kTruncated,   // goes on above the copy, or has too many frames
  kIncomplete,  // no rule and no plausible frame pointer
};

// Where a thread was in a frame, and where that frame begins on its stack.
struct UnwoundFrame {
  uint64_t stack_pointer = 0;
  uint64_t instruction = 0;

  friend bool operator==(const UnwoundFrame&, const UnwoundFrame&) = default;
};

// A frame of code that is watched, with the registers that its function had
// there: of a caller, those that calls keep.
struct WatchedFrame {
  size_t index = 0;  // in UnwoundStack::frames
  Registers registers{};
  uint64_t end = 0;  // its part of the stack ends here; 0 = not known
  // From a stack before: the registers may be different by now.
  bool is_remembered = false;
};

struct UnwoundStack {
  std::vector<symbolize::CodePlace> frames;  // leaf first
  std::vector<UnwoundFrame> at;              // of each frame
  StackEnd end = StackEnd::kComplete;
  std::vector<WatchedFrame> watched;  // innermost first
  // Its outermost frames are those of another stack (outer_frames.h).
  bool is_joined = false;
  // The address outside of the copy at which the stack goes on: above it, or on
  // another stack. 0: it does not, or this is not why it ends.
  uint64_t missed = 0;
  // A signal handler runs on a stack of its own (sigaltstack), and the copy is
  // of that one.
  bool is_on_other_stack = false;
};

class Unwinder {
 public:
  static constexpr size_t kMaxFrames = 1024;

  explicit Unwinder(const symbolize::ModuleTable* modules)
      : modules_(modules), rules_(modules) {}

  // From now on, UnwoundStack tells of the frames in this part of a module.
  void Watch(symbolize::ModuleId module, uint64_t begin, uint64_t end);

  // `copy_was_cut`: the stack goes on above the copy.
  void Unwind(const symbolize::AddressSpace& space, const Registers& registers,
              const StackCopy& copy, bool copy_was_cut, UnwoundStack* stack);

  const RuleTable& rules() const noexcept { return rules_; }

 private:
  struct WatchedCode {
    symbolize::ModuleId module;
    uint64_t begin;
    uint64_t end;
  };

  enum class Step { kCaller, kEnd, kMissedMemory, kNoRule };

  Step ApplyTable(const symbolize::CodePlace& place,
                  const symbolize::AddressSpace& space, const StackCopy& copy,
                  bool* is_exact, bool* has_table);
  // `is_exact`: the thread was in this frame, and had called nothing from it.
  Step ApplyRule(const UnwindRule& rule, const StackCopy& copy, bool is_exact);
  Step ApplyGuess(const UnwindRule& rule, const symbolize::CodePlace& place,
                  const symbolize::AddressSpace& space, const StackCopy& copy,
                  bool is_innermost);
  Step ApplyTableRule(const UnwindRule& rule, const symbolize::CodePlace& place,
                      const symbolize::AddressSpace& space,
                      const StackCopy& copy, bool is_exact);
  std::optional<uint64_t> FindCallOf(const symbolize::CodePlace& place,
                                     const symbolize::AddressSpace& space,
                                     const StackCopy& copy);
  bool HasTable(symbolize::ModuleId module, uint64_t address);
  bool HasJustBegun(const symbolize::CodePlace& place, const StackCopy& copy);
  bool HasNotCalled(const symbolize::CodePlace& place) const;
  bool HasCalled(const symbolize::CodePlace& place,
                 const symbolize::AddressSpace& space, bool took_nothing);
  std::optional<uint64_t> Restore(const SavedRegister& saved, uint64_t cfa,
                                  const StackCopy& copy);
  std::optional<uint64_t> Read(const StackCopy& copy, uint64_t address);
  Step PopReturnAddress(uint64_t bytes, const StackCopy& copy);
  Step FollowFramePointer(const symbolize::AddressSpace& space,
                          const StackCopy& copy);
  StackEnd EndAfterMiss(const StackCopy& copy, bool copy_was_cut) const;
  bool IsWatched(const symbolize::CodePlace& place) const;

  const symbolize::ModuleTable* modules_;
  RuleTable rules_;
  std::vector<WatchedCode> watched_;
  Registers registers_{};
  uint64_t missed_address_ = 0;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_UNWIND_UNWINDER_H_
