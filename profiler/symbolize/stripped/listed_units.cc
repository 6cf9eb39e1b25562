// Format: DWARF 5, section 6.1.2, "Lookup by Address".
#include "profiler/symbolize/stripped/listed_units.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "profiler/symbolize/stripped/elf_section.h"

namespace kymo::symbolize {
namespace {

constexpr uint32_t kIs64Bit = 0xffffffff;
constexpr size_t kAddressBytes = 8;

// Reads numbers one by one; past the end all are 0.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Number>
  Number Take() {
    Number number = 0;
    if (left() < sizeof(number)) {
      at_ = bytes_.size();
      return 0;
    }
    std::memcpy(&number, bytes_.data() + at_, sizeof(number));
    at_ += sizeof(number);
    return number;
  }
  uint64_t TakeOffset(bool is_64_bit) {
    return is_64_bit ? Take<uint64_t>() : Take<uint32_t>();
  }
  void AlignTo(size_t bytes) {
    at_ = std::min((at_ + bytes - 1) / bytes * bytes, bytes_.size());
  }
  // What follows, as far as it goes.
  std::span<const std::byte> Next(uint64_t bytes) {
    const auto part = bytes_.subspan(at_, std::min<uint64_t>(bytes, left()));
    at_ += part.size();
    return part;
  }
  size_t at() const noexcept { return at_; }
  size_t left() const noexcept { return bytes_.size() - at_; }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

void ReadSet(std::span<const std::byte> bytes, bool is_64_bit,
             std::vector<ListedUnit>& units) {
  constexpr uint16_t kVersion = 2;
  Reader set(bytes);
  set.Next(is_64_bit ? 12 : 4);  // its length
  const auto version = set.Take<uint16_t>();
  const uint64_t offset = set.TakeOffset(is_64_bit);
  const auto address_bytes = set.Take<uint8_t>();
  const auto segment_bytes = set.Take<uint8_t>();
  if (version != kVersion || address_bytes != kAddressBytes ||
      segment_bytes != 0) {
    return;
  }
  set.AlignTo(2 * kAddressBytes);
  while (set.left() >= 2 * kAddressBytes) {
    const auto start = set.Take<uint64_t>();
    const auto size = set.Take<uint64_t>();
    if (start == 0 && size == 0) return;
    // Functions that the linker discarded are at address 0.
    if (start == 0 || start + size <= start) continue;
    units.push_back({start, start + size, offset});
  }
}

}  // namespace

std::vector<ListedUnit> ReadListedUnits(Elf* elf) {
  const auto section = FindElfSection(elf, ".debug_aranges");
  if (!section || (section->header.sh_flags & SHF_COMPRESSED) != 0) return {};
  const Elf_Data* const data = elf_getdata(section->section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return ReadListedUnits(
      std::span(static_cast<const std::byte*>(data->d_buf), data->d_size));
}

std::vector<ListedUnit> ReadListedUnits(std::span<const std::byte> all) {
  std::vector<ListedUnit> units;
  for (Reader sets(all); sets.left() > 0;) {
    const size_t begin = sets.at();
    uint64_t size = sets.Take<uint32_t>();
    const bool is_64_bit = size == kIs64Bit;
    if (is_64_bit) size = sets.Take<uint64_t>();
    sets.Next(size);
    ReadSet(all.subspan(begin, sets.at() - begin), is_64_bit, units);
  }
  return units;
}

}  // namespace kymo::symbolize
