#include "backends/stream/decode/process_stacks.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "profiler/model/folded_memory.h"
#include "profiler/symbolize/process_mappings.h"

namespace kymo::stream {
namespace {

constexpr uint64_t kFileNumberMask = ~uint64_t{0} << record::kFileNumberShift;

size_t FileNumberOf(uint64_t address) {
  return address >> record::kFileNumberShift;
}

}  // namespace

void ProcessStacks::Process::AddFile(size_t number) {
  if (files.size() <= number) files.resize(number + 1);
  files[number] = true;
}

void ProcessStacks::AddMapping(int64_t pid,
                               const record::MappingPayload& mapping,
                               std::string_view path) {
  if (mapping.end <= mapping.start) return;
  Process& process = processes_[pid];
  process.AddFile(FileNumberOf(mapping.start));
  symbolize::AddMapping({.pid = pid,
                         .address = mapping.start,
                         .size_bytes = mapping.end - mapping.start,
                         .file_offset = mapping.file_offset,
                         .file = {.path = std::string(path),
                                  .inode = mapping.inode,
                                  .mapped_ns = StartOf(pid)}},
                        modules_, process.space);
}

model::StackId ProcessStacks::Add(int64_t pid, std::span<const uint64_t> pcs) {
  const auto [at, is_new] = processes_.try_emplace(pid);
  Process& process = at->second;
  if (is_new && pid == getpid()) {
    symbolize::AddOwnMappings(modules_, process.space);
  }
  pcs_.assign(pcs.begin(), pcs.end());
  for (uint64_t& pc : pcs_) {
    if (!process.HasFile(FileNumberOf(pc))) pc &= ~kFileNumberMask;
  }
  return symbolizer_.Add(pcs_, process.space);
}

void ProcessStacks::Name() {
  const std::vector<model::StackId> ids = MakeIds();
  const auto set_id = [&](auto& record) {
    record.stack = ids[Index(record.stack)];
  };
  std::for_each(shard_.details.begin() + static_cast<ptrdiff_t>(first_detail_),
                shard_.details.end(), set_id);
  std::for_each(shard_.memory.begin(), shard_.memory.end(), set_id);
  if (shard_.folded_memory == nullptr) return;
  for (model::FoldedHeap& heap : shard_.folded_memory->heaps) {
    for (size_t i = 0; i < heap.stacks.size(); ++i) {
      model::FoldedStack sum = heap.stacks[i];
      set_id(sum);
      heap.stacks.Set(i, sum);
    }
    // Two numbers may have one id.
    heap.stacks.SortAndJoin();
  }
}

std::vector<model::StackId> ProcessStacks::MakeIds() {
  std::vector<model::StackId> ids = symbolizer_.Name(shard_);
  const model::StackTable& stacks = shard_.stacks;
  std::vector<bool> is_recorder;
  for (uint32_t i = 0; i < stacks.frame_count(); ++i) {
    is_recorder.push_back(IsRecorder(stacks.frame(model::FrameId{i})));
  }
  // The recorder's own frames, which the compiler may have inlined into the
  // operation's.
  for (model::StackId& id : ids) {
    while (id != model::kEmptyStack && is_recorder[Index(stacks.leaf(id))]) {
      id = stacks.parent(id);
    }
  }
  return ids;
}

TimeNs ProcessStacks::StartOf(int64_t pid) const {
  TimeNs start_ns = 0;
  for (const model::Process& process : shard_.processes) {
    if (process.pid == pid) start_ns = std::max(start_ns, process.start_ns);
  }
  return start_ns;
}

bool ProcessStacks::IsRecorder(const model::Frame& frame) const {
  const std::string_view function = shard_.strings.Get(frame.function);
  const std::string_view file = shard_.strings.Get(frame.file);
  // Templates over a program's own types are recognized by their file.
  return function.starts_with("kymo::RecordFunction::") ||
         function.starts_with("kymo::RecordModule::") ||
         function.starts_with("kymo::Report") ||
         file.ends_with("/api/record_function.h") ||
         file.ends_with("/kymo/record_function.h");
}

}  // namespace kymo::stream
