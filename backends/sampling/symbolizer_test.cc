#include "backends/sampling/symbolizer.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "backends/sampling/kernel_symbols.h"
#include "backends/sampling/own_stack.h"

namespace kymo::sampling {

// Outside of the anonymous namespace, so that the name is the same everywhere.
inline uint64_t InlinedPlace() {
  uint64_t here;
  asm volatile("1: lea 1b(%%rip), %0; nop" : "=r"(here));
  return here;
}

[[gnu::always_inline]] inline uint64_t InlinedCaller() {
  return InlinedPlace() + 0;
}

[[gnu::noinline]] uint64_t PlaceInOuter(int* line) {
  *line = __LINE__ + 1;
  return InlinedCaller();
}

namespace {

struct Place {
  const ElfModule* module;
  uint64_t address;
};

class SymbolizerTest : public ::testing::Test {
 protected:
  SymbolizerTest() { MapOwnProcess(&modules_, &space_); }

  Place Find(uint64_t address) {
    const Mapping* const mapping = space_.Find(address);
    return {&modules_.module(mapping->module), address + mapping->delta};
  }

  ModuleTable modules_;
  AddressSpace space_;
};

TEST_F(SymbolizerTest, ShowsInlinedCallsWithTheirLines) {
  int line = 0;
  const Place place = Find(PlaceInOuter(&line));
  ModuleSymbolizer symbolizer(*place.module);
  const auto frames = symbolizer.Name(place.address);
  ASSERT_GE(frames.size(), 2u);
  EXPECT_EQ(frames[0].function, "kymo::sampling::PlaceInOuter(int*)");
  EXPECT_FALSE(frames[0].is_inlined);
  EXPECT_EQ(frames[0].line, static_cast<uint32_t>(line));
  EXPECT_TRUE(frames[1].is_inlined);
  EXPECT_NE(frames[1].function.find("InlinedCaller"), std::string::npos);
  EXPECT_NE(frames.back().function.find("Inlined"), std::string::npos);
  for (const NamedFrame& frame : frames) {
    EXPECT_TRUE(frame.is_resolved);
    EXPECT_NE(frame.file.find("symbolizer_test.cc"), std::string::npos);
    EXPECT_GT(frame.line, 0u);
  }
}

TEST_F(SymbolizerTest, NamesFunctionsOfLibrariesBySymbol) {
  const Place place = Find(reinterpret_cast<uint64_t>(&getppid));
  ModuleSymbolizer symbolizer(*place.module);
  EXPECT_EQ(symbolizer.Name(place.address).front().function, "getppid");
}

TEST_F(SymbolizerTest, AsksNoServer) {
  setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1/", 1);
  const Place place = Find(reinterpret_cast<uint64_t>(&testing::TempDir));
  ModuleSymbolizer symbolizer(*place.module);
  EXPECT_FALSE(symbolizer.Name(place.address).empty());
  unsetenv("DEBUGINFOD_URLS");
}

TEST_F(SymbolizerTest, WithoutANameAFrameIsItsPlace) {
  const ElfModule module("/opt/gone/libx.so");
  ModuleSymbolizer symbolizer(module);
  const auto frames = symbolizer.Name(0x1f3a);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "libx.so+0x1f3a");
  EXPECT_FALSE(frames[0].is_resolved);
}

TEST_F(SymbolizerTest, AFileReplacedSinceIsNotUsed) {
  const std::filesystem::path copy =
      std::filesystem::path(testing::TempDir()) / "replaced";
  std::filesystem::copy_file("/proc/self/exe", copy,
                             std::filesystem::copy_options::overwrite_existing);
  const FileIdentity wrong_id{.path = copy, .build_id = "not this one"};
  EXPECT_EQ(ElfModule::File(getpid(), wrong_id)->elf(), nullptr);
  const FileIdentity too_new{
      .path = copy, .build_id = {}, .inode = 1, .mapped_ns = 1};
  EXPECT_EQ(ElfModule::File(getpid(), too_new)->elf(), nullptr);
  const FileIdentity fitting{
      .path = copy, .build_id = {}, .inode = 1, .mapped_ns = INT64_MAX};
  const auto module = ElfModule::File(getpid(), fitting);
  ASSERT_NE(module->elf(), nullptr);
  EXPECT_TRUE(module->IsUnchanged());
  std::ofstream(copy, std::ios::app) << "more";
  EXPECT_FALSE(module->IsUnchanged());
  EXPECT_FALSE(ModuleSymbolizer(*module).Name(0x1000).front().is_resolved);
  std::filesystem::remove(copy);
}

TEST_F(SymbolizerTest, DemanglesWhatIsMangledOnly) {
  EXPECT_EQ(Demangle("_ZN4kymo3FooEi"), "kymo::Foo(int)");
  EXPECT_EQ(Demangle("i"), "i");  // a type, to the demangler
  EXPECT_EQ(Demangle("_Znonsense"), "_Znonsense");
}

TEST_F(SymbolizerTest, TheVdsoHasNames) {
  const ModuleId vdso = modules_.Named("[vdso]");
  EXPECT_EQ(modules_.module(vdso).path(), "[vdso]");
  EXPECT_NE(modules_.module(vdso).elf(), nullptr);
}

TEST_F(SymbolizerTest, CountsUnresolvedFramesOnce) {
  RawStacks stacks;
  const std::vector<CodePlace> a = {{ModuleTable::kUnknown, 0x10},
                                    {ModuleTable::kUnknown, 0x20}};
  const std::vector<CodePlace> b = {{ModuleTable::kUnknown, 0x20}};
  const RawStackId first = stacks.Intern(a);
  const RawStackId second = stacks.Intern(b);
  model::TraceShard shard;
  const auto ids = SymbolizeStacks(stacks, modules_, shard);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kFramesUnresolved), 2u);
  EXPECT_EQ(shard.stacks.depth(ids[first]), 2u);
  EXPECT_EQ(shard.stacks.parent(ids[first]), ids[second]);
  EXPECT_EQ(shard.strings.Get(
                shard.stacks.frame(shard.stacks.leaf(ids[first])).function),
            "[unknown]+0x10");
}

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
}  // namespace kymo::sampling
