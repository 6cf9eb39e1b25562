#include "profiler/parquet/runs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "profiler/parquet/thrift_writer.h"

namespace kymo::parquet {
namespace {

constexpr size_t kRunGroup = 8;  // packed values come in groups of so many
// A run ends the packed values before it, which costs two or three bytes.
constexpr size_t kLeastRun = 24;

size_t RunLength(std::span<const uint32_t> values, size_t at) {
  size_t end = at + 1;
  while (end < values.size() && values[end] == values[at]) ++end;
  return end - at;
}

// The last group is filled up with zeros.
void AppendPacked(std::span<const uint32_t> values, int width,
                  std::string& out) {
  const size_t groups = (values.size() + kRunGroup - 1) / kRunGroup;
  AppendVarint(groups << 1 | 1, out);
  const size_t begin = out.size();
  out.resize(begin + groups * static_cast<size_t>(width), '\0');
  char* to = out.data() + begin;
  uint64_t bits = 0;
  int filled = 0;
  for (const uint32_t value : values) {
    bits |= uint64_t{value} << filled;
    filled += width;
    if (filled >= 32) {
      const auto low = static_cast<uint32_t>(bits);
      std::memcpy(to, &low, sizeof(low));
      to += sizeof(low);
      bits >>= 32;
      filled -= 32;
    }
  }
  for (; filled > 0; filled -= 8, bits >>= 8) {
    *to++ = static_cast<char>(bits);
  }
}

void Unpack(std::string_view bytes, int width, std::span<uint32_t> values) {
  const uint64_t mask = (uint64_t{1} << width) - 1;
  uint64_t bits = 0;
  int filled = 0;
  size_t at = 0;
  for (uint32_t& value : values) {
    for (; filled < width; filled += 8) {
      bits |= uint64_t{static_cast<uint8_t>(bytes[at++])} << filled;
    }
    value = static_cast<uint32_t>(bits & mask);
    bits >>= width;
    filled -= width;
  }
}

}  // namespace

void AppendRun(uint32_t value, size_t length, int width, std::string& out) {
  AppendVarint(length << 1, out);
  out.append(reinterpret_cast<const char*>(&value),
             (static_cast<size_t>(width) + 7) / 8);
}

void AppendRuns(std::span<const uint32_t> values, int width, std::string& out) {
  size_t packed = 0;  // where the values begin that are not written yet
  for (size_t at = 0; at < values.size();) {
    const size_t length = RunLength(values, at);
    // Packed values before a run are whole groups: they take from the run.
    const size_t taken = (kRunGroup - (at - packed) % kRunGroup) % kRunGroup;
    if (length < taken + kLeastRun) {
      at += length;
      continue;
    }
    at += taken;
    if (at != packed)
      AppendPacked(values.subspan(packed, at - packed), width, out);
    AppendRun(values[at], length - taken, width, out);
    at += length - taken;
    packed = at;
  }
  if (packed != values.size()) AppendPacked(values.subspan(packed), width, out);
}

std::optional<uint32_t> ReadOnlyRun(std::string_view bytes, int width,
                                    size_t count) {
  std::string run;
  AppendRun(0, count, width, run);
  const size_t head = run.size() - (width > 0 ? 1 : 0);
  if (bytes.size() < run.size() ||
      bytes.substr(0, head) != run.substr(0, head)) {
    return std::nullopt;
  }
  const uint32_t value = width > 0 ? static_cast<uint8_t>(bytes[head]) : 0;
  return value >> width == 0 ? std::optional(value) : std::nullopt;
}

bool ReadRuns(std::string_view bytes, int width, std::span<uint32_t> values) {
  const size_t value_bytes = (static_cast<size_t>(width) + 7) / 8;
  while (!values.empty()) {
    uint64_t head = 0;
    int shift = 0;
    uint8_t byte;
    do {
      if (bytes.empty() || shift > 56) return false;
      byte = static_cast<uint8_t>(bytes.front());
      bytes.remove_prefix(1);
      head |= uint64_t{byte & 0x7Fu} << shift;
      shift += 7;
    } while (byte >= 0x80);
    const uint64_t count = head >> 1;
    if (count == 0) return false;
    if ((head & 1) == 0) {
      if (bytes.size() < value_bytes || count > values.size()) return false;
      uint32_t value = 0;
      std::memcpy(&value, bytes.data(), value_bytes);
      if (width < 32 && value >> width != 0) return false;
      std::fill_n(values.begin(), count, value);
      bytes.remove_prefix(value_bytes);
      values = values.subspan(count);
      continue;
    }
    if (width != 0 && count > bytes.size() / static_cast<size_t>(width)) {
      return false;
    }
    const size_t size = static_cast<size_t>(width) * count;
    const size_t taken = count > values.size() / kRunGroup
                             ? values.size()
                             : std::min(values.size(), count * kRunGroup);
    Unpack(bytes.substr(0, size), width, values.first(taken));
    bytes.remove_prefix(size);
    values = values.subspan(taken);
  }
  return true;
}

}  // namespace kymo::parquet
