// known_frames.h - the unwind rules of the frames that a thread walked last, by
// their places on its stack.
//
//   KnownFrames& known = KnownFrames::OfThread();
//   if (!known.Find(sp, pc, identity, &rule)) {
//     rule = ...;
//     known.Enter(sp, pc, identity, rule);
//   }
//
// Most stacks of a thread have their outer frames in common. The table of all
// rules (rule_table.h) is probed by the pc, which must be read from the stack
// first. This one is probed by the sp alone, so the walk does not wait for that
// read: the pc is compared later. It is asked first, and takes half the time.
//
// It also knows the files of these frames that are never unloaded. Their
// addresses need not be looked up again.
//
// Threads: any, also in signal handlers. Slots are as in rule_table.h: one
//   that is half written answers for no frame. A fixed number of threads have
//   slots of their own; more share them, and are then slower, but right.
#ifndef KYMO_PROFILER_UNWIND_KNOWN_FRAMES_H_
#define KYMO_PROFILER_UNWIND_KNOWN_FRAMES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/unwind/loaded_code.h"
#include "profiler/unwind/rule_table.h"
#include "profiler/unwind/unwind_rule.h"

namespace kymo::unwind {

class alignas(64) KnownFrames {
 public:
  // Those of the calling thread.
  static KnownFrames& OfThread() noexcept {
    KnownFrames* const own = own_;
    return own != nullptr ? *own : Choose();
  }

  // False if the last frame at this place was another one.
  bool Find(uint64_t sp, uint64_t pc, uint64_t identity,
            UnwindRule* rule) const noexcept {
    const RuleSlot& slot = SlotOf(sp);
    const uint64_t word = slot.rule.load(std::memory_order_relaxed);
    const uint64_t both = slot.key_and_rule.load(std::memory_order_relaxed);
    if ((both ^ word) != pc + identity) [[unlikely]] {
      return false;
    }
    *rule = RuleOfWord(word);
    return true;
  }

  void Enter(uint64_t sp, uint64_t pc, uint64_t identity,
             UnwindRule rule) noexcept {
    RuleSlot& slot = SlotOf(sp);
    const uint64_t word = ToWord(rule);
    slot.rule.store(word, std::memory_order_relaxed);
    slot.key_and_rule.store((pc + identity) ^ word, std::memory_order_relaxed);
  }

  // The file of `pc`; null if it was not entered, or others since.
  const LoadedCode* FindFile(uint64_t pc) const noexcept {
    for (const std::atomic<const LoadedCode*>& known : files_) {
      const LoadedCode* const file = known.load(std::memory_order_acquire);
      if (file == nullptr) break;
      if (pc - file->begin < file->end - file->begin) return file;
    }
    return nullptr;
  }

  // `file` is a LoadedCode::for_ever.
  void EnterFile(const LoadedCode* file) noexcept {
    const size_t next = next_file_.load(std::memory_order_relaxed);
    files_[next % kFiles].store(file, std::memory_order_release);
    next_file_.store(next + 1, std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kFiles = 8;
  static constexpr size_t kSlots = 512;  // of 8 KiB of stack
  static constexpr size_t kThreads = 64;

  static KnownFrames& Choose() noexcept;

  // Frames begin at multiples of 16 bytes.
  RuleSlot& SlotOf(uint64_t sp) noexcept { return slots_[sp / 16 % kSlots]; }
  const RuleSlot& SlotOf(uint64_t sp) const noexcept {
    return slots_[sp / 16 % kSlots];
  }

  // initial-exec, because the first access must not allocate.
  static constinit thread_local KnownFrames* own_
      __attribute__((tls_model("initial-exec")));
  static constinit KnownFrames all_[kThreads];

  std::atomic<const LoadedCode*> files_[kFiles] = {};
  std::atomic<size_t> next_file_{0};
  RuleSlot slots_[kSlots] = {};
};

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_KNOWN_FRAMES_H_
