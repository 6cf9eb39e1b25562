#include "backends/stream/decode/process_stacks.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "profiler/symbolize/process_mappings.h"

namespace kymo::stream {

void ProcessStacks::AddMapping(int64_t pid,
                               const record::MappingPayload& mapping,
                               std::string_view path) {
  if (mapping.end <= mapping.start) return;
  symbolize::AddMapping({.pid = pid,
                         .address = mapping.start,
                         .size_bytes = mapping.end - mapping.start,
                         .file_offset = mapping.file_offset,
                         .file = {.path = std::string(path),
                                  .inode = mapping.inode,
                                  .mapped_ns = StartOf(pid)}},
                        modules_, spaces_[pid]);
}

model::StackId ProcessStacks::Add(int64_t pid, std::span<const uint64_t> pcs) {
  const auto [space, is_new] = spaces_.try_emplace(pid);
  if (is_new && pid == getpid()) {
    symbolize::AddOwnMappings(modules_, space->second);
  }
  model::StackId stack = symbolizer_.Add(pcs, space->second);
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
