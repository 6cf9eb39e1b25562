#include "backends/sampling/sample_store.h"

#include <algorithm>

#include "backends/sampling/target/sample_ring.h"
#include "profiler/base/clock.h"
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

SampleStore::SampleStore(DurationNs period_ns)
    : period_ns_(period_ns), unwinder_(&modules_) {}

void SampleStore::OnMap(const symbolize::ProcessMapping& mapping) {
  SampledProcess& process = processes_.Process(mapping.pid);
  const size_t number = FileNumberOf(mapping.address);
  if (process.files.size() <= number) process.files.resize(number + 1);
  process.files[number] = true;
  symbolize::AddMapping(mapping, modules_, process.space);
}

bool SampleStore::ReadMaps(int64_t pid, SampledProcess& process) {
  const int64_t now_ns = MonotonicNs();
  if (process.maps_read_ns != 0 && now_ns - process.maps_read_ns < kMapsAgeNs) {
    return false;
  }
  process.maps_read_ns = now_ns;
  symbolize::AddMappings(pid, symbolize::ReadProcMaps(pid),
                         now_ns + EpochOffsetNs(), modules_, process.space);
  return true;
}

bool SampleStore::AllModulesKnown() const {
  return std::none_of(unwound_.frames.begin(), unwound_.frames.end(),
                      [](const symbolize::CodePlace& place) {
                        return place.module == symbolize::ModuleTable::kUnknown;
                      });
}

void SampleStore::UnwindInto(const SampleEvent& event,
                             SampledProcess& process) {
  const StackCopy copy{event.registers[kRsp], event.stack};
  unwinder_.Unwind(process.space, event.registers, copy, event.stack_was_cut,
                   &unwound_);
}

void SampleStore::PlaceCallchain(const SampleEvent& event,
                                 SampledProcess& process) {
  unwound_.frames.clear();
  unwound_.end = StackEnd::kComplete;
  for (const uint64_t instruction : event.callchain) {
    uint64_t address = instruction - (unwound_.frames.empty() ? 0 : 1);
    // A file whose mapping is not known is where the maps say.
    const size_t number = FileNumberOf(address);
    if (number != 0 &&
        (number >= process.files.size() || !process.files[number])) {
      address &= kAddressMask;
    }
    unwound_.frames.push_back(symbolize::PlaceOf(process.space, address));
  }
  if (event.stack_was_cut) unwound_.end = StackEnd::kTruncated;
}

void SampleStore::OnSample(const SampleEvent& event) {
  SampledProcess& process = processes_.Process(event.pid);
  const auto find_frames = [&] {
    if (event.has_registers) {
      UnwindInto(event, process);
    } else {
      PlaceCallchain(event, process);
    }
  };
  find_frames();
  if (!AllModulesKnown() && ReadMaps(event.pid, process)) find_frames();
  if (event.kernel_address && !unwound_.frames.empty() &&
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
  if (event.kernel_address) {
    unwound_.frames.insert(
        unwound_.frames.begin(),
        {symbolize::ModuleTable::kKernel, *event.kernel_address});
  }
  samples_.push_back({.track = processes_.Track(event.pid, event.tid),
                      .stack = model::StackId{stacks_.Intern(unwound_.frames)},
                      .time_ns = event.time_ns,
                      .weight_ns = event.weight_ns});
  total_weight_ns_ += event.weight_ns;
}

void SampleStore::Collect(model::TraceShard& shard) {
  shard.sampling_period_ns = period_ns_;
  processes_.Describe(shard);
  shard.ledger.Merge(ledger_);
  const std::vector<model::StackId> stacks =
      symbolize::SymbolizeStacks(stacks_, modules_, shard);
  for (model::StackSample& sample : samples_) {
    sample.stack = stacks[model::Index(sample.stack)];
  }
  shard.samples = std::move(samples_);
}

}  // namespace kymo::sampling
