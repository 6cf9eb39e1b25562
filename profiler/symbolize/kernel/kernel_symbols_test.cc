#include "profiler/symbolize/kernel/kernel_symbols.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "profiler/symbolize/kernel/kept_lines.h"

namespace kymo::symbolize {
namespace {

TEST(KernelSymbolsTest, FindsTheFunctionAround) {
  const KernelSymbols symbols(
      "ffffffff81000100 T second\n"
      "ffffffff81000000 t first\n"
      "ffffffff81000080 d data\n"
      "ffffffffc0000000 t of_module\t[ext4]\n");
  EXPECT_FALSE(symbols.Find(0xffffffff80ffffff));
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
    const auto symbol = symbols.Find((i + 1) * 0x1000);
    ASSERT_TRUE(symbol) << i;
    EXPECT_EQ(symbol->name, names[i]) << i;
  }
  EXPECT_EQ(symbols.Find(0x2fff)->address, 0x2000u);
  // Of several names of one address the last one.
  EXPECT_EQ(KernelSymbols("10 t x\n10 t y\n").Find(0x10)->name, "y");
  EXPECT_FALSE(KernelSymbols("").Find(1));
}

// All addresses are 0 where the kernel hides them.
TEST(KernelSymbolsTest, ReadsAsMuchOfTheListAsIsNeeded) {
  std::ostringstream text;
  text << std::ifstream("/proc/kallsyms").rdbuf();
  const KernelSymbols all(text.str());
  for (const uint64_t address :
       {uint64_t{0xffffffff81000000}, uint64_t{0xffffffff81100000},
        uint64_t{0xffffffff82000000}}) {
    const auto expected = all.Find(address);
    const auto part = KernelSymbols::OfThisMachine(address, "");
    const auto found = part->Find(address);
    ASSERT_EQ(found.has_value(), expected.has_value());
    if (found) {
      EXPECT_EQ(found->address, expected->address);
    }
  }
}

std::string PathFor(const std::string& name) {
  const std::string path = testing::TempDir() + "/" + name;
  unlink(path.c_str());
  return path;
}

// A list of functions at 1, 2, 3 and so on, which takes several reads.
constexpr uint64_t kFunctions = 9'000;
std::string WriteList() {
  const std::string path = PathFor("list");
  std::ofstream file(path);
  for (uint64_t i = 1; i <= kFunctions; ++i) {
    file << std::hex << i << " t function_" << std::dec << i << "\n";
  }
  file << std::hex << kFunctions + 1 << " t of_module\t[ext4]\n";
  return path;
}

TEST(KernelSymbolsTest, WhatSomebodyHoldsIsNotReadAgain) {
  const std::string list = WriteList();
  const auto held = KernelSymbols::OfThisMachine(20, "", list);
  EXPECT_EQ(KernelSymbols::OfThisMachine(10, "", list), held);
  EXPECT_EQ(held->Find(10)->name, "function_10");
  const auto further = KernelSymbols::OfThisMachine(kFunctions, "", list);
  EXPECT_NE(further, held);
  EXPECT_EQ(KernelSymbols::OfThisMachine(20, "", list), further);
}

TEST(KernelSymbolsTest, AForkedChildDoesNotWaitForAReaderOfItsParent) {
  const std::string list = WriteList(), slow = PathFor("slow");
  ASSERT_EQ(mkfifo(slow.c_str(), 0600), 0);
  std::thread reader([&] { KernelSymbols::OfThisMachine(10, "", slow); });
  const int end = open(slow.c_str(), O_WRONLY);  // now the reader reads
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(KernelSymbols::OfThisMachine(10, "", list)->Find(10) ? 7 : 8);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 7 << 8);
  close(end);
  reader.join();
}

TEST(KernelSymbolsTest, TheFirstRunKeepsACopyThatOthersRead) {
  const std::string list = WriteList(), copy = PathFor("copy");
  const auto name = [&](uint64_t address) {
    const auto symbols = KernelSymbols::OfThisMachine(address, copy, list);
    const auto found = symbols->Find(address);
    return found ? std::string(found->name) : "none";
  };
  EXPECT_EQ(name(20), "function_20");
  // Now the kernel's list is needed for modules alone.
  std::filesystem::remove(list);
  EXPECT_EQ(name(1), "function_1");
  EXPECT_EQ(name(kFunctions - 1), "function_8999");
  EXPECT_EQ(name(kFunctions + 1), "none");
  WriteList();
  EXPECT_EQ(name(kFunctions + 1), "of_module");
}

TEST(KernelSymbolsTest, WhereTheKernelHidesAddressesThereIsNoCopy) {
  const std::string list = PathFor("list"), copy = PathFor("copy");
  std::ofstream(list) << "0000000000000000 T first\n";
  EXPECT_FALSE(KernelSymbols::OfThisMachine(1, copy, list)->Find(1));
  EXPECT_FALSE(std::filesystem::exists(copy));
}

TEST(KernelSymbolsTest, ACopyIsInOrderAndWithoutModules) {
  const std::string lines = KernelSymbols::LinesToKeep(
      "0 t hidden\n"
      "30 T third\n"
      "10 t first\n"
      "40 d data\n"
      "20 W second\n"
      "50 t of_module\t[ext4]\n"
      "30 t also_third");
  EXPECT_EQ(lines, "10 t first\n20 W second\n30 T third\n30 t also_third\n");
  const std::string path = PathFor("order");
  ASSERT_TRUE(KeptLines::Write(path, lines));
  const KernelSymbols symbols(*KeptLines::Open(path));
  EXPECT_FALSE(symbols.Find(0xf));
  EXPECT_EQ(symbols.Find(0x10)->name, "first");
  EXPECT_EQ(symbols.Find(0x1f)->name, "first");
  EXPECT_EQ(symbols.Find(0x20)->name, "second");
  EXPECT_EQ(symbols.Find(0x2f)->address, 0x20u);
  EXPECT_EQ(symbols.Find(0x30)->name, "also_third");
  EXPECT_EQ(symbols.Find(~uint64_t{0})->name, "also_third");
  EXPECT_TRUE(symbols.Reaches(0x2f));
  EXPECT_FALSE(symbols.Reaches(0x30));
}

TEST(KernelSymbolsTest, OnlyACopyOfOnesOwnAndOfThisBootIsTrusted) {
  const std::string path = PathFor("trust");
  EXPECT_FALSE(KeptLines::Open(path));
  ASSERT_TRUE(KeptLines::Write(path, "10 t first\n"));
  EXPECT_EQ(KeptLines::Open(path)->lines(), "10 t first\n");
  // Whoever writes again replaces it, and leaves no other file.
  ASSERT_TRUE(KeptLines::Write(path, "20 t first\n"));
  EXPECT_EQ(KeptLines::Open(path)->lines(), "20 t first\n");
  EXPECT_FALSE(KeptLines::Write(path + ".none/copy", ""));
  for (const mode_t mode : {0640, 0604, 0620, 0602}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_FALSE(KeptLines::Open(path)) << mode;
  }
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_TRUE(KeptLines::Open(path));
  const std::string link = PathFor("link");
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  EXPECT_FALSE(KeptLines::Open(link));
  if (chown(path.c_str(), 1, 1) == 0 && geteuid() == 0) {  // as real root
    EXPECT_FALSE(KeptLines::Open(path));
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
  std::fstream file(path, std::ios::in | std::ios::out);
  file.seekp(sizeof("Kymo, boot ") - 1) << "x";
  file.close();
  EXPECT_FALSE(KeptLines::Open(path));
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_FALSE(KeptLines::Open(path));
}

TEST(KernelSymbolsTest, HiddenAddressesNameNothing) {
  const KernelSymbols symbols("0000000000000000 T first\n");
  EXPECT_FALSE(symbols.Find(0xffffffff81000000));
}

}  // namespace
}  // namespace kymo::symbolize
