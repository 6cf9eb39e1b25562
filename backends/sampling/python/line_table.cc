#include "backends/sampling/python/line_table.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace kymo::sampling {
namespace {

// The kinds of entries. Those below kOneLine have one more byte.
constexpr unsigned kOneLine =
    10;  // and the two after it: the line grows by 0-2
constexpr unsigned kNoColumns = 13;
constexpr unsigned kLong = 14;
constexpr unsigned kNone = 15;

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool is_at_end() const noexcept { return at_ >= bytes_.size(); }
  std::optional<unsigned> Byte() {
    if (is_at_end()) return std::nullopt;
    return static_cast<unsigned>(bytes_[at_++]);
  }
  bool Skip(size_t count) {
    at_ += count;
    return at_ <= bytes_.size();
  }
  // Six bits a byte, the lowest first.
  std::optional<uint64_t> Number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 36; shift += 6) {
      const auto byte = Byte();
      if (!byte) return std::nullopt;
      value |= uint64_t{*byte & 63} << shift;
      if ((*byte & 64) == 0) return value;
    }
    return std::nullopt;
  }
  std::optional<int64_t> SignedNumber() {
    const auto value = Number();
    if (!value) return std::nullopt;
    const auto size = static_cast<int64_t>(*value >> 1);
    return (*value & 1) != 0 ? -size : size;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

// How many lines the entry's is below the one before. Skips its columns.
std::optional<int64_t> ReadLineStep(Reader& reader, unsigned kind) {
  if (kind == kNone) return 0;
  if (kind < kOneLine) return reader.Skip(1) ? std::optional(0) : std::nullopt;
  if (kind < kNoColumns) {
    return reader.Skip(2) ? std::optional<int64_t>(kind - kOneLine)
                          : std::nullopt;
  }
  const auto step = reader.SignedNumber();
  if (kind == kLong) {
    for (int i = 0; i < 3; ++i) {
      if (!reader.Number()) return std::nullopt;
    }
  }
  return step;
}

}  // namespace

LineTable::LineTable(std::span<const std::byte> bytes, int32_t first_line) {
  Reader reader(bytes);
  int64_t line = first_line;
  uint64_t unit = 0;
  while (!reader.is_at_end()) {
    const unsigned first = *reader.Byte();
    if ((first & 128) == 0) return;
    const unsigned kind = first >> 3 & 15;
    const auto step = ReadLineStep(reader, kind);
    if (!step) return;
    line += *step;
    if (line < 0 || line > std::numeric_limits<int32_t>::max()) return;
    unit += (first & 7) + 1;
    Add(unit, kind == kNone ? 0 : static_cast<uint32_t>(line));
  }
}

void LineTable::Add(uint64_t end_unit, uint32_t line) {
  // Code without a line of its own counts for what comes before it.
  if (line == 0 && !ranges_.empty()) line = ranges_.back().line;
  if (!ranges_.empty() && ranges_.back().line == line) {
    ranges_.back().end_unit = end_unit;
  } else {
    ranges_.push_back({end_unit, line});
  }
}

uint32_t LineTable::LineAt(uint64_t unit) const noexcept {
  const auto at = std::upper_bound(ranges_.begin(), ranges_.end(), unit,
                                   [](uint64_t wanted, const Range& range) {
                                     return wanted < range.end_unit;
                                   });
  return at == ranges_.end() ? 0 : at->line;
}

}  // namespace kymo::sampling
