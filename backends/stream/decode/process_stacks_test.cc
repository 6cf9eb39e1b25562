#include "backends/stream/decode/process_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/model/folded_memory.h"
#include "profiler/model/trace_shard.h"

namespace kymo::stream {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kPid = 7;
constexpr uint64_t kPlace = 0x10000;

// A number in its place above the address bits.
constexpr uint64_t Mark(uint64_t number) {
  return number << record::kFileNumberShift;
}

class ProcessStacksTest : public ::testing::Test {
 protected:
  void Map(uint64_t number, const std::string& path) {
    stacks_.AddMapping(kPid,
                       {.start = kPlace | Mark(number),
                        .end = (kPlace + 0x1000) | Mark(number),
                        .file_offset = 0,
                        .inode = number + 1},
                       path);
  }
  // A detail whose stack is one frame, which returns to the address.
  void AddFrame(uint64_t address) {
    const uint64_t pcs[] = {address};
    shard_.details.push_back({.stack = stacks_.Add(kPid, pcs)});
  }
  // The names of those frames. A place in a file that is not there has the name
  // of the file and the offset of the call.
  std::vector<std::string> Names() {
    stacks_.Name();
    std::vector<std::string> names;
    for (const model::Detail& detail : shard_.details) {
      names.emplace_back(shard_.strings.Get(
          shard_.stacks.frame(shard_.stacks.leaf(detail.stack)).function));
    }
    return names;
  }

  model::TraceShard shard_;
  ProcessStacks stacks_{&shard_};
};

TEST_F(ProcessStacksTest, FilesWithNumbersAreApartAtOnePlace) {
  Map(1, "/no/first");
  Map(2, "/no/second");
  AddFrame((kPlace + 0x21) | Mark(1));
  AddFrame((kPlace + 0x21) | Mark(2));
  AddFrame((kPlace + 0x21) | Mark(1));
  EXPECT_THAT(Names(), ElementsAre("first+0x20", "second+0x20", "first+0x20"));
}

TEST_F(ProcessStacksTest, WithoutTheMappingOfItsNumberAnAddressIsWhereItIs) {
  Map(0, "/no/plain");
  Map(2, "/no/second");
  AddFrame(kPlace + 0x21);
  AddFrame((kPlace + 0x21) | Mark(1));
  AddFrame((kPlace + 0x21) | Mark(9));
  AddFrame((kPlace + 0x21) | Mark(2));
  EXPECT_THAT(Names(), ElementsAre("plain+0x20", "plain+0x20", "plain+0x20",
                                   "second+0x20"));
}

TEST_F(ProcessStacksTest, AllRecordsThatHaveNumbersGetIds) {
  Map(0, "/no/plain");
  const uint64_t pcs[] = {kPlace + 0x21};
  const model::StackId number = stacks_.Add(kPid, pcs);
  shard_.memory.resize(1);
  shard_.memory[0].stack = number;
  shard_.folded_memory = std::make_shared<model::FoldedMemory>();
  shard_.folded_memory->heaps.emplace_back().stacks = {{.stack = number}};
  // So that ids differ from numbers.
  const model::StackId other = shard_.stacks.Push(
      model::kEmptyStack, shard_.stacks.AddFrame({.line = 1}));
  stacks_.Name();
  const model::StackId id = shard_.memory[0].stack;
  EXPECT_NE(id, other);
  EXPECT_EQ(shard_.stacks.depth(id), 1u);
  EXPECT_EQ(shard_.folded_memory->heaps[0].stacks[0].stack, id);
}

TEST_F(ProcessStacksTest, DetailsThatWereThereKeepTheirIds) {
  model::TraceShard shard;
  const model::StackId first =
      shard.stacks.Push(model::kEmptyStack, shard.stacks.AddFrame({.line = 1}));
  shard.details.push_back({.stack = first});
  ProcessStacks stacks(&shard);
  const uint64_t pcs[] = {kPlace + 0x21};
  shard.details.push_back({.stack = stacks.Add(kPid, pcs)});
  stacks.Name();
  EXPECT_EQ(shard.details[0].stack, first);
  EXPECT_NE(shard.details[1].stack, first);
}

// All addresses outside of files are one place without a name.
TEST_F(ProcessStacksTest, SumsOfStacksThatGetOneIdAreJoined) {
  const uint64_t first[] = {0x21};
  const uint64_t second[] = {0x31};
  shard_.folded_memory = std::make_shared<model::FoldedMemory>();
  shard_.folded_memory->heaps.emplace_back().stacks = {
      {.stack = stacks_.Add(kPid, first),
       .allocated = {2, 20},
       .temporary = {1, 8},
       .alive = {1, 12},
       .at_peak = {2, 20}},
      {.stack = stacks_.Add(kPid, second),
       .allocated = {1, 5},
       .alive = {1, 5},
       .at_peak = {1, 5}},
      {.track = 1, .stack = stacks_.Add(kPid, first), .allocated = {1, 7}}};
  stacks_.Name();
  const model::FoldedStacks& sums = shard_.folded_memory->heaps[0].stacks;
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].allocated, (model::BlockSum{3, 25}));
  EXPECT_EQ(sums[0].temporary, (model::BlockSum{1, 8}));
  EXPECT_EQ(sums[0].alive, (model::BlockSum{2, 17}));
  EXPECT_EQ(sums[0].at_peak, (model::BlockSum{3, 25}));
  EXPECT_EQ(sums[1].track, 1u);
  EXPECT_EQ(sums[1].allocated, (model::BlockSum{1, 7}));
}

}  // namespace
}  // namespace kymo::stream
