#include "profiler/symbolize/kernel_symbols.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace kymo::symbolize {
namespace {

TEST(KernelSymbolsTest, FindsTheFunctionAround) {
  const KernelSymbols symbols(
      "ffffffff81000100 T second\n"
      "ffffffff81000000 t first\n"
      "ffffffff81000080 d data\n"
      "ffffffffc0000000 t of_module\t[ext4]\n");
  EXPECT_EQ(symbols.Find(0xffffffff80ffffff), nullptr);
  EXPECT_EQ(symbols.Find(0xffffffff810000ff)->name, "first");
  EXPECT_EQ(symbols.Find(0xffffffff81000100)->name, "second");
  EXPECT_EQ(symbols.Find(0xffffffffc0000010)->name, "of_module");
}

TEST(KernelSymbolsTest, ReadsLinesThatAreWholeAndFunctions) {
  const KernelSymbols symbols(
      "1000 t a\n"
      "2000 T b\n"
      "3000 w c\n"
      "4000 W d\n"
      "5000 r no_function\n"
      "6000 t \n"
      "7000 \n"
      "8000_t e\n"
      "9000 t_e\n"
      "nonsense t e\n"
      "\n"
      "a000 t last");
  const char* const names[] = {"a", "b", "c", "d", "d",
                               "d", "d", "d", "d", "last"};
  for (uint64_t i = 0; i < 10; ++i) {
    const KernelSymbol* const symbol = symbols.Find((i + 1) * 0x1000);
    ASSERT_NE(symbol, nullptr) << i;
    EXPECT_EQ(symbol->name, names[i]) << i;
  }
  EXPECT_EQ(symbols.Find(0x2fff)->address, 0x2000u);
  // Of several names of one address the last one.
  EXPECT_EQ(KernelSymbols("10 t x\n10 t y\n").Find(0x10)->name, "y");
  EXPECT_EQ(KernelSymbols("").Find(1), nullptr);
}

// All addresses are 0 where the kernel hides them.
TEST(KernelSymbolsTest, ReadsAsMuchOfTheListAsIsNeeded) {
  std::ostringstream text;
  text << std::ifstream("/proc/kallsyms").rdbuf();
  const KernelSymbols all(text.str());
  for (const uint64_t address :
       {uint64_t{0xffffffff81000000}, uint64_t{0xffffffff81100000},
        uint64_t{0xffffffff82000000}}) {
    const KernelSymbol* const expected = all.Find(address);
    const auto part = KernelSymbols::OfThisMachine(address);
    const KernelSymbol* const found = part->Find(address);
    ASSERT_EQ(found == nullptr, expected == nullptr);
    if (found != nullptr) {
      EXPECT_EQ(found->address, expected->address);
    }
  }
}

// Where the kernel hides its addresses, nothing reaches anywhere.
TEST(KernelSymbolsTest, WhatSomebodyHoldsIsNotReadAgain) {
  const auto held = KernelSymbols::OfThisMachine(0xffffffff81100000);
  if (held->Find(0xffffffff81100000) == nullptr) GTEST_SKIP() << "hidden";
  EXPECT_EQ(KernelSymbols::OfThisMachine(0xffffffff81000000), held);
  const auto further = KernelSymbols::OfThisMachine(0xffffffff82000000);
  EXPECT_NE(further, held);
  EXPECT_EQ(KernelSymbols::OfThisMachine(0xffffffff81100000), further);
}

TEST(KernelSymbolsTest, HiddenAddressesNameNothing) {
  const KernelSymbols symbols("0000000000000000 T first\n");
  EXPECT_EQ(symbols.Find(0xffffffff81000000), nullptr);
}

}  // namespace
}  // namespace kymo::symbolize
