#include "profiler/symbolize/stripped/go_functions.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "profiler/symbolize/stripped/test_image.h"
#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {
namespace {

// Go's table of the functions "main.a" at 0x1000 and "main.b" at 0x1010, up to
// 0x1040.
std::string GoTable(uint32_t format) {
  const bool has_offsets = format != 0xfffffffa;
  const std::string names("\0main.a\0main.b\0", 15);
  const uint64_t names_at = 8 + 8 * (has_offsets ? 8 : 7);
  const uint64_t functions_at = names_at + 16;
  std::string table = BytesOf(format) + std::string("\0\0\1\10", 4) +
                      BytesOf(uint64_t{2}) + BytesOf(uint64_t{1});
  if (has_offsets) table += BytesOf(uint64_t{0x1000});
  for (const uint64_t at :
       {names_at, uint64_t{0}, uint64_t{0}, uint64_t{0}, functions_at}) {
    table += BytesOf(at);
  }
  table += names + '\0';
  if (has_offsets) {
    for (const uint32_t word : {0x0, 20, 0x10, 28, 0x40})
      table += BytesOf(word);
    for (const uint32_t word : {0x0, 1, 0x10, 8}) table += BytesOf(word);
  } else {
    for (const uint64_t word : {0x1000, 40, 0x1010, 52, 0x1040}) {
      table += BytesOf(word);
    }
    table += BytesOf(uint64_t{0x1000}) + BytesOf(uint32_t{1});
    table += BytesOf(uint64_t{0x1010}) + BytesOf(uint32_t{8});
  }
  return table;
}

TestElf GoProgram(const std::string& table,
                  const std::string& section = ".gopclntab") {
  TestElf elf;
  elf.Add({.name = ".text", .address = 0x1000, .bytes = "code"});
  elf.Add({.name = section, .bytes = table});
  return elf;
}

TEST(GoFunctionsTest, NamesAreInGosOwnTable) {
  for (const uint32_t format : {0xfffffffa, 0xfffffff0, 0xfffffff1}) {
    const Image image(GoProgram(GoTable(format)));
    const GoFunctions functions(image.elf());
    EXPECT_EQ(functions.Find(0xfff), "") << format;
    EXPECT_EQ(functions.Find(0x1000), "main.a") << format;
    EXPECT_EQ(functions.Find(0x100f), "main.a") << format;
    EXPECT_EQ(functions.Find(0x1010), "main.b") << format;
    EXPECT_EQ(functions.Find(0x103f), "main.b") << format;
    EXPECT_EQ(functions.Find(0x1040), "") << format;
  }
  // In a position-independent program the loader writes where the code begins.
  std::string table = GoTable(0xfffffff1);
  table.replace(8 + 16, 8, 8, '\0');
  const Image image(GoProgram(table, ".data.rel.ro.gopclntab"));
  EXPECT_EQ(GoFunctions(image.elf()).Find(0x1010), "main.b");
}

TEST(GoFunctionsTest, HostileTablesNameNothing) {
  EXPECT_EQ(GoFunctions(nullptr).Find(0x1000), "");
  const std::string good = GoTable(0xfffffff1);
  for (size_t size = 0; size < good.size(); ++size) {
    const Image image(GoProgram(good.substr(0, size)));
    GoFunctions(image.elf()).Find(0x1010);
  }
  // Each byte may be anything.
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = '\xff';
    const Image image(GoProgram(bad));
    const GoFunctions functions(image.elf());
    for (uint64_t address = 0xfff; address < 0x1042; ++address) {
      functions.Find(address);
    }
  }
}

}  // namespace
}  // namespace kymo::symbolize
