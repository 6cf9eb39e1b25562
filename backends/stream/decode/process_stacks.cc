#include "backends/stream/decode/process_stacks.h"

#include <unistd.h>

#include <algorithm>
#include <string>

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
  model::StackId stack = symbolizer_.Add(pcs_, process.space);
  // The recorder's own frames, which the compiler may have inlined into the
  // operation's.
  while (stack != model::kEmptyStack && IsRecorder(stack)) {
    stack = shard_.stacks.parent(stack);
  }
  return stack;
}

TimeNs ProcessStacks::StartOf(int64_t pid) const {
  TimeNs start_ns = 0;
  for (const model::Process& process : shard_.processes) {
    if (process.pid == pid) start_ns = std::max(start_ns, process.start_ns);
  }
  return start_ns;
}

bool ProcessStacks::IsRecorder(model::StackId stack) const {
  const model::Frame& frame = shard_.stacks.frame(shard_.stacks.leaf(stack));
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
