#include "backends/sampling/sample_store.h"

#include <algorithm>
#include <string_view>

#include "backends/sampling/proc_maps.h"
#include "backends/sampling/symbolizer.h"
#include "profiler/base/clock.h"

namespace kymo::sampling {
namespace {

// A process whose code lies outside of all known mappings is looked at again
// after this time at the earliest.
constexpr int64_t kMapsAgeNs = 200 * kNsPerMs;

// What the kernel calls memory without a file.
std::string AnonymousName(std::string_view path) {
  if (path.empty() || path == "//anon") return "[anon]";
  return std::string(path);
}

bool IsFile(std::string_view path) {
  return path.starts_with('/') && path != "//anon" &&
         !path.starts_with("/memfd:");
}

}  // namespace

SampleStore::SampleStore(DurationNs period_ns)
    : period_ns_(period_ns), unwinder_(&modules_) {}

void SampleStore::OnMap(const MapEvent& event) {
  Mapping mapping{.start = event.address,
                  .end = event.address + event.size_bytes};
  const std::string& path = event.file.path;
  if (IsFile(path)) {
    mapping.module = modules_.File(event.pid, event.file);
  } else {
    mapping.module = modules_.Named(AnonymousName(path));
  }
  const ElfModule& module = modules_.module(mapping.module);
  // Without an image in memory only the address itself means something.
  if (IsFile(path) || module.elf() != nullptr) {
    mapping.delta = module.Delta(event.address, event.file_offset);
  }
  processes_.Process(event.pid).space.Map(mapping);
}

bool SampleStore::ReadMaps(int64_t pid, SampledProcess& process) {
  const int64_t now_ns = MonotonicNs();
  if (process.maps_read_ns != 0 && now_ns - process.maps_read_ns < kMapsAgeNs) {
    return false;
  }
  process.maps_read_ns = now_ns;
  for (ProcMapping& mapping : ReadProcMaps(pid)) {
    // What is listed as deleted is not what now bears its name.
    const TimeNs mapped_ns = mapping.is_deleted ? 0 : now_ns + EpochOffsetNs();
    OnMap({.pid = pid,
           .address = mapping.start,
           .size_bytes = mapping.end - mapping.start,
           .file_offset = mapping.file_offset,
           .file = {.path = std::move(mapping.path),
                    .build_id = {},
                    .inode = mapping.inode,
                    .mapped_ns = mapped_ns}});
  }
  return true;
}

bool SampleStore::AllModulesKnown() const {
  return std::none_of(unwound_.frames.begin(), unwound_.frames.end(),
                      [](const CodePlace& place) {
                        return place.module == ModuleTable::kUnknown;
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
    const uint64_t address = instruction - (unwound_.frames.empty() ? 0 : 1);
    const Mapping* const mapping = process.space.Find(address);
    if (mapping == nullptr) {
      unwound_.frames.push_back({ModuleTable::kUnknown, address});
    } else {
      unwound_.frames.push_back({mapping->module, address + mapping->delta});
    }
  }
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
      unwound_.frames.front().module == ModuleTable::kUnknown) {
    // In the middle of an exec: the registers are the old program's.
    unwound_.frames.clear();
    unwound_.end = StackEnd::kComplete;
  }
  if (unwound_.end == StackEnd::kTruncated) {
    ledger_.Add(model::Loss::kStacksTruncated, 1);
  } else if (unwound_.end == StackEnd::kIncomplete) {
    ledger_.Add(model::Loss::kStacksIncomplete, 1);
  }
  if (event.kernel_address) {
    unwound_.frames.insert(unwound_.frames.begin(),
                           {ModuleTable::kKernel, *event.kernel_address});
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
      SymbolizeStacks(stacks_, modules_, shard);
  for (model::StackSample& sample : samples_) {
    sample.stack = stacks[model::Index(sample.stack)];
  }
  shard.samples = std::move(samples_);
}

}  // namespace kymo::sampling
