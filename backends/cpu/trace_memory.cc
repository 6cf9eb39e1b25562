#include "backends/cpu/trace_memory.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/available_memory.h"

namespace kymo::cpu {
namespace {

constexpr uint64_t kMib = uint64_t{1} << 20;
constexpr uint64_t kGib = uint64_t{1} << 30;
constexpr uint64_t kMostBytes = 1024 * kGib;
constexpr uint64_t kSmallestWindow = 4 * kMib;
constexpr uint64_t kLargestWindow = 128 * kMib;

}  // namespace

std::optional<uint64_t> ParseByteCount(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || number < 1) return std::nullopt;
  const std::string_view unit(stop, static_cast<size_t>(end - stop));
  const uint64_t unit_bytes = unit == "MiB" ? kMib : unit == "GiB" ? kGib : 0;
  if (unit_bytes == 0 || number > kMostBytes / unit_bytes) return std::nullopt;
  return number * unit_bytes;
}

uint64_t TraceMemoryBytes(uint64_t chunk_bytes) { return chunk_bytes / 2 * 5; }

absl::StatusOr<uint64_t> MemoryLimit(std::string_view setting) {
  if (setting.empty()) return AvailableMemoryBytes() / 4 * 3;
  const std::optional<uint64_t> bytes = ParseByteCount(setting);
  if (bytes) return *bytes;
  return absl::InvalidArgumentError(
      absl::StrCat("max_memory is '", std::string(setting),
                   "'; it takes memory, such as 512MiB or 4GiB"));
}

uint64_t WindowBytesFor(uint64_t memory_limit) {
  return std::clamp(memory_limit / 5, kSmallestWindow, kLargestWindow);
}

}  // namespace kymo::cpu
