#include "profiler/symbolize/dwarf_functions.h"

#include <dwarf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {
namespace {

constexpr uint64_t kStart = 0x1000;
constexpr uint64_t kBytes = 16;

// One function, whose name is the first one of .debug_str.
TestElf WithFunction(const std::string& names) {
  const std::string range = {DW_AT_low_pc,  DW_FORM_addr, DW_AT_high_pc,
                             DW_FORM_data8, '\0',         '\0'};
  const std::string abbreviations =
      std::string{1, DW_TAG_compile_unit, DW_CHILDREN_yes} + range +
      std::string{2, DW_TAG_subprogram, DW_CHILDREN_no, DW_AT_name,
                  DW_FORM_strp} +
      range + '\0';
  const std::string place = BytesOf(kStart) + BytesOf(kBytes);
  const std::string unit = BytesOf(uint16_t{5}) +
                           std::string{DW_UT_compile, sizeof(uint64_t)} +
                           BytesOf(uint32_t{0}) + '\1' + place + '\2' +
                           BytesOf(uint32_t{0}) + place + '\0';
  TestElf elf;
  elf.Add({.name = ".debug_abbrev", .bytes = abbreviations});
  elf.Add({.name = ".debug_info",
           .bytes = BytesOf(static_cast<uint32_t>(unit.size())) + unit});
  elf.Add({.name = ".debug_str", .bytes = names});
  return elf;
}

// Empty: nothing is known of the place.
std::string NameIn(const TestElf& file) {
  std::string bytes = file.Bytes();
  elf_version(EV_CURRENT);
  Elf* const elf = elf_memory(bytes.data(), bytes.size());
  std::string name;
  {
    DwarfFunctions functions(elf);
    for (const SourceFrame& frame : functions.Find(kStart + 1)) {
      name += frame.name == nullptr ? "?" : frame.name;
    }
  }
  elf_end(elf);
  return name;
}

// libdw would give out what follows in memory, too.
TEST(DwarfFunctionsTest, NamesWithoutAnEndAreNotRead) {
  const std::string end(1, '\0');
  EXPECT_EQ(NameIn(WithFunction("work" + end)), "work");
  EXPECT_EQ(NameIn(WithFunction("work")), "");
  TestElf lines = WithFunction("work" + end);
  lines.Add({.name = ".debug_line_str", .bytes = "work.cc"});
  EXPECT_EQ(NameIn(lines), "");
  TestElf none = WithFunction("work" + end);
  none.Add({.name = ".debug_line_str"});
  EXPECT_EQ(NameIn(none), "work");
}

size_t MissingFilesOf(const TestElf& file) {
  std::string bytes = file.Bytes();
  elf_version(EV_CURRENT);
  Elf* const elf = elf_memory(bytes.data(), bytes.size());
  size_t missing = 0;
  {
    DwarfFunctions functions(elf);
    functions.Find(kStart + 1);
    functions.Find(kStart + 2);
    missing = functions.missing_files();
  }
  elf_end(elf);
  return missing;
}

TEST(DwarfFunctionsTest, CountsMissingFilesOfSplitDebugInformation) {
  TestElf split;
  split.AddSplitUnit("/no/work.dwo", kStart, kBytes);
  EXPECT_EQ(MissingFilesOf(split), 1u);
  EXPECT_EQ(MissingFilesOf(WithFunction(std::string("work\0", 5))), 0u);
}

}  // namespace
}  // namespace kymo::symbolize
