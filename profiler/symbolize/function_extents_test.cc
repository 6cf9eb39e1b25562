#include "profiler/symbolize/function_extents.h"

#include <gtest/gtest.h>

#include <string>

#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {
namespace {

// "begin-end", or "".
std::string Around(FunctionExtents& functions, uint64_t address) {
  const auto found = functions.Around(address);
  if (!found) return "";
  return std::to_string(found->begin) + "-" + std::to_string(found->end);
}

TEST(FunctionExtentsTest, BothTablesKnowFunctions) {
  TestElf elf;
  elf.Add({.name = ".text", .address = 100, .bytes = std::string(900, 'x')});
  elf.AddSymbols(
      SHT_DYNSYM,
      {Function("b", 300, 50),
       Function("a", 200, 50),
       Function("alias", 200, 40),
       Function("empty", 260, 0),
       {.name = "data", .address = 270, .size_bytes = 10, .type = STT_OBJECT},
       {.name = "elsewhere",
        .address = 280,
        .size_bytes = 10,
        .section = SHN_UNDEF}});
  elf.AddSymbols(SHT_SYMTAB, {Function("local", 400, 5, STB_LOCAL)});
  std::string bytes = elf.Bytes();
  elf_version(EV_CURRENT);
  Elf* const image = elf_memory(bytes.data(), bytes.size());
  FunctionExtents functions(image);
  EXPECT_EQ(Around(functions, 199), "");
  EXPECT_EQ(Around(functions, 200), "200-250");
  EXPECT_EQ(Around(functions, 249), "200-250");
  for (const uint64_t address : {250u, 260u, 270u, 280u, 350u}) {
    EXPECT_EQ(Around(functions, address), "") << address;
  }
  EXPECT_EQ(Around(functions, 349), "300-350");
  EXPECT_EQ(Around(functions, 404), "400-405");
  EXPECT_EQ(Around(functions, 405), "");
  elf_end(image);
}

TEST(FunctionExtentsTest, WithoutAnImageNothingIsKnown) {
  FunctionExtents functions(nullptr);
  EXPECT_EQ(Around(functions, 0), "");
}

}  // namespace
}  // namespace kymo::symbolize
