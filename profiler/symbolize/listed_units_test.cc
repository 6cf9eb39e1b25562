#include "profiler/symbolize/listed_units.h"

#include <gtest/gtest.h>
#include <libelf.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {
namespace {

using Pairs = std::vector<std::pair<uint64_t, uint64_t>>;

constexpr uint32_t kIs64Bit = 0xffffffff;

// A set of .debug_aranges, as section 6.1.2 of DWARF 5 has it.
std::string Set(uint64_t offset, const Pairs& pairs, bool is_64_bit = false,
                uint16_t version = 2, uint8_t address_bytes = 8,
                uint8_t segment_bytes = 0) {
  std::string body = BytesOf(version);
  body += is_64_bit ? BytesOf(offset) : BytesOf(static_cast<uint32_t>(offset));
  body += BytesOf(address_bytes) + BytesOf(segment_bytes);
  const size_t length_bytes = is_64_bit ? 12 : 4;
  while ((body.size() + length_bytes) % 16 != 0) body += '\x7f';
  for (const auto& [start, size] : pairs) {
    body += BytesOf(start) + BytesOf(size);
  }
  return (is_64_bit ? BytesOf(kIs64Bit) + BytesOf(uint64_t{body.size()})
                    : BytesOf(static_cast<uint32_t>(body.size()))) +
         body;
}

std::string TextOf(const std::string& section, uint64_t flags = 0) {
  TestElf file;
  file.Add({.name = ".debug_aranges", .bytes = section, .flags = flags});
  std::string bytes = file.Bytes();
  elf_version(EV_CURRENT);
  Elf* const elf = elf_memory(bytes.data(), bytes.size());
  std::string text;
  for (const ListedUnit& unit : ReadListedUnits(elf)) {
    text += std::to_string(unit.start) + "-" + std::to_string(unit.end) + ":" +
            std::to_string(unit.offset) + " ";
  }
  elf_end(elf);
  return text;
}

TEST(ListedUnitsTest, AreThoseOfAllSets) {
  EXPECT_EQ(TextOf(Set(0, {{100, 20}, {200, 5}, {0, 0}}) +
                   Set(77, {{50, 1}, {0, 0}}, /*is_64_bit=*/true) +
                   Set(99, {{300, 9}, {0, 0}})),
            "100-120:0 200-205:0 50-51:77 300-309:99 ");
  EXPECT_EQ(TextOf(""), "");
  EXPECT_TRUE(ReadListedUnits(nullptr).empty());
}

TEST(ListedUnitsTest, DiscardedFunctionsAreNotListed) {
  EXPECT_EQ(TextOf(Set(1, {{0, 8}, {9, 0}, {~uint64_t{0}, 8}, {5, 2}, {0, 0}})),
            "5-7:1 ");
}

TEST(ListedUnitsTest, ASetOfAnotherKindIsLeftOut) {
  const std::string last = Set(4, {{5, 2}, {0, 0}});
  EXPECT_EQ(TextOf(Set(1, {{7, 8}, {0, 0}}, false, 3) +
                   Set(2, {{7, 8}, {0, 0}}, false, 2, 4) +
                   Set(3, {{7, 8}, {0, 0}}, false, 2, 8, 1) + last),
            "5-7:4 ");
}

// Each of its beginnings has what of the whole is complete.
TEST(ListedUnitsTest, ACutSectionIsReadAsFarAsItGoes) {
  const std::string all =
      Set(1, {{100, 20}, {0, 0}}) + Set(2, {{200, 5}, {0, 0}}, true);
  const std::string text = TextOf(all);
  for (size_t bytes = 0; bytes < all.size(); ++bytes) {
    const std::string part = TextOf(all.substr(0, bytes));
    EXPECT_EQ(text.substr(0, part.size()), part) << bytes;
  }
  EXPECT_EQ(TextOf("\x01"), "");
  EXPECT_EQ(TextOf("\xff\xff\xff\xff"), "");
}

TEST(ListedUnitsTest, ACompressedSectionIsNotRead) {
  EXPECT_EQ(TextOf(Set(1, {{100, 20}, {0, 0}}), SHF_COMPRESSED), "");
}

}  // namespace
}  // namespace kymo::symbolize
