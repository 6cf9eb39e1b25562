#include "profiler/symbolize/kernel_symbols.h"

#include <gtest/gtest.h>

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

TEST(KernelSymbolsTest, HiddenAddressesNameNothing) {
  const KernelSymbols symbols("0000000000000000 T first\n");
  EXPECT_EQ(symbols.Find(0xffffffff81000000), nullptr);
}

}  // namespace
}  // namespace kymo::symbolize
