#include "profiler/symbolize/raw_stack_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/symbolize/named_places.h"
#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {
namespace {

TEST(RawStackNamesTest, CountsUnresolvedFramesOnce) {
  ModuleTable modules;
  const ModuleId file =
      modules.File(-2, {.path = "/no/file", .build_id = {}, .inode = 1});
  RawStacks stacks;
  const std::vector<CodePlace> a = {{file, 0x10}, {file, 0x20}};
  const std::vector<CodePlace> b = {{file, 0x20}};
  const RawStackId first = stacks.Intern(a);
  const RawStackId second = stacks.Intern(b);
  model::TraceShard shard;
  const auto ids = SymbolizeStacks(stacks, modules, shard);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kFramesUnresolved), 2u);
  // Nothing is missing: the module and the offset name the code.
  EXPECT_FALSE(model::IsLoss(model::Loss::kFramesUnresolved));
  EXPECT_EQ(shard.stacks.depth(ids[first]), 2u);
  EXPECT_EQ(shard.stacks.parent(ids[first]), ids[second]);
  EXPECT_EQ(shard.strings.Get(
                shard.stacks.frame(shard.stacks.leaf(ids[first])).function),
            "file+0x10");
}

TEST(RawStackNamesTest, SaysWhatWasMissingOfFiles) {
  const std::string path = testing::TempDir() + "/split_program";
  TestElf elf;
  elf.AddSplitUnit("/no/work.dwo", 0x1000, 16);
  elf.WriteTo(path);
  ModuleTable modules;
  const ModuleId split =
      modules.File(getpid(), {.path = path, .mapped_ns = INT64_MAX});
  const ModuleId lost =
      modules.File(getpid(), {.path = path, .build_id = "other"});
  RawStacks stacks;
  const std::vector<CodePlace> places = {{split, 0x1001}, {lost, 0x1001}};
  stacks.Intern(places);
  model::TraceShard shard;
  std::vector<std::string> remarks;
  SymbolizeStacks(stacks, modules, shard, {}, &remarks);
  ASSERT_EQ(remarks.size(), 2u);
  EXPECT_EQ(remarks[0].find("of the debug information of " + path +
                            ", 1 file (.dwo of -gsplit-dwarf) could not be"),
            0u)
      << remarks[0];
  EXPECT_EQ(remarks[1].find(path + " was replaced or deleted"), 0u)
      << remarks[1];
}

TEST(RawStackNamesTest, CutStacksShareOneRoot) {
  const ModuleTable modules;
  RawStacks stacks;
  const CodePlace root = {ModuleTable::kTruncated, 0};
  const std::vector<CodePlace> a = {{ModuleTable::kUnknown, 0x10}, root};
  const std::vector<CodePlace> b = {{ModuleTable::kUnknown, 0x20}, root};
  const RawStackId first = stacks.Intern(a);
  const RawStackId second = stacks.Intern(b);
  model::TraceShard shard;
  const auto ids = SymbolizeStacks(stacks, modules, shard);
  const model::StackId parent = shard.stacks.parent(ids[first]);
  EXPECT_EQ(shard.stacks.parent(ids[second]), parent);
  EXPECT_EQ(shard.stacks.depth(parent), 1u);
  const model::Frame& frame = shard.stacks.frame(shard.stacks.leaf(parent));
  EXPECT_EQ(shard.strings.Get(frame.function), "[truncated]");
  // It is a frame that says something, so it does not count as one without a
  // name. The others are one: addresses outside of all files say nothing.
  EXPECT_EQ(shard.ledger.Get(model::Loss::kFramesUnresolved), 1u);
}

// The hooks stand between a function of libc and its caller.
class HooksTest : public testing::TestWithParam<const char*> {};

TEST_P(HooksTest, TheirFramesAreLeftOut) {
  ModuleTable modules;
  const ModuleId hooks = modules.File(1, {.path = GetParam(), .inode = 1});
  RawStacks stacks;
  const CodePlace libc = {ModuleTable::kUnknown, 0x10};
  const CodePlace caller = {ModuleTable::kUnknown, 0x20};
  const std::vector<CodePlace> with = {libc, {hooks, 0x30}, caller};
  const std::vector<CodePlace> without = {libc, caller};
  const std::vector<CodePlace> ends_there = {{hooks, 0x30}, caller};
  const RawStackId first = stacks.Intern(with);
  const RawStackId second = stacks.Intern(without);
  const RawStackId third = stacks.Intern(ends_there);
  model::TraceShard shard;
  const auto ids = SymbolizeStacks(stacks, modules, shard);
  EXPECT_EQ(ids[first], ids[second]);
  EXPECT_EQ(shard.stacks.depth(ids[first]), 2u);
  EXPECT_EQ(shard.stacks.depth(ids[third]), 2u);
  // Its file tells no name. It is Kymo's, whatever it is.
  const model::Frame& leaf = shard.stacks.frame(shard.stacks.leaf(ids[third]));
  EXPECT_EQ(shard.strings.Get(leaf.function), "[Kymo]");
  EXPECT_EQ(shard.ledger.Get(model::Loss::kFramesUnresolved), 1u);
}

INSTANTIATE_TEST_SUITE_P(Libraries, HooksTest,
                         testing::Values("/nowhere/libkymo_runtime.so",
                                         "/nowhere/libkymo_mpi.so"));

// A library that is not stripped has names for the parts of Kymo's work.
TEST(RawStackNamesTest, KymosOwnWorkIsOneFunction) {
  const std::string folder = testing::TempDir();
  const auto name_of = [&](const std::string& file,
                           const std::string& function = "WalkFrom") {
    TestElf elf;
    elf.AddCode(0, 0x2000, 0x1000);
    elf.AddSymbols(SHT_SYMTAB, {Function(function, 0x1000, 16)});
    elf.WriteTo(folder + file);
    ModuleTable modules;
    const ModuleId module =
        modules.File(getpid(), {.path = folder + file, .mapped_ns = INT64_MAX});
    RawStacks stacks;
    const std::vector<CodePlace> places = {{module, 0x1004}};
    const RawStackId stack = stacks.Intern(places);
    model::TraceShard shard;
    const auto ids = SymbolizeStacks(stacks, modules, shard);
    return std::string(shard.strings.Get(
        shard.stacks.frame(shard.stacks.leaf(ids[stack])).function));
  };
  EXPECT_EQ(name_of("/libother.so"), "WalkFrom");
  EXPECT_EQ(name_of("/libkymo_runtime_memory.so"), "[Kymo]");
  EXPECT_EQ(name_of("/libkymo_calls.so"), "[Kymo]");
  EXPECT_EQ(name_of("/libkymo_mpi.so"), "[Kymo] WalkFrom");
  EXPECT_EQ(name_of("/libkymo_mpi.so", "_ZN4kymo3mpi9AfterInitEm"),
            "[Kymo] kymo::mpi::AfterInit(unsigned long)");
}

// --- named_places.h ---

TEST(NamedPlacesTest, EachPlaceHasOneNumber) {
  NamedPlaces places;
  const uint64_t first =
      places.Intern({.function = "f", .file = "a.py", .line = 3});
  const uint64_t line =
      places.Intern({.function = "f", .file = "a.py", .line = 4});
  const uint64_t file =
      places.Intern({.function = "f", .file = "b.py", .line = 3});
  const uint64_t none = places.Intern({.function = "f", .file = "a.py"});
  EXPECT_EQ(places.size(), 4u);
  EXPECT_EQ(places.Intern({.function = "f", .file = "a.py", .line = 3}), first);
  EXPECT_EQ(places.size(), 4u);
  EXPECT_EQ(places.place(line).function, "f");
  EXPECT_EQ(places.place(line).file, "a.py");
  EXPECT_EQ(places.place(line).line, 4u);
  EXPECT_EQ(places.place(file).file, "b.py");
  EXPECT_EQ(places.place(none).line, 0u);
}

// Both texts together are not what tells places apart.
TEST(NamedPlacesTest, WhereTheFunctionEndsAndTheFileBeginsMatters) {
  NamedPlaces places;
  EXPECT_NE(places.Intern({.function = "ab", .file = "c"}),
            places.Intern({.function = "a", .file = "bc"}));
}

TEST(NamedPlacesTest, TextsMayGoAway) {
  NamedPlaces places;
  std::string function = "short-lived";
  const uint64_t number = places.Intern({.function = function});
  function.assign("overwritten");
  for (int i = 0; i < 1'000; ++i) {
    places.Intern({.function = std::to_string(i)});
  }
  EXPECT_EQ(places.place(number).function, "short-lived");
}

}  // namespace
}  // namespace kymo::symbolize
