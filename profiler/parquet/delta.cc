#include "profiler/parquet/delta.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>

#include "profiler/parquet/thrift_writer.h"

namespace kymo::parquet {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr size_t kGroup = 32;  // values of one width: the format's miniblock
constexpr size_t kGroups = 4;
constexpr size_t kBlock = kGroup * kGroups;

// `width` bits of each value, the lowest first.
void AppendPacked(const uint64_t* values, int width, std::string& out) {
  if (width == 0) return;
  std::array<uint64_t, kGroup> words;
  size_t used = 0;
  uint64_t word = 0;
  int filled = 0;
  for (size_t i = 0; i < kGroup; ++i) {
    word |= values[i] << filled;
    filled += width;
    if (filled >= 64) {
      words[used++] = word;
      filled -= 64;
      word = filled == 0 ? 0 : values[i] >> (width - filled);
    }
  }
  if (filled != 0) words[used] = word;
  out.append(reinterpret_cast<const char*>(words.data()),
             kGroup / 8 * static_cast<size_t>(width));
}

// REQUIRES: `bytes` has the bytes of 32 values.
void Unpack(const char* bytes, int width, uint64_t* values) {
  if (width == 0) {
    std::fill_n(values, kGroup, 0);
    return;
  }
  std::array<uint64_t, kGroup + 1> words = {};
  std::memcpy(words.data(), bytes, kGroup / 8 * static_cast<size_t>(width));
  const uint64_t mask = ~uint64_t{0} >> (64 - width);
  size_t bit = 0;
  for (size_t i = 0; i < kGroup; ++i, bit += static_cast<size_t>(width)) {
    const size_t word = bit / 64;
    const size_t shift = bit % 64;
    // Two shifts: one by 64 would be undefined.
    const uint64_t high = words[word + 1] << 1 << (63 - shift);
    values[i] = (words[word] >> shift | high) & mask;
  }
}

// The differences of up to kBlock values from those before them. What is
// missing to kBlock repeats the smallest, which costs no bits.
void AppendBlock(const int64_t* values, size_t count, std::string& out) {
  // All are equal: the least difference is 0, and so are all widths.
  if (std::memcmp(values - 1, values, count * sizeof(*values)) == 0) {
    out.append(1 + kGroups, '\0');
    return;
  }
  std::array<uint64_t, kBlock> deltas;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < count; ++i) {
    deltas[i] =
        static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(values[i - 1]);
    least = std::min(least, static_cast<int64_t>(deltas[i]));
  }
  for (size_t i = 0; i < count; ++i) deltas[i] -= static_cast<uint64_t>(least);
  std::fill(deltas.begin() + static_cast<ptrdiff_t>(count), deltas.end(), 0);
  AppendVarint(ZigZag(least), out);
  std::array<char, kGroups> widths;
  for (size_t g = 0; g < kGroups; ++g) {
    uint64_t bits = 0;
    for (size_t i = 0; i < kGroup; ++i) bits |= deltas[g * kGroup + i];
    widths[g] = static_cast<char>(std::bit_width(bits));
  }
  out.append(widths.data(), widths.size());
  for (size_t g = 0; g * kGroup < count; ++g) {
    AppendPacked(&deltas[g * kGroup], widths[g], out);
  }
}

bool ReadVarint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

constexpr uint64_t UnZigZag(uint64_t coded) {
  return (coded >> 1) ^ (~(coded & 1) + 1);
}

// Reads the block that begins with the value after `last`.
bool ReadBlock(std::string_view& bytes, uint64_t& last,
               std::span<int64_t> values) {
  uint64_t coded;
  if (!ReadVarint(bytes, coded) || bytes.size() < kGroups) return false;
  const uint64_t least = UnZigZag(coded);
  const std::string_view widths = bytes.substr(0, kGroups);
  bytes.remove_prefix(kGroups);
  if (widths == std::string_view("\0\0\0\0", kGroups)) {
    for (int64_t& value : values) {
      last += least;
      value = static_cast<int64_t>(last);
    }
    return true;
  }
  for (size_t g = 0; g * kGroup < values.size(); ++g) {
    const int width = static_cast<uint8_t>(widths[g]);
    const size_t size = kGroup / 8 * static_cast<size_t>(width);
    if (width > 64 || bytes.size() < size) return false;
    std::array<uint64_t, kGroup> deltas;
    Unpack(bytes.data(), width, deltas.data());
    bytes.remove_prefix(size);
    const std::span<int64_t> part = values.subspan(g * kGroup);
    for (size_t i = 0; i < std::min(kGroup, part.size()); ++i) {
      last += deltas[i] + least;
      part[i] = static_cast<int64_t>(last);
    }
  }
  return true;
}

}  // namespace

void AppendDelta(std::span<const int64_t> values, std::string& out) {
  AppendVarint(kBlock, out);
  AppendVarint(kGroups, out);
  AppendVarint(values.size(), out);
  AppendVarint(ZigZag(values.empty() ? 0 : values[0]), out);
  for (size_t at = 1; at < values.size(); at += kBlock) {
    AppendBlock(&values[at], std::min(kBlock, values.size() - at), out);
  }
}

bool ReadDelta(std::string_view bytes, std::span<int64_t> values) {
  uint64_t block, groups, count, first;
  if (!ReadVarint(bytes, block) || !ReadVarint(bytes, groups) ||
      !ReadVarint(bytes, count) || !ReadVarint(bytes, first) ||
      block != kBlock || groups != kGroups || count != values.size()) {
    return false;
  }
  if (values.empty()) return true;
  uint64_t last = UnZigZag(first);
  values[0] = static_cast<int64_t>(last);
  for (size_t at = 1; at < values.size(); at += kBlock) {
    const size_t size = std::min(kBlock, values.size() - at);
    if (!ReadBlock(bytes, last, values.subspan(at, size))) return false;
  }
  return true;
}

}  // namespace kymo::parquet
