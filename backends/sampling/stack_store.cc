#include "backends/sampling/stack_store.h"

#include <algorithm>
#include <string>

#include "backends/sampling/target/sample_ring.h"
#include "backends/sampling/unwind/stack_copy.h"
#include "profiler/base/clock.h"
#include "profiler/symbolize/code_place.h"
#include "profiler/symbolize/proc_maps.h"
#include "profiler/symbolize/raw_stack_names.h"

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

}  // namespace

void StackStore::OnMap(const symbolize::ProcessMapping& mapping) {
  SampledProcess& process = processes_.Process(mapping.pid);
  const size_t number = FileNumberOf(mapping.address);
  if (process.files.size() <= number) process.files.resize(number + 1);
  process.files[number] = true;
  symbolize::AddMapping(mapping, modules_, process.space);
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
  symbolize::AddMappings(pid, symbolize::ReadProcMaps(pid),
                         now_ns + EpochOffsetNs(), modules_, process.space);
  return true;
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
}

void StackStore::PlaceCallchain(const CapturedStack& captured,
                                SampledProcess& process) {
  unwound_.frames.clear();
  unwound_.end = StackEnd::kComplete;
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
    unwound_.frames.clear();
    unwound_.end = StackEnd::kComplete;
  }
  if (unwound_.end == StackEnd::kTruncated) {
    ledger_.Add(model::Loss::kStacksTruncated, 1);
    unwound_.frames.push_back({symbolize::ModuleTable::kTruncated, 0});
  } else if (unwound_.end == StackEnd::kIncomplete) {
    ledger_.Add(model::Loss::kStacksIncomplete, 1);
  }
  std::vector<symbolize::CodePlace> kernel;
  for (const uint64_t address : captured.kernel_frames) {
    kernel.push_back(
        {symbolize::ModuleTable::kKernel, address - (kernel.empty() ? 0 : 1)});
  }
  unwound_.frames.insert(unwound_.frames.begin(), kernel.begin(), kernel.end());
  return stacks_.Intern(unwound_.frames);
}

std::vector<model::StackId> StackStore::Collect(model::TraceShard& shard) {
  processes_.Describe(shard);
  ledger_.Add(model::Loss::kStacksBeyondLimit, stacks_.cut_count());
  shard.ledger.Merge(ledger_);
  return symbolize::SymbolizeStacks(stacks_, modules_, shard);
}

}  // namespace kymo::sampling
