#include "backends/stream/trace_memory.h"

#include <algorithm>

#include "profiler/base/available_memory.h"

namespace kymo::stream {
namespace {

constexpr uint64_t kSmallestWindow = 4 * kMib;
constexpr uint64_t kLargestWindow = 128 * kMib;

}  // namespace

uint64_t TraceMemoryBytes(uint64_t chunk_bytes) { return chunk_bytes / 2 * 5; }

uint64_t RecordBytesFor(uint64_t memory_bytes) { return memory_bytes / 5 * 2; }

uint64_t MemoryLimit(std::optional<uint64_t> wanted) {
  return wanted.value_or(AvailableMemoryBytes() / 4 * 3);
}

uint64_t WindowBytesFor(uint64_t memory_limit) {
  return std::clamp(memory_limit / 5, kSmallestWindow, kLargestWindow);
}

}  // namespace kymo::stream
