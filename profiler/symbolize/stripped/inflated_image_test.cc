#include "profiler/symbolize/stripped/inflated_image.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "profiler/base/owned_descriptor.h"
#include "profiler/symbolize/stripped/elf_section.h"
#include "profiler/symbolize/stripped/listed_units.h"
#include "profiler/symbolize/stripped/test_dwarf.h"
#include "profiler/symbolize/stripped/test_image.h"
#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {
namespace {

// As the gABI has it: a header, and then a stream of zlib.
std::string Compressed(const std::string& bytes,
                       uint32_t type = ELFCOMPRESS_ZLIB,
                       std::optional<uint64_t> told_bytes = std::nullopt) {
  std::string out(compressBound(bytes.size()), '\0');
  uLongf size = out.size();
  EXPECT_EQ(
      compress(reinterpret_cast<Bytef*>(out.data()), &size,
               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
      Z_OK);
  out.resize(size);
  return BytesOf(Elf64_Chdr{.ch_type = type,
                            .ch_reserved = 0,
                            .ch_size = told_bytes.value_or(bytes.size()),
                            .ch_addralign = 1}) +
         out;
}

// Not the same everywhere, and longer than what is read at a time.
std::string Long() {
  std::string text;
  uint32_t number = 1;
  while (text.size() < 300'000) {
    number = number * 1664525 + 1013904223;
    text += std::to_string(number);
  }
  return text;
}

class InflatedImageTest : public testing::Test {
 protected:
  ~InflatedImageTest() override { std::filesystem::remove(path_); }

  // What libdw would read; nothing if it is left to libdw.
  bool Inflates(const TestElf& elf, std::vector<uint64_t> addresses = {}) {
    elf.WriteTo(path_);
    return InflatesFile(addresses);
  }
  bool InflatesFile(const std::vector<uint64_t>& addresses = {}) {
    const OwnedDescriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    elf_version(EV_CURRENT);
    Elf* const elf = elf_begin(file.get(), ELF_C_READ, nullptr);
    image_.emplace(elf, file.get(), addresses);
    elf_end(elf);
    return image_->elf() != nullptr;
  }
  std::optional<std::string> Section(const char* name) {
    const auto section = FindElfSection(image_->elf(), name);
    if (!section) return std::nullopt;
    EXPECT_EQ(section->header.sh_flags, 0u);
    const Elf_Data* const data = elf_getdata(section->section, nullptr);
    return std::string(static_cast<const char*>(data->d_buf), data->d_size);
  }
  bool InflatesInfo(const std::string& bytes) {
    TestElf elf;
    AddCompressed(elf, ".debug_info", bytes);
    return Inflates(elf);
  }
  static void AddCompressed(TestElf& elf, const std::string& name,
                            const std::string& bytes) {
    elf.Add({.name = name, .bytes = bytes, .flags = SHF_COMPRESSED});
  }

  const std::string path_ = testing::TempDir() + "/inflated_image_test";
  std::optional<InflatedImage> image_;
};

TEST(HideNeedlessSectionsTest, HidesWhereVariablesAre) {
  TestElf elf;
  elf.Add({.name = ".debug_info", .bytes = "functions"});
  elf.Add({.name = ".debug_loc", .bytes = "places"});
  elf.Add({.name = ".debug_macro", .bytes = "macros"});
  const Image image(elf);
  HideNeedlessSections(image.elf());
  const auto type = [&](const char* name) {
    return FindElfSection(image.elf(), name)->header.sh_type;
  };
  EXPECT_EQ(type(".debug_info"), uint32_t{SHT_PROGBITS});
  EXPECT_EQ(type(".debug_loc"), uint32_t{SHT_NOBITS});
  EXPECT_EQ(type(".debug_macro"), uint32_t{SHT_NOBITS});
  HideNeedlessSections(nullptr);
}

TEST_F(InflatedImageTest, HasWhatLibdwNeeds) {
  TestElf elf;
  elf.Add({.name = ".text", .address = 0x1000, .bytes = "code"});
  AddCompressed(elf, ".debug_info", Compressed(Long()));
  AddCompressed(elf, ".debug_loclists", Compressed("lists"));
  AddCompressed(elf, ".debug_line", Compressed("lines"));
  elf.Add({.name = ".debug_str", .bytes = Long() + "strings"});
  elf.Add({.name = ".debug_abbrev", .bytes = ""});
  ASSERT_TRUE(Inflates(elf));
  EXPECT_EQ(Section(".debug_info"), Long());
  EXPECT_EQ(Section(".debug_line"), "lines");
  EXPECT_EQ(Section(".debug_str"), Long() + "strings");
  EXPECT_EQ(Section(".debug_abbrev"), "");
  EXPECT_EQ(Section(".debug_loclists"), std::nullopt);
  EXPECT_EQ(Section(".text"), std::nullopt);
  GElf_Ehdr header;
  ASSERT_NE(gelf_getehdr(image_->elf(), &header), nullptr);
  EXPECT_EQ(header.e_type, ET_DYN);
  EXPECT_EQ(header.e_machine, elf.machine);
}

TEST_F(InflatedImageTest, WhatIsNotCompressedIsLeftToLibdw) {
  TestElf elf;
  elf.Add({.name = ".debug_info", .bytes = "info"});
  EXPECT_FALSE(Inflates(elf));
  EXPECT_FALSE(Inflates(TestElf()));
  EXPECT_EQ(InflatedImage(nullptr, -1).elf(), nullptr);
  EXPECT_EQ(InflatedImage().elf(), nullptr);
}

TEST_F(InflatedImageTest, WhatHasPartsInOtherFilesIsLeftToLibdw) {
  for (const char* const name : {".gnu_debugaltlink", ".debug_addr"}) {
    TestElf elf;
    AddCompressed(elf, ".debug_info", Compressed("info"));
    EXPECT_TRUE(Inflates(elf));
    elf.Add({.name = name, .bytes = "other"});
    EXPECT_FALSE(Inflates(elf)) << name;
  }
}

TEST_F(InflatedImageTest, WhatIsDamagedIsLeftToLibdw) {
  const std::string good = Compressed(Long());
  ASSERT_TRUE(InflatesInfo(good));
  std::string flipped = good;
  flipped[flipped.size() / 2] ^= 0x55;
  std::string wrong_sum = good;
  wrong_sum.back() ^= 1;
  for (const std::string& bytes :
       {std::string(), good.substr(0, 10), good.substr(0, sizeof(Elf64_Chdr)),
        good.substr(0, good.size() - 1), flipped, wrong_sum,
        Compressed("text", /*ELFCOMPRESS_ZSTD*/ 2),
        Compressed("text", ELFCOMPRESS_ZLIB, 3),
        Compressed("text", ELFCOMPRESS_ZLIB, 5),
        // As much as could be, and more than there can be.
        Compressed("text", ELFCOMPRESS_ZLIB, 30'000),
        Compressed("text", ELFCOMPRESS_ZLIB, uint64_t{1} << 40)}) {
    EXPECT_FALSE(InflatesInfo(bytes));
  }
}

int64_t MostResidentBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

TEST_F(InflatedImageTest, SectionsLargerThanTheFileTakeNoMemory) {
  constexpr uint64_t kBytes = uint64_t{2} << 30;
  TestElf elf;
  AddCompressed(elf, ".debug_info", Compressed("info", ELFCOMPRESS_ZLIB, 4));
  std::string bytes = elf.WriteTo(path_);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const size_t at = header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, &bytes[at], sizeof(section));
    if ((section.sh_flags & SHF_COMPRESSED) == 0) continue;
    section.sh_size = kBytes;
    std::memcpy(&bytes[at], &section, sizeof(section));
    const Elf64_Chdr told = {.ch_type = ELFCOMPRESS_ZLIB,
                             .ch_reserved = 0,
                             .ch_size = kBytes,
                             .ch_addralign = 1};
    std::memcpy(&bytes[section.sh_offset], &told, sizeof(told));
  }
  std::ofstream(path_, std::ios::binary) << bytes;
  const int64_t before = MostResidentBytes();
  EXPECT_FALSE(InflatesFile());
  EXPECT_LT(MostResidentBytes() - before, int64_t{1} << 30);
}

TEST_F(InflatedImageTest, AFileThatEndsTooSoonIsLeftToLibdw) {
  TestElf elf;
  AddCompressed(elf, ".debug_info", Compressed(Long()));
  const std::string bytes = elf.WriteTo(path_);
  const OwnedDescriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  elf_version(EV_CURRENT);
  Elf* const opened = elf_begin(file.get(), ELF_C_READ, nullptr);
  ASSERT_TRUE(FindElfSection(opened, ".debug_info"));
  std::filesystem::resize_file(path_, bytes.size() / 2);
  EXPECT_EQ(InflatedImage(opened, file.get()).elf(), nullptr);
  elf_end(opened);
}

// Three units: at 100, at 200, and at 300 and 400.
class WantedUnitsTest : public InflatedImageTest {
 protected:
  WantedUnitsTest() {
    Add(".debug_info", units_[0] + units_[1] + units_[2]);
    Add(".debug_abbrev", UnitAbbreviation());
    Add(".debug_aranges", ListedSet(0, {{100, 10}, {0, 0}}) +
                              ListedSet(units_[0].size(), {{200, 10}, {0, 0}}) +
                              ListedSet(units_[0].size() + units_[1].size(),
                                        {{300, 10}, {400, 10}, {0, 0}}));
    Add(".debug_line", LineTable('a') + LineTable('b') + LineTable('c'));
    Add(".debug_str", "strings");
  }

  static std::string LineTable(char letter) {
    return BytesOf(uint32_t{96}) + std::string(96, letter);
  }
  void Add(const std::string& name, const std::string& bytes) {
    for (TestSection& section : elf_.sections) {
      if (section.name == name) section.name = ".replaced";
    }
    AddCompressed(elf_, name, Compressed(bytes));
  }
  bool HasAll(const std::vector<uint64_t>& addresses) {
    EXPECT_TRUE(Inflates(elf_, addresses));
    return image_->has_all_units();
  }
  std::string List() {
    std::string text;
    for (const ListedUnit& unit : ReadListedUnits(image_->elf())) {
      text += std::to_string(unit.start) + "-" + std::to_string(unit.end) +
              ":" + std::to_string(unit.offset) + " ";
    }
    return text;
  }

  const std::string units_[3] = {UnitOfLines(0, 300'000),
                                 UnitOfLines(200, 5, 4), UnitOfLines(100, 9)};
  TestElf elf_;
};

TEST_F(WantedUnitsTest, AFewAddressesNeedAFew) {
  EXPECT_FALSE(HasAll({205}));
  EXPECT_EQ(Section(".debug_info"), units_[1]);
  EXPECT_EQ(List(), "200-210:0 ");
  EXPECT_EQ(Section(".debug_str"), "strings");
  EXPECT_FALSE(HasAll({309, 100, 400}));
  EXPECT_EQ(Section(".debug_info"), units_[0] + units_[2]);
  const std::string second = std::to_string(units_[0].size());
  EXPECT_EQ(List(), "100-110:0 300-310:" + second + " 400-410:" + second + " ");
}

TEST_F(WantedUnitsTest, LinesGoToTheLastTableThatAUnitHas) {
  const std::string nothing(100, '\0');
  EXPECT_FALSE(HasAll({105}));
  EXPECT_EQ(Section(".debug_line"), LineTable('a') + nothing + nothing);
  EXPECT_FALSE(HasAll({105, 305}));
  EXPECT_EQ(Section(".debug_line"), LineTable('a') + LineTable('b') + nothing);
  EXPECT_FALSE(HasAll({205}));
  EXPECT_EQ(Section(".debug_line"),
            LineTable('a') + LineTable('b') + LineTable('c'));
}

TEST_F(WantedUnitsTest, WithAnUnlistedAddressAllAreRead) {
  for (const uint64_t address : {99, 110, 299, 310, 410}) {
    EXPECT_TRUE(HasAll({205, address})) << address;
    EXPECT_EQ(Section(".debug_info"), units_[0] + units_[1] + units_[2]);
  }
  EXPECT_TRUE(HasAll({}));
  Add(".debug_aranges", "");
  EXPECT_TRUE(HasAll({205}));
}

TEST_F(WantedUnitsTest, UnitsThatMayReferToOthersAreAllRead) {
  for (const char* const form : {"\x10", "\x16", "\x1c", "\x1d", "\x20", "\x24",
                                 "\xa0\x3e", "\xa1\x3e"}) {
    // The first abbreviation does not, the second one does.
    Add(".debug_abbrev", UnitAbbreviation() + UnitAbbreviation(form));
    EXPECT_TRUE(HasAll({205})) << form;
  }
  // A constant of the abbreviation may look like one of them.
  Add(".debug_abbrev",
      UnitAbbreviation() +
          std::string("\x01\x2e\x00\x20\x21\x10\x00\x00\x00", 9));
  EXPECT_FALSE(HasAll({205}));
  Add(".debug_types", "types");
  EXPECT_TRUE(HasAll({205}));
}

TEST_F(WantedUnitsTest, UnitsOfOtherKindsAreAllRead) {
  for (const std::string& unit :
       {UnitOfLines(0, 0, 5, DW_UT_type), UnitOfLines(0, 0, 5, DW_UT_skeleton),
        UnitOfLines(0, 0, 6), UnitOfLines(0, 0, 1),
        BytesOf(kIs64Bit) + BytesOf(uint64_t{3}) + "abc",
        BytesOf(uint32_t{2}) + "ab", BytesOf(uint32_t{500}) + "abcd"}) {
    Add(".debug_info", units_[0] + unit);
    EXPECT_TRUE(HasAll({205}));
    EXPECT_FALSE(HasAll({105}));
  }
}

TEST_F(WantedUnitsTest, DamageThatIsReadIsLeftToLibdw) {
  for (const char* const name : {".debug_info", ".debug_line", ".debug_str"}) {
    TestElf elf = elf_;
    for (TestSection& section : elf.sections) {
      if (section.name == name) section.bytes.resize(sizeof(Elf64_Chdr) + 4);
    }
    EXPECT_FALSE(Inflates(elf, {205})) << name;
  }
  TestElf longer = elf_;
  for (TestSection& section : longer.sections) {
    if (section.name != ".debug_info") continue;
    section.bytes = Compressed(units_[0] + units_[1], ELFCOMPRESS_ZLIB,
                               units_[0].size() + 8);
  }
  EXPECT_FALSE(Inflates(longer, {205}));
  EXPECT_TRUE(Inflates(longer, {105}));
  Add(".debug_line", LineTable('a') + LineTable('b') + "\x60");
  EXPECT_FALSE(Inflates(elf_, {205}));
  EXPECT_TRUE(Inflates(elf_, {305}));
}

}  // namespace
}  // namespace kymo::symbolize
