#include "backends/sampling/stack_store.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/sampling/target/sample_ring.h"
#include "backends/sampling/unwind/stack_copy.h"
#include "profiler/base/clock.h"
#include "profiler/processes/other_memory.h"
#include "profiler/processes/process_list.h"
#include "profiler/symbolize/code_place.h"
#include "profiler/symbolize/jit/how_to_name.h"
#include "profiler/symbolize/jit/jit_files.h"
#include "profiler/symbolize/proc_maps.h"
#include "profiler/symbolize/raw_stack_names.h"
#include "profiler/symbolize/statics/static_names.h"

namespace kymo::sampling {
namespace {

// How long to wait at least before the mappings of a process are read again, if
// its code lies outside of all known ones.
constexpr int64_t kMapsAgeNs = 200 * kNsPerMs;

constexpr uint64_t kAddressMask = (uint64_t{1} << kFileNumberShift) - 1;

// The number of the file; 0 for none, and in the kernel's half of the
// addresses.
size_t FileNumberOf(uint64_t address) {
  return address >> 63 != 0 ? 0 : address >> kFileNumberShift;
}

constexpr uint64_t kManyUnnamed = 100;

// Of a stack above memory that was never touched: how far away it may be, and
// how much of it is read.
constexpr uint64_t kFarthestCaller = uint64_t{64} << 20;
constexpr size_t kFarBytes = size_t{16} << 10;

}  // namespace

void StackStore::OnMap(const symbolize::ProcessMapping& mapping) {
  ++mappings_version_;
  SampledProcess& process = processes_.Process(mapping.pid);
  const size_t number = FileNumberOf(mapping.address);
  if (process.files.size() <= number) process.files.resize(number + 1);
  process.files[number] = true;
  symbolize::AddMapping(mapping, modules_, process.space);
  if (symbolize::IsJitDumpName(mapping.file.path)) {
    jit_.OnDump(JitProgram(mapping.pid, process), mapping.file.path);
  }
}

void StackStore::OnMap(const MapRecord& record) {
  const auto* const id = reinterpret_cast<const char*>(record.build_id.data());
  OnMap({.pid = record.pid,
         .address = record.address,
         .size_bytes = record.size_bytes,
         .file_offset = record.file_offset,
         .file = {.path = std::string(record.path),
                  .build_id = std::string(id, record.build_id.size()),
                  .inode = record.inode,
                  .mapped_ns =
                      static_cast<TimeNs>(record.time_ns) + EpochOffsetNs()}});
}

bool StackStore::ReadMaps(int64_t pid, SampledProcess& process) {
  const int64_t now_ns = MonotonicNs();
  if (process.maps_read_ns != 0 && now_ns - process.maps_read_ns < kMapsAgeNs) {
    return false;
  }
  process.maps_read_ns = now_ns;
  ++mappings_version_;
  symbolize::AddMappings(pid, symbolize::ReadProcMaps(pid),
                         now_ns + EpochOffsetNs(), modules_, process.space);
  return true;
}

uint32_t StackStore::JitProgram(int64_t pid, SampledProcess& process) {
  if (process.jit_program == 0) {
    process.jit_program = jit_.AddProgram(pid, process.jit_parent);
  }
  return process.jit_program;
}

bool StackStore::AllModulesKnown() const {
  return std::none_of(unwound_.frames.begin(), unwound_.frames.end(),
                      [](const symbolize::CodePlace& place) {
                        return place.module == symbolize::ModuleTable::kUnknown;
                      });
}

void StackStore::UnwindInto(const CapturedStack& captured,
                            SampledProcess& process) {
  const StackCopy copy{captured.registers[kRsp], captured.stack};
  unwinder_.Unwind(process.space, captured.registers, copy,
                   captured.stack_was_cut, &unwound_);
  was_read_on_ = false;
  const bool goes_on =
      unwound_.end == StackEnd::kIncomplete ||
      (unwound_.end == StackEnd::kTruncated && unwound_.is_on_other_stack);
  if (goes_on && unwound_.missed != 0) ReadOn(captured, process);
}

// The kernel stops copying at memory that the thread never touched, as in a
// large array. What lies above is there: it is of callers that still run. So
// is, below a handler on a stack of its own, what the signal interrupted.
void StackStore::ReadOn(const CapturedStack& captured,
                        const SampledProcess& process) {
  const uint64_t from = unwound_.missed & ~uint64_t{7};
  StackCopy copy{captured.registers[kRsp], captured.stack};
  if (from - copy.base > kFarthestCaller && !unwound_.is_on_other_stack) return;
  std::array<std::byte, kFarBytes> far;
  const iovec piece = {reinterpret_cast<void*>(from), far.size()};
  const int64_t tid = captured.tid != 0 ? captured.tid : captured.name_tid;
  const ssize_t bytes = processes::ReadOtherMemory(
      captured.pid, tid != 0 ? tid : captured.pid, std::span(&piece, 1), far);
  if (bytes < static_cast<ssize_t>(sizeof(uint64_t))) {
    if (bytes < 0) unwound_.end = EndOfUnreadStack(errno);
    return;
  }
  copy.far_base = from;
  copy.far_bytes = std::span(far).first(static_cast<size_t>(bytes));
  unwinder_.Unwind(process.space, captured.registers, copy,
                   captured.stack_was_cut, &whole_);
  if (whole_.end == StackEnd::kComplete) {
    std::swap(unwound_, whole_);
    was_read_on_ = true;
  } else if (whole_.missed != 0) {
    unwound_.end = StackEnd::kTruncated;
  }
}

// In the last whole stack of the thread.
void StackStore::FindOuterFrames(const CapturedStack& captured,
                                 const SampledProcess& process) {
  if (captured.tid == 0) return;
  const StackCopy copy{captured.registers[kRsp], captured.stack};
  const auto read = [&](std::span<const uint64_t> addresses,
                        std::span<uint64_t> values) {
    return processes::ReadOtherWords(captured.pid, addresses, values);
  };
  outer_frames_.Complete(captured.tid, process.image_ns, copy, read, &unwound_);
  if (unwound_.is_joined) ++joined_count_;
}

void StackStore::AddPython(const CapturedStack& captured,
                           SampledProcess& process) {
  const StackCopy copy{captured.registers[kRsp], captured.stack};
  std::unique_ptr<FrameCopy> frame_copy;
  if (captured.copied_ns != 0) {
    frame_copy = frame_copies_.Find(captured.tid, captured.copied_ns);
  }
  FrameMemory frames{.copy = frame_copy.get()};
  const bool was_cut = unwound_.end == StackEnd::kTruncated;
  const PythonStacks::Result result = python_.Expand(
      captured.pid, process.space, copy, process.python, &frames, &unwound_);
  if (!was_cut && unwound_.end == StackEnd::kTruncated) ++deep_python_count_;
  frame_copies_.GiveBack(std::move(frame_copy));
  if (captured.copied_ns != 0 && process.python != nullptr) {
    frame_copies_.Learn(captured.pid, captured.tid, frames.pages,
                        frames.was_late);
  }
  // What is missing of a stack is not its outermost function, if that was read.
  if (result != PythonStacks::Result::kNone) NameThread(captured, process);
  switch (result) {
    case PythonStacks::Result::kNone:
    case PythonStacks::Result::kWhole:
      break;
    case PythonStacks::Result::kTorn:
      ++torn_python_count_;
      break;
    case PythonStacks::Result::kUnread:
      ++unread_python_count_;
      break;
  }
}

// A program may give a thread another name at any time.
void StackStore::NameThread(const CapturedStack& captured,
                            const SampledProcess& process) {
  const int64_t pid = captured.pid;
  const int64_t tid = captured.tid != 0 ? captured.tid : captured.name_tid;
  // The main thread may run greenlets that begin as threads do.
  if (tid == 0 || tid == pid || process.python == nullptr) return;
  const int64_t now_ns = MonotonicNs();
  if (!processes_.IsNameDue(pid, tid, now_ns)) return;
  const auto thread = python_.ReadThreadName(*process.python);
  if (!thread) return;
  // The next thread may have got the memory of one that has ended.
  if (thread->number != tid &&
      thread->number != processes::InnerNumberOf(static_cast<pid_t>(pid),
                                                 static_cast<pid_t>(tid))) {
    processes_.OnOthersName(pid, tid, now_ns);
    return;
  }
  processes_.OnProgramName(pid, tid, thread->name, now_ns);
}

void StackStore::PlaceCallchain(const CapturedStack& captured,
                                SampledProcess& process) {
  unwound_.frames.clear();
  unwound_.end = StackEnd::kComplete;
  unwound_.is_joined = false;
  was_read_on_ = false;
  for (const uint64_t instruction : captured.callchain) {
    uint64_t address = instruction - (unwound_.frames.empty() ? 0 : 1);
    // A file whose mapping is not known is where the maps say.
    const size_t number = FileNumberOf(address);
    if (number != 0 &&
        (number >= process.files.size() || !process.files[number])) {
      address &= kAddressMask;
    }
    unwound_.frames.push_back(symbolize::PlaceOf(process.space, address));
  }
  if (captured.stack_was_cut) unwound_.end = StackEnd::kTruncated;
}

symbolize::RawStackId StackStore::Intern(const CapturedStack& captured) {
  SampledProcess& process = processes_.Process(captured.pid);
  ++stack_count_;
  const auto find_frames = [&] {
    if (captured.has_registers) {
      UnwindInto(captured, process);
    } else {
      PlaceCallchain(captured, process);
    }
  };
  find_frames();
  if (!AllModulesKnown() && ReadMaps(captured.pid, process)) find_frames();
  if (!captured.kernel_frames.empty() && !unwound_.frames.empty() &&
      unwound_.frames.front().module == symbolize::ModuleTable::kUnknown) {
    // The process is in the middle of an exec: the registers are the old
    // program's.
    unwound_ = {};
  }
  const symbolize::ElfModule* stopped_in = nullptr;
  if (captured.has_registers) {
    if (reads_python_ && python_.LookAtModules(unwound_)) {
      UnwindInto(captured, process);
    }
    if (!unwound_.frames.empty()) {
      stopped_in = &modules_.module(unwound_.frames.back().module);
    }
    FindOuterFrames(captured, process);
    if (reads_python_) AddPython(captured, process);
  }
  if (was_read_on_) ++read_on_count_;
  if (unwound_.end == StackEnd::kTruncated) {
    ledger_.Add(model::Loss::kStacksTruncated, 1);
    if (!unwound_.is_joined) {
      unwound_.frames.push_back({symbolize::ModuleTable::kTruncated, 0});
    }
  } else if (unwound_.end == StackEnd::kIncomplete) {
    ledger_.Add(model::Loss::kStacksIncomplete, 1);
    if (stopped_in != nullptr) early_ends_.Add(captured.pid, *stopped_in);
  }
  const bool has_memory = std::ranges::any_of(
      unwound_.frames, [this](const symbolize::CodePlace& place) {
        return modules_.module(place.module).is_memory();
      });
  const TimeNs now_ns = has_memory ? MonotonicNs() + EpochOffsetNs() : 0;
  if (has_memory) {
    jit_.Claim(JitProgram(captured.pid, process), now_ns, unwound_.frames);
  }
  std::vector<symbolize::CodePlace> kernel;
  if (unwound_.end != StackEnd::kComplete ||
      !symbolize::NameOwnStart(modules_, unwound_.frames)) {
    for (const uint64_t address : captured.kernel_frames) {
      kernel.push_back({symbolize::ModuleTable::kKernel,
                        address - (kernel.empty() ? 0 : 1)});
    }
  }
  unwound_.frames.insert(unwound_.frames.begin(), kernel.begin(), kernel.end());
  const symbolize::RawStackId stack = stacks_.Intern(unwound_.frames);
  if (has_memory) {
    if (first_seen_ns_.size() <= stack) first_seen_ns_.resize(stack + 1);
    if (first_seen_ns_[stack] == 0) first_seen_ns_[stack] = now_ns;
  }
  return stack;
}

std::optional<symbolize::Mapping> StackStore::StaticAt(int64_t pid,
                                                       uint64_t address) {
  SampledProcess& process = processes_.Process(pid);
  const auto find = [&]() -> const symbolize::Mapping* {
    const symbolize::Mapping* const before = process.space.FindBefore(address);
    return before != nullptr &&
                   symbolize::IsStatic(modules_.module(before->module),
                                       address + before->delta)
               ? before
               : nullptr;
  };
  const symbolize::Mapping* found = find();
  if (found == nullptr && process.space.size() == 0 && ReadMaps(pid, process)) {
    found = find();
  }
  return found == nullptr ? std::nullopt : std::optional(*found);
}

void StackStore::OnEnd(int64_t pid) {
  const uint32_t program = processes_.Process(pid).jit_program;
  if (program != 0) jit_.OnEnd(program, MonotonicNs() + EpochOffsetNs());
}

void StackStore::ReadJitNames() {
  jit_.ReadAll(MonotonicNs() + EpochOffsetNs());
}

std::vector<std::string> StackStore::Remarks() const {
  std::vector<std::string> remarks = python_.Remarks();
  // Where no function could be read, python_ has said why.
  if (unread_python_count_ > 0 && remarks.empty()) {
    remarks.push_back(absl::StrCat(
        "sampling: ", unread_python_count_, " of ", stack_count_,
        " stacks show Python's interpreter instead of functions, which could "
        "not be read"));
  }
  if (torn_python_count_ > 0) {
    remarks.push_back(absl::StrCat(
        "sampling: in ", torn_python_count_, " of ", stack_count_,
        " stacks some function had returned before it was read, so "
        "that its callers may be those of the next one"));
  }
  if (deep_python_count_ > 0) {
    remarks.push_back(absl::StrCat(
        "sampling: in ", deep_python_count_, " of ", stack_count_,
        " stacks Python's functions call each other more than ",
        FrameChain::kMostFrames,
        " deep; the outermost ones are missing, and no setting changes that"));
  }
  for (const std::string& remark : file_remarks_) {
    remarks.push_back("sampling: " + remark);
  }
  // Fewer than one of a hundred change no share that anybody looks at.
  if (joined_count_ > stack_count_ / 100) {
    remarks.push_back(absl::StrCat(
        "sampling: of ", joined_count_,
        " stacks that are not whole, the outermost callers are known from "
        "their threads' last whole stacks; [cut] stands for what is missing"));
  }
  if (read_on_count_ > stack_count_ / 100) {
    remarks.push_back(absl::StrCat(
        "sampling: the outermost callers of ", read_on_count_, " of ",
        stack_count_,
        " stacks were read a moment later: between lies memory that the thread "
        "never touched, as in a large array, or a signal handler's own stack"));
  }
  const std::string early = early_ends_.Remark(
      stack_count_, [this](int64_t pid) { return processes_.NameOf(pid); });
  if (!early.empty()) remarks.push_back("sampling: " + early);
  for (const auto& [pid, count] : jit_.unnamed()) {
    if (count < kManyUnnamed) continue;
    const std::string name = processes_.NameOf(pid);
    remarks.push_back(
        absl::StrCat("sampling: ", count, " samples are in code that ", name,
                     " (", pid, ") made while it ran and that has no names; ",
                     symbolize::HowToNameCode(name, pid)));
  }
  for (const int64_t pid : jit_.TooLarge()) {
    remarks.push_back(absl::StrCat(
        "sampling: process ", pid,
        " named more code than is read; what came last has no names"));
  }
  return remarks;
}

std::vector<model::StackId> StackStore::Collect(model::TraceShard& shard) {
  processes_.Describe(shard);
  ReadJitNames();
  const size_t count = stacks_.nodes().size();
  first_seen_ns_.resize(count);
  std::vector<symbolize::RawStackId> settled(count);
  for (symbolize::RawStackId i = 0; i < count; ++i) {
    const TimeNs at_ns = first_seen_ns_[i];
    const bool is_nothing = jit_.IsClaimed(i) && at_ns == 0;
    settled[i] = is_nothing ? 0 : jit_.SettleUncounted(i, at_ns);
  }
  ledger_.Add(model::Loss::kStacksBeyondLimit, stacks_.cut_count());
  shard.ledger.Merge(ledger_);
  return symbolize::SymbolizeStacks(stacks_, modules_, shard,
                                    {jit_.frames(), settled}, &file_remarks_);
}

}  // namespace kymo::sampling
