// jit_names.h - names for code that programs make while they run.
//
//   JitNames jit(&modules, &stacks);
//   const uint32_t program = jit.AddProgram(pid, /*parent=*/0);
//   jit.Claim(program, now_ns, frames);       // for each stack, while it runs
//   jit.ReadAll();                            // afterwards
//   const RawStackId named = jit.Settle(stack, time_ns);
//   jit.frames()                              // places in ModuleTable::kJit
//
// Code in memory that no file backs belongs to the program that made it: Claim
// gives its places a module of their own. The program says in a perf map or a
// jitdump what lies there; these are read while they grow, because a program
// may delete them at its end. The same memory may hold other code later. So a
// stack gets its names by the time of its sample, and only when all is read.
// Code without a name is one frame for each kind of memory, "[anon]".
//
// Threads: none. `modules` and `stacks` are borrowed and may grow meanwhile.
#ifndef KYMO_PROFILER_SYMBOLIZE_JIT_JIT_NAMES_H_
#define KYMO_PROFILER_SYMBOLIZE_JIT_JIT_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/base/time.h"
#include "profiler/symbolize/code_place.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/module_symbolizer.h"
#include "profiler/symbolize/raw_stacks.h"

namespace kymo::symbolize {

class JitNames {
 public:
  // A name, and what to call the module around it.
  struct Frame {
    NamedFrame frame;
    std::string module;
  };

  JitNames(ModuleTable* modules, RawStacks* stacks);
  ~JitNames();

  // A process from its exec on; the result is not 0. A program that has no
  // name for a place asks `parent`, out of which it was forked; 0: none.
  uint32_t AddProgram(int64_t pid, uint32_t parent);
  // The program has mapped this jitdump.
  void OnDump(uint32_t program, const std::string& path);

  // Replaces places in memory by places of the program. Reads what its files
  // have new, if it has such places and did not read for 100 ms.
  void Claim(uint32_t program, TimeNs now_ns, std::vector<CodePlace>& frames);
  // The program ended: what it wrote last is there now.
  void OnEnd(uint32_t program, TimeNs now_ns);

  // Reads the rest. To be called again if stacks were added since.
  void ReadAll(TimeNs now_ns);

  // Whether the stack has places that Claim made.
  bool IsClaimed(RawStackId stack);
  // The stack with the names that its places had at that time. With
  // `only_known` a stack with a place that has no name so far stays as it is.
  // To be called once for each sample, since it counts those without a name.
  // REQUIRES: ReadAll came after the stack.
  RawStackId Settle(RawStackId stack, TimeNs time_ns, bool only_known = false);
  // The same for a stack that is of no sample of its own.
  RawStackId SettleUncounted(RawStackId stack, TimeNs time_ns);

  // What CodePlace::address counts in ModuleTable::kJit.
  const std::vector<Frame>& frames() const noexcept { return frames_; }

  // By process number: how often Settle was asked for a stack whose innermost
  // place has no name.
  const std::map<int64_t, uint64_t>& unnamed() const noexcept {
    return unnamed_;
  }
  // Processes that named more than fits.
  std::vector<int64_t> TooLarge() const;

 private:
  struct Program;
  struct Found;
  struct Settled {
    RawStackId stack = 0;
    TimeNs from_ns = 0;
    TimeNs to_ns = 0;
    bool is_known = true;  // each place has a name
    bool is_unnamed_leaf = false;
  };
  struct Memory {
    uint32_t program = 0;  // 0: not claimed
    ModuleId module = 0;   // which memory it is
  };

  void Read(Program& program, TimeNs now_ns);
  Found Find(uint32_t program, uint64_t address, TimeNs time_ns) const;
  CodePlace NameOf(const CodePlace& place, TimeNs time_ns, Settled& settled);
  uint64_t FrameOf(const Found& found, const CodePlace& place);
  RawStackId Intern(const std::vector<CodePlace>& leaf_first);
  Settled SettleNow(RawStackId stack, TimeNs time_ns);
  const Settled& SettledAt(RawStackId stack, TimeNs time_ns);

  ModuleTable& modules_;
  RawStacks& stacks_;
  std::vector<std::unique_ptr<Program>> programs_;  // [0] is none
  std::vector<Memory> memory_;                      // by module
  std::map<std::pair<uint32_t, ModuleId>, ModuleId> claimed_;
  std::vector<bool> is_claimed_;  // by raw stack
  std::vector<Frame> frames_;
  // By module, function, file and line.
  std::map<std::tuple<std::string, std::string, std::string, uint32_t>,
           uint64_t>
      frame_ids_;
  absl::flat_hash_map<RawStackId, Settled> settled_;
  std::map<int64_t, uint64_t> unnamed_;
  size_t spare_nodes_;  // that settled stacks may have besides
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_JIT_JIT_NAMES_H_
