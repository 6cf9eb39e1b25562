#include "backends/stream/decode/program_images.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "backends/stream/decode/program_starts.h"
#include "profiler/model/records.h"

namespace kymo::stream {
namespace {

using Chunks = std::span<const DecodedChunk>;

TimeNs LastTime(Chunks stream, const model::EventColumns& events) {
  TimeNs last = 0;
  for (const DecodedChunk& chunk : stream) {
    const size_t end = chunk.first_row + chunk.event_count;
    for (size_t row = chunk.first_row; row < end; ++row) {
      last = std::max({last, events.start_ns[row], events.end_ns[row]});
    }
  }
  return last;
}

void EndReplacedStream(Chunks stream, model::EventColumns& events) {
  TimeNs end_ns = 0;
  for (const DecodedChunk& chunk : stream) {
    for (const OpenRange& range : chunk.open) {
      if (chunk.replaced_ns == 0 || events.end_ns[range.row] != 0) continue;
      // When one thread calls exec, the others go on for some instants.
      if (end_ns == 0) {
        end_ns = std::max(chunk.replaced_ns, LastTime(stream, events));
      }
      events.end_ns[range.row] = end_ns;
      events.flags[range.row] |= model::kEventOpen;
    }
  }
}

}  // namespace

ProgramImages::ProgramImages(const record::Arena& arena,
                             int64_t epoch_offset_ns)
    : arena_(arena), epoch_offset_ns_(epoch_offset_ns) {
  for (uint32_t i = 0; i < arena.process_count(); ++i) {
    const record::ProcessEntry& entry = arena.process(i);
    // acquire: the rest of the entry was written before.
    const int32_t pid = entry.pid.load(std::memory_order_acquire);
    if (pid == 0) continue;
    begins_[pid].push_back({entry.attach_monotonic_ns, entry.image});
  }
  for (const UnrecordedProgram& program : UnrecordedPrograms(arena)) {
    const auto it = begins_.find(program.pid);
    if (it == begins_.end()) continue;
    it->second.push_back({program.start_monotonic_ns, 0});
  }
  for (auto& [pid, begins] : begins_) {
    std::stable_sort(begins.begin(), begins.end(),
                     [](const Begin& a, const Begin& b) {
                       return a.monotonic_ns < b.monotonic_ns;
                     });
  }
}

TimeNs ProgramImages::ReplacedNs(uint32_t stream) const {
  const record::StreamEntry& entry = arena_.stream(stream);
  const uint32_t process = entry.process.load(std::memory_order_relaxed);
  if (process == 0 || process > arena_.process_count()) return 0;
  const record::ProcessEntry& own = arena_.process(process - 1);
  const auto begins = begins_.find(entry.pid.load(std::memory_order_relaxed));
  if (begins == begins_.end()) return 0;
  // Several libraries of one program may each attach, all to one image.
  const auto next = std::find_if(
      begins->second.begin(), begins->second.end(), [&own](const Begin& begin) {
        return begin.monotonic_ns > own.attach_monotonic_ns &&
               begin.image != own.image;
      });
  if (next == begins->second.end()) return 0;
  // Unsigned arithmetic, since a broken target may have written any number.
  return static_cast<TimeNs>(static_cast<uint64_t>(next->monotonic_ns) +
                             static_cast<uint64_t>(epoch_offset_ns_));
}

void EndReplaced(const std::vector<DecodedChunk>& chunks,
                 model::EventColumns& events) {
  for (size_t begin = 0; begin < chunks.size();) {
    size_t end = begin + 1;
    while (end < chunks.size() &&
           chunks[end].view.stream == chunks[begin].view.stream) {
      ++end;
    }
    EndReplacedStream(Chunks(chunks).subspan(begin, end - begin), events);
    begin = end;
  }
}

}  // namespace kymo::stream
