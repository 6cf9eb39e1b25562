#include "profiler/symbolize/jit/jit_names.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "profiler/base/clock.h"
#include "profiler/symbolize/jit/jit_files.h"
#include "profiler/symbolize/jit/test_jit_dump.h"
#include "profiler/symbolize/raw_stack_names.h"

namespace kymo::symbolize {
namespace {

size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// This process is the program: its files are of the right user.
class JitNamesTest : public testing::Test {
 protected:
  ~JitNamesTest() override {
    for (const std::string& path : written_) unlink(path.c_str());
  }

  void Write(const std::string& path, const std::string& bytes) {
    written_.push_back(path);
    std::ofstream(path, std::ios::binary) << bytes;
  }
  RawStackId Stack(uint32_t program, uint64_t address) {
    std::vector<CodePlace> frames = {{ModuleTable::kUnknown, address}};
    jit_.Claim(program, now_ns_, frames);
    return stacks_.Intern(frames);
  }
  std::string NameAt(RawStackId stack, TimeNs time_ns) {
    const CodePlace place = stacks_.nodes()[jit_.Settle(stack, time_ns)].place;
    EXPECT_EQ(place.module, ModuleTable::kJit);
    const JitNames::Frame& frame = jit_.frames()[place.address];
    EXPECT_EQ(frame.frame.is_resolved, frame.module == "[jit]");
    return frame.frame.function;
  }

  const std::string map_path_ =
      "/tmp/perf-" + std::to_string(getpid()) + ".map";
  const std::string dump_path_ =
      "/tmp/jit-" + std::to_string(getpid()) + ".dump";
  std::vector<std::string> written_;
  TimeNs now_ns_ = MonotonicNs() + EpochOffsetNs();
  ModuleTable modules_;
  RawStacks stacks_;
  JitNames jit_{&modules_, &stacks_};
};

TEST_F(JitNamesTest, OneStackHasTheNamesOfItsTimes) {
  TestJitDump dump;
  const auto now = static_cast<uint64_t>(MonotonicNs());
  dump.Load(now + 10, 0x7f00, 64, 1, "first");
  dump.Load(now + 20, 0x7f00, 64, 2, "second");
  Write(dump_path_, dump.bytes);
  Write(map_path_, "7f00 40 of the map\n");
  const uint32_t program = jit_.AddProgram(getpid(), 0);
  const RawStackId stack = Stack(program, 0x7f08);
  const RawStackId other = Stack(program, 0x9000);
  EXPECT_NE(stack, other);
  jit_.ReadAll(now_ns_);
  const TimeNs begin = static_cast<TimeNs>(now) + EpochOffsetNs();
  EXPECT_EQ(NameAt(stack, begin + 15), "first");
  EXPECT_EQ(NameAt(stack, begin + 25), "second");
  EXPECT_EQ(NameAt(stack, begin + 15), "first");
  EXPECT_EQ(NameAt(stack, begin + 5), "of the map");
  EXPECT_EQ(NameAt(other, begin), "[unknown]");
  EXPECT_EQ(jit_.Settle(other, begin, /*only_known=*/true), other);
  EXPECT_NE(jit_.SettleUncounted(other, begin), other);
  EXPECT_EQ(jit_.unnamed().at(getpid()), 2u);
}

TEST_F(JitNamesTest, ProcessesAtOneAddressAreApart) {
  Write(map_path_, "7f00 40 mine\n");
  const uint32_t parent = jit_.AddProgram(getpid(), 0);
  const uint32_t other = jit_.AddProgram(-3, 0);
  const uint32_t child = jit_.AddProgram(-4, parent);
  const RawStackId stacks[] = {Stack(parent, 0x7f08), Stack(other, 0x7f08),
                               Stack(child, 0x7f08)};
  jit_.ReadAll(now_ns_);
  EXPECT_EQ(NameAt(stacks[0], now_ns_), "mine");
  EXPECT_EQ(NameAt(stacks[1], now_ns_), "[unknown]");
  // What its parent made before the fork lies there, too.
  EXPECT_EQ(NameAt(stacks[2], now_ns_), "mine");
}

TEST_F(JitNamesTest, AMapMayBeDeletedAtTheEnd) {
  Write(map_path_, "7f00 40 early\n");
  const uint32_t program = jit_.AddProgram(getpid(), 0);
  const RawStackId stack = Stack(program, 0x7f08);
  const RawStackId late = Stack(program, 0x8008);
  std::ofstream(map_path_, std::ios::app) << "8000 40 late\n";
  unlink(map_path_.c_str());
  const size_t open_before = OpenDescriptors();
  jit_.OnEnd(program, now_ns_);
  // The map and the folder of the process: many processes end in one recording.
  EXPECT_LT(OpenDescriptors(), open_before);
  jit_.ReadAll(now_ns_);
  EXPECT_EQ(NameAt(stack, now_ns_), "early");
  EXPECT_EQ(NameAt(late, now_ns_), "late");
}

TEST_F(JitNamesTest, UnnamedCodeIsOneFrameOfItsMemory) {
  const uint32_t program = jit_.AddProgram(-3, 0);
  const ModuleId anon = modules_.Named("[anon]");
  std::vector<CodePlace> frames = {
      {anon, 0x10}, {anon, 0x20}, {ModuleTable::kUnknown, 0x30}};
  jit_.Claim(program, now_ns_, frames);
  const RawStackId stack = stacks_.Intern(frames);
  jit_.ReadAll(now_ns_);
  const RawStackId named = jit_.Settle(stack, now_ns_);
  EXPECT_EQ(jit_.frames().size(), 2u);
  std::vector<RawStackId> settled(stack + 1);  // those before it are nothing
  settled[stack] = named;
  model::TraceShard shard;
  const auto ids =
      SymbolizeStacks(stacks_, modules_, shard, {jit_.frames(), settled});
  EXPECT_EQ(ids[stack], ids[named]);
  ASSERT_EQ(shard.stacks.depth(ids[stack]), 3u);
  const model::Frame& leaf = shard.stacks.frame(shard.stacks.leaf(ids[stack]));
  EXPECT_EQ(shard.strings.Get(leaf.function), "[anon]");
  EXPECT_FALSE(leaf.is_resolved);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kFramesUnresolved), 2u);
}

// As Erlang and .NET make it.
TEST_F(JitNamesTest, UnnamedCodeOfAMemfdIsCalledLikeOther) {
  const uint32_t program = jit_.AddProgram(-3, 0);
  std::vector<CodePlace> frames = {{modules_.Named("/memfd:vmem"), 0x10}};
  jit_.Claim(program, now_ns_, frames);
  const RawStackId stack = stacks_.Intern(frames);
  jit_.ReadAll(now_ns_);
  jit_.Settle(stack, now_ns_);
  ASSERT_EQ(jit_.frames().size(), 1u);
  EXPECT_EQ(jit_.frames()[0].frame.function, "[anon]");
  EXPECT_EQ(jit_.frames()[0].module, "/memfd:vmem");
}

// The limit of stacks is not for their names.
TEST_F(JitNamesTest, SettledStacksTakeNoRoomFromOthers) {
  RawStacks few(/*most_nodes=*/2);
  JitNames jit(&modules_, &few);
  const uint32_t program = jit.AddProgram(-3, 0);
  std::vector<CodePlace> frames = {{ModuleTable::kUnknown, 0x10}};
  jit.Claim(program, now_ns_, frames);
  const RawStackId stack = few.Intern(frames);
  jit.ReadAll(now_ns_);
  EXPECT_NE(jit.Settle(stack, now_ns_), 0u);
  EXPECT_NE(few.Intern(std::vector<CodePlace>{{ModuleTable::kKernel, 1}}), 0u);
  EXPECT_EQ(few.Intern(std::vector<CodePlace>{{ModuleTable::kKernel, 2}}), 0u);
}

TEST_F(JitNamesTest, FilesOfOthersAreNotRead) {
  const JitFiles files = JitFiles::Of(getpid());
  EXPECT_FALSE(files.OpenPerfMap().is_open());
  Write(map_path_, "7f00 40 mine\n");
  EXPECT_TRUE(files.OpenPerfMap().is_open());
  // A second name: somebody may have linked a file of ours.
  const std::string link = dump_path_ + ".link";
  written_.push_back(link);
  ASSERT_EQ(::link(map_path_.c_str(), link.c_str()), 0);
  EXPECT_FALSE(files.OpenPerfMap().is_open());
  unlink(link.c_str());
  ASSERT_EQ(rename(map_path_.c_str(), link.c_str()), 0);
  ASSERT_EQ(symlink(link.c_str(), map_path_.c_str()), 0);
  EXPECT_FALSE(files.OpenPerfMap().is_open());
  unlink(map_path_.c_str());
  ASSERT_EQ(mkfifo(map_path_.c_str(), 0600), 0);
  EXPECT_FALSE(files.OpenPerfMap().is_open());
  unlink(map_path_.c_str());
  std::filesystem::create_directory(map_path_);
  EXPECT_FALSE(files.OpenPerfMap().is_open());
  std::filesystem::remove(map_path_);
}

TEST(JitFilesTest, OnlyTheUserOfTheProcessIsBelieved) {
  struct stat file {};
  file.st_mode = S_IFREG | 0644;
  file.st_uid = 1000;
  file.st_nlink = 1;
  file.st_mtim.tv_sec = 50;
  EXPECT_TRUE(IsFileOf(file, 1000, 50 * kNsPerSecond));
  EXPECT_FALSE(IsFileOf(file, 1001, 50 * kNsPerSecond));
  EXPECT_FALSE(IsFileOf(file, 0, 50 * kNsPerSecond));
  EXPECT_FALSE(IsFileOf(file, 1000, 52 * kNsPerSecond));
  file.st_nlink = 0;  // deleted while it was opened
  EXPECT_TRUE(IsFileOf(file, 1000, 0));
}

TEST_F(JitNamesTest, AFileFromBeforeTheProcessIsOfAnother) {
  const JitFiles files = JitFiles::Of(getpid());
  Write(map_path_, "7f00 40 old\n");
  const timespec times[] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, map_path_.c_str(), times, 0), 0);
  EXPECT_FALSE(files.OpenPerfMap().is_open());
}

TEST(JitFilesTest, KnowsJitDumpsByTheirNames) {
  EXPECT_TRUE(IsJitDumpName("/tmp/jit-12.dump"));
  EXPECT_TRUE(IsJitDumpName("/home/me/.debug/jit/x/jit-1.dump"));
  EXPECT_FALSE(IsJitDumpName("/tmp/jit-.dump"));
  EXPECT_FALSE(IsJitDumpName("/tmp/jit-1x.dump"));
  EXPECT_FALSE(IsJitDumpName("/tmp/jit-1.dump.so"));
  EXPECT_FALSE(IsJitDumpName("jit-1.dump"));
  EXPECT_FALSE(IsJitDumpName("[anon:jit-1.dump]"));
}

}  // namespace
}  // namespace kymo::symbolize
