#include "profiler/symbolize/stripped/listed_units.h"

#include <gtest/gtest.h>
#include <libelf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/symbolize/stripped/test_dwarf.h"
#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {
namespace {

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
  EXPECT_EQ(TextOf(ListedSet(0, {{100, 20}, {200, 5}, {0, 0}}) +
                   ListedSet(77, {{50, 1}, {0, 0}}, /*is_64_bit=*/true) +
                   ListedSet(99, {{300, 9}, {0, 0}})),
            "100-120:0 200-205:0 50-51:77 300-309:99 ");
  EXPECT_EQ(TextOf(""), "");
  EXPECT_TRUE(ReadListedUnits(nullptr).empty());
}

TEST(ListedUnitsTest, DiscardedFunctionsAreNotListed) {
  EXPECT_EQ(
      TextOf(ListedSet(1, {{0, 8}, {9, 0}, {~uint64_t{0}, 8}, {5, 2}, {0, 0}})),
      "5-7:1 ");
}

TEST(ListedUnitsTest, ASetOfAnotherKindIsLeftOut) {
  const std::string last = ListedSet(4, {{5, 2}, {0, 0}});
  EXPECT_EQ(TextOf(ListedSet(1, {{7, 8}, {0, 0}}, false, 3) +
                   ListedSet(2, {{7, 8}, {0, 0}}, false, 2, 4) +
                   ListedSet(3, {{7, 8}, {0, 0}}, false, 2, 8, 1) + last),
            "5-7:4 ");
}

// Each of its beginnings has what of the whole is complete.
TEST(ListedUnitsTest, ACutSectionIsReadAsFarAsItGoes) {
  const std::string all = ListedSet(1, {{100, 20}, {0, 0}}) +
                          ListedSet(2, {{200, 5}, {0, 0}}, true);
  const std::string text = TextOf(all);
  for (size_t bytes = 0; bytes < all.size(); ++bytes) {
    const std::string part = TextOf(all.substr(0, bytes));
    EXPECT_EQ(text.substr(0, part.size()), part) << bytes;
  }
  EXPECT_EQ(TextOf("\x01"), "");
  EXPECT_EQ(TextOf("\xff\xff\xff\xff"), "");
}

TEST(ListedUnitsTest, ACompressedSectionIsNotRead) {
  EXPECT_EQ(TextOf(ListedSet(1, {{100, 20}, {0, 0}}), SHF_COMPRESSED), "");
}

}  // namespace
}  // namespace kymo::symbolize
