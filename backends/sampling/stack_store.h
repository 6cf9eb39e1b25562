// stack_store.h - turns what was captured of threads into stacks.
//
//   store.OnMap(...);                         // in the order of time
//   const RawStackId stack = store.Intern({.pid = pid, .callchain = ...});
//   const std::vector<model::StackId> ids = store.Collect(shard);   // names
//   ids[stack]
//
// Stacks of Python programs have Python's functions (python/python_stacks.h).
// These are read from the program, so its samples should come soon.
//
// A stack costs only the frames that no earlier stack had: 150 bytes each. If
// there are too many, a new stack is the part of it that is known. Stacks that
// are not whole are counted.
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_STACK_STORE_H_
#define KYMO_BACKENDS_SAMPLING_STACK_STORE_H_

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/sampling/perf_records.h"
#include "backends/sampling/process_table.h"
#include "backends/sampling/python/frame_copies.h"
#include "backends/sampling/python/python_stacks.h"
#include "backends/sampling/unwind/outer_frames.h"
#include "backends/sampling/unwind/registers.h"
#include "backends/sampling/unwind/unwinder.h"
#include "profiler/base/time.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace_shard.h"
#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/jit/early_ends.h"
#include "profiler/symbolize/jit/jit_names.h"
#include "profiler/symbolize/process_mappings.h"
#include "profiler/symbolize/raw_stacks.h"

namespace kymo::sampling {

// Where a thread of a process was.
struct CapturedStack {
  int64_t pid = 0;
  int64_t tid = 0;  // 0: not known
  // Whose stack it is, where only the thread's name is wanted of that.
  int64_t name_tid = 0;
  // The time by which a copy of its Python frames is known; 0: there is none.
  uint64_t copied_ns = 0;
  // Where in the kernel, leaf first; return addresses but for the first.
  std::span<const uint64_t> kernel_frames;
  // One of these: registers with a stack, or a call chain (leaf first,
  // unchanged return addresses, with the numbers of their files if there are
  // any).
  bool has_registers = false;
  Registers registers{};
  std::span<const std::byte> stack;
  bool stack_was_cut = false;
  std::span<const uint64_t> callchain;
};

// How a stack ends that goes on where the thread's memory could not be read,
// for this reason. Where there is no memory, it was no stack. If the thread is
// gone, or many others change the process's mappings, nobody knows the rest.
inline StackEnd EndOfUnreadStack(int error) {
  return error == EFAULT ? StackEnd::kIncomplete : StackEnd::kTruncated;
}

class StackStore {
 public:
  static constexpr size_t kMostStacks = 1'000'000;

  explicit StackStore(size_t most_stacks = kMostStacks)
      : unwinder_(&modules_), stacks_(most_stacks), jit_(&modules_, &stacks_) {}

  ProcessTable& processes() noexcept { return processes_; }
  // An executable mapping appeared. Its address may carry the number of a file
  // (target/sample_ring.h); only addresses with that number are then in it.
  void OnMap(const symbolize::ProcessMapping& mapping);
  void OnMap(const MapRecord& record);
  // Counts mappings: if it is the same, so is the stack of a call chain.
  uint64_t mappings_version() const noexcept { return mappings_version_; }
  // Reads what a process that runs already has mapped.
  void ReadMapsOf(int64_t pid) { ReadMaps(pid, processes_.Process(pid)); }
  symbolize::RawStackId Intern(const CapturedStack& captured);
  // Where in static storage of a process something is, if it is there. What
  // lies beside it in the same module has the same place but for the address.
  std::optional<symbolize::Mapping> StaticAt(int64_t pid, uint64_t address);
  symbolize::ModuleTable& modules() noexcept { return modules_; }
  void AddLoss(model::Loss loss, uint64_t count) { ledger_.Add(loss, count); }
  void AddLossPart(const model::LossPart& part, uint64_t count) {
    if (count != 0) ledger_.AddPart(part, count);
  }

  // The thread ended, or runs another program.
  void OnThreadEnd(int64_t tid) {
    outer_frames_.Forget(tid);
    frame_copies_.Forget(tid);
  }
  // The process ended: what it wrote last about its code is there now.
  void OnEnd(int64_t pid);

  // Reads which code lay where in memory. Settle then gives a stack the names
  // that its code had at `time_ns` (jit_names.h says more).
  void ReadJitNames();
  symbolize::RawStackId Settle(symbolize::RawStackId stack, TimeNs time_ns,
                               bool only_known = false) {
    return jit_.Settle(stack, time_ns, only_known);
  }
  // After Collect: why functions of Python programs are missing, whether many
  // stacks have callers of other stacks (outer_frames.h), and which programs
  // left a hundred stacks or more without the name of their innermost function,
  // and what to do.
  std::vector<std::string> Remarks() const;

  // Leaves the stacks of Python programs as C has them.
  void LeavePythonAlone() noexcept { reads_python_ = false; }
  // Whether the process runs Python whose functions are read.
  bool IsPython(int64_t pid) {
    return python_.has_python() && processes_.Process(pid).python != nullptr;
  }
  // Whether there are stacks whose functions are read from a program.
  bool has_python() const noexcept { return python_.has_python(); }
  // Whoever sees samples before Intern does puts copies of frames there.
  FrameCopies& frame_copies() noexcept { return frame_copies_; }

  // Describes the processes, and adds stacks and losses. The result maps raw
  // ids to the shard's. A stack that is not settled has the names of when it
  // was first seen.
  std::vector<model::StackId> Collect(model::TraceShard& shard);

 private:
  void AddPython(const CapturedStack& captured, SampledProcess& process);
  void NameThread(const CapturedStack& captured, const SampledProcess& process);
  void UnwindInto(const CapturedStack& captured, SampledProcess& process);
  void ReadOn(const CapturedStack& captured, const SampledProcess& process);
  void FindOuterFrames(const CapturedStack& captured,
                       const SampledProcess& process);
  void PlaceCallchain(const CapturedStack& captured, SampledProcess& process);
  bool AllModulesKnown() const;
  uint32_t JitProgram(int64_t pid, SampledProcess& process);
  bool ReadMaps(int64_t pid, SampledProcess& process);

  symbolize::ModuleTable modules_;
  uint64_t mappings_version_ = 0;
  ProcessTable processes_;
  Unwinder unwinder_;
  OuterFrames outer_frames_;
  uint64_t stack_count_ = 0;
  symbolize::EarlyEnds early_ends_;
  uint64_t joined_count_ = 0;
  bool was_read_on_ = false;  // the last stack
  uint64_t read_on_count_ = 0;
  PythonStacks python_{&modules_, &unwinder_};
  bool reads_python_ = true;
  FrameCopies frame_copies_;
  uint64_t torn_python_count_ = 0;
  uint64_t unread_python_count_ = 0;
  uint64_t deep_python_count_ = 0;
  symbolize::RawStacks stacks_;
  symbolize::JitNames jit_;
  std::vector<TimeNs> first_seen_ns_;  // of claimed stacks, by raw id; 0: never
  UnwoundStack unwound_;
  UnwoundStack whole_;  // of ReadOn
  model::LossLedger ledger_;
  std::vector<std::string> file_remarks_;  // after Collect
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_STACK_STORE_H_
