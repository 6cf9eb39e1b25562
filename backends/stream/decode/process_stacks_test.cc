#include "backends/stream/decode/process_stacks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "profiler/model/trace_shard.h"

namespace kymo::stream {
namespace {

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
  // The name of the frame that returns to the address. A place in a file that
  // is not there has the name of the file and the offset of the call.
  std::string NameAt(uint64_t address) {
    const uint64_t pcs[] = {address};
    const model::StackId stack = stacks_.Add(kPid, pcs);
    return std::string(shard_.strings.Get(
        shard_.stacks.frame(shard_.stacks.leaf(stack)).function));
  }

  model::TraceShard shard_;
  ProcessStacks stacks_{&shard_};
};

TEST_F(ProcessStacksTest, FilesWithNumbersAreApartAtOnePlace) {
  Map(1, "/no/first");
  Map(2, "/no/second");
  EXPECT_EQ(NameAt((kPlace + 0x21) | Mark(1)), "first+0x20");
  EXPECT_EQ(NameAt((kPlace + 0x21) | Mark(2)), "second+0x20");
  EXPECT_EQ(NameAt((kPlace + 0x21) | Mark(1)), "first+0x20");
}

TEST_F(ProcessStacksTest, WithoutTheMappingOfItsNumberAnAddressIsWhereItIs) {
  Map(0, "/no/plain");
  Map(2, "/no/second");
  EXPECT_EQ(NameAt(kPlace + 0x21), "plain+0x20");
  EXPECT_EQ(NameAt((kPlace + 0x21) | Mark(1)), "plain+0x20");
  EXPECT_EQ(NameAt((kPlace + 0x21) | Mark(9)), "plain+0x20");
  EXPECT_EQ(NameAt((kPlace + 0x21) | Mark(2)), "second+0x20");
}

}  // namespace
}  // namespace kymo::stream
