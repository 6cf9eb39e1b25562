#include "profiler/symbolize/stripped/wanted_units.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace kymo::symbolize {
namespace {

// Of abbreviations; past the end all numbers are 0.
class Leb128Reader {
 public:
  explicit Leb128Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t Take() {
    // Most numbers are small.
    if (at_ < bytes_.size() && bytes_[at_] < std::byte{0x80}) {
      return std::to_integer<uint64_t>(bytes_[at_++]);
    }
    return TakeLong();
  }
  void SkipByte() { at_ = std::min(at_ + 1, bytes_.size()); }
  bool is_at_end() const { return at_ == bytes_.size(); }

 private:
  uint64_t TakeLong() {
    uint64_t number = 0;
    for (unsigned shift = 0; at_ < bytes_.size(); shift += 7) {
      const auto byte = std::to_integer<uint64_t>(bytes_[at_++]);
      if (shift < 64) number |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return number;
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

// The value is in another unit or another file.
bool RefersElsewhere(uint64_t form) {
  switch (form) {
    case DW_FORM_ref_addr:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_indirect:  // then the unit has the form
      return true;
    default:
      return false;
  }
}

struct UnitHeader {
  uint32_t length;  // without this member
  uint16_t version;
  uint8_t type;  // since DWARF 5; before, this is part of an offset
};
constexpr size_t kUnitHeaderBytes = 7;

bool IsOfAKindThatStandsAlone(const UnitHeader& header) {
  // Larger lengths stand for the 64-bit format.
  return header.length < 0xfffffff0 &&
         header.length >= kUnitHeaderBytes - sizeof(header.length) &&
         header.version >= 2 && header.version <= 5 &&
         (header.version < 5 || header.type == DW_UT_compile);
}

// Appends the unit that `info` stands at. Returns its size; 0: it is not read.
size_t AppendUnit(DebugSectionReader& info, std::vector<std::byte>& units) {
  std::byte bytes[kUnitHeaderBytes];
  if (!info.Read(bytes)) return 0;
  UnitHeader header;
  std::memcpy(&header.length, bytes, sizeof(header.length));
  std::memcpy(&header.version, bytes + 4, sizeof(header.version));
  std::memcpy(&header.type, bytes + 6, sizeof(header.type));
  if (!IsOfAKindThatStandsAlone(header)) return 0;
  const size_t size = sizeof(header.length) + header.length;
  const size_t begin = units.size();
  units.insert(units.end(), bytes, bytes + sizeof(bytes));
  constexpr size_t kPartBytes = size_t{1} << 20;
  // By parts: a damaged length may be large.
  while (units.size() < begin + size) {
    const size_t before = units.size();
    units.resize(std::min(begin + size, before + kPartBytes));
    if (!info.Read(std::span(units).subspan(before))) return 0;
  }
  return size;
}

template <typename Number>
void Append(Number number, std::vector<std::byte>& bytes) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), begin, begin + sizeof(number));
}

// A set of its own for each range.
void AppendSet(const ListedUnit& unit, uint32_t offset,
               std::vector<std::byte>& list) {
  Append(uint32_t{44}, list);  // what follows
  Append(uint16_t{2}, list);   // the format's version
  Append(offset, list);
  Append(uint8_t{8}, list);   // of an address
  Append(uint8_t{0}, list);   // of a segment
  Append(uint32_t{0}, list);  // so that pairs are aligned
  Append(unit.start, list);
  Append(unit.end - unit.start, list);
  Append(uint64_t{0}, list);
  Append(uint64_t{0}, list);
}

// The offsets of the units around all addresses; nothing if one has none.
std::optional<std::map<uint64_t, uint32_t>> UnitsAround(
    std::vector<ListedUnit> listed, std::span<const uint64_t> addresses) {
  std::ranges::sort(listed, {}, &ListedUnit::start);
  std::map<uint64_t, uint32_t> offsets;
  for (const uint64_t address : addresses) {
    const auto after =
        std::ranges::upper_bound(listed, address, {}, &ListedUnit::start);
    if (after == listed.begin() || address >= std::prev(after)->end) return {};
    offsets.try_emplace(std::prev(after)->offset);
  }
  return offsets;
}

}  // namespace

bool UnitsStandAlone(std::span<const std::byte> abbreviations) {
  Leb128Reader reader(abbreviations);
  while (!reader.is_at_end()) {
    if (reader.Take() == 0) continue;  // the end of a unit's
    reader.Take();                     // the tag
    reader.SkipByte();                 // whether it has children
    while (!reader.is_at_end()) {
      const uint64_t attribute = reader.Take();
      const uint64_t form = reader.Take();
      if (RefersElsewhere(form)) return false;
      if (form == DW_FORM_implicit_const) reader.Take();
      if (attribute == 0 && form == 0) break;
    }
  }
  return true;
}

std::optional<WantedUnits> ReadWantedUnits(std::vector<ListedUnit> listed,
                                           std::span<const uint64_t> addresses,
                                           DebugSectionReader& info) {
  auto offsets = UnitsAround(listed, addresses);
  if (!offsets) return {};
  WantedUnits wanted;
  uint64_t at = 0;
  for (auto& [offset, moved] : *offsets) {
    moved = static_cast<uint32_t>(wanted.info.size());
    if (offset < at || !info.Skip(offset - at)) return {};
    const size_t size = AppendUnit(info, wanted.info);
    if (size == 0) return {};
    at = offset + size;
  }
  for (const ListedUnit& unit : listed) {
    if (const auto its = offsets->find(unit.offset); its != offsets->end()) {
      AppendSet(unit, its->second, wanted.list);
    }
  }
  return wanted;
}

}  // namespace kymo::symbolize
