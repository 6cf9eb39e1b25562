#include "profiler/symbolize/jit/jit_readers.h"

#include <gtest/gtest.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/base/owned_descriptor.h"
#include "profiler/symbolize/jit/test_jit_dump.h"

namespace kymo::symbolize {
namespace {

class JitReadersTest : public testing::Test {
 protected:
  void Append(std::string_view text) {
    ASSERT_EQ(write(file_.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }
  static std::string NameAt(JitCode& code, uint64_t address, TimeNs time_ns) {
    code.Index(std::vector<uint64_t>{address});
    const JitCode::Answer answer = code.Find(address, time_ns);
    if (answer.function == nullptr) return "-";
    const JitCode::Place place = code.LineOf(*answer.function, address);
    std::string text(code.name(*answer.function));
    if (place.line != 0) {
      text += " " + std::string(place.file) + ":" + std::to_string(place.line);
    }
    return text;
  }

  OwnedDescriptor file_ = MakeUnnamedFile(testing::TempDir());
  JitCode map_{JitCode::Times::kGuessed};
  JitCode dump_{JitCode::Times::kExact};
  PerfMapReader map_reader_;
  JitDumpReader dump_reader_{/*epoch_offset_ns=*/1000};
};

TEST_F(JitReadersTest, APerfMapIsReadWhileItGrows) {
  Append("7f00 40 first of all\n7f40 10 cut li");
  map_reader_.Read(file_.get(), 100, map_);
  EXPECT_EQ(map_.functions().size(), 1u);
  Append("ne\n0x7f00 40 second\n");
  map_reader_.Read(file_.get(), 200, map_);
  Append("7f80 10 last, without an end");
  map_reader_.Read(file_.get(), 300, map_);
  EXPECT_EQ(map_.functions().size(), 3u);
  map_reader_.Finish(map_);
  EXPECT_EQ(NameAt(map_, 0x7f40, 150), "cut line");
  EXPECT_EQ(NameAt(map_, 0x7f80, 250), "last, without an end");
  // The second line was written between the two times of reading.
  EXPECT_EQ(NameAt(map_, 0x7f00, 99), "first of all");
  EXPECT_EQ(NameAt(map_, 0x7f00, 100), "second");
}

TEST_F(JitReadersTest, APerfMapThatIsWrittenAgainIsReadAgain) {
  Append("7f00 40 old\n7f40 40 stays\n");
  map_reader_.Read(file_.get(), 100, map_);
  ASSERT_EQ(ftruncate(file_.get(), 0), 0);
  ASSERT_EQ(lseek(file_.get(), 0, SEEK_SET), 0);
  Append("7000 40 before the others\n7f00 40 new\n7f40 40 stays\n");
  map_reader_.Read(file_.get(), 200, map_);
  EXPECT_EQ(NameAt(map_, 0x7000, 150), "before the others");
  EXPECT_EQ(NameAt(map_, 0x7f00, 150), "new");
}

TEST_F(JitReadersTest, HostilePerfMapsNameNothing) {
  Append("\n \nzz 10 a\n10 zz a\n10\n10 \n10 20\n10 20 \n-1 20 minus\n");
  Append("fffffffffffffffff 10 too long\n");
  Append(std::string(3 << 20, '7'));
  Append("\n" + std::string(1 << 20, '\0') + "\n");
  map_reader_.Read(file_.get(), 100, map_);
  map_reader_.Finish(map_);
  EXPECT_TRUE(map_.functions().empty());
  Append("7f00 40 " + std::string(1 << 20, 'n') + "\n7f40 40 next\n");
  map_reader_.Read(file_.get(), 100, map_);
  EXPECT_EQ(NameAt(map_, 0x7f00, 0).size(), JitCode::kLongestName);
  EXPECT_EQ(NameAt(map_, 0x7f40, 0), "next");
}

TEST_F(JitReadersTest, AJitDumpNamesCodeByTime) {
  TestJitDump dump;
  dump.Load(10, 0x7f00, 64, 1, "first");
  dump.Load(20, 0x7f00, 64, 2, "second");
  dump.Move(30, 0x7f00, 0x9000, 64, 2);
  dump.Load(30, 0x7f00, 64, 3, "third");
  dump.Add(4, 31, std::string(24, '\0'));  // unwinding information
  dump.Add(3, 40, "");                     // the end
  dump.Load(50, 0x7f00, 64, 4, "behind the end");
  Append(dump.bytes);
  dump_reader_.Read(file_.get(), dump_);
  EXPECT_EQ(NameAt(dump_, 0x7f3f, 1009), "-");
  EXPECT_EQ(NameAt(dump_, 0x7f3f, 1010), "first");
  EXPECT_EQ(NameAt(dump_, 0x7f3f, 1025), "second");
  EXPECT_EQ(NameAt(dump_, 0x9000, 1029), "-");
  EXPECT_EQ(NameAt(dump_, 0x9000, 1030), "second");
  EXPECT_EQ(NameAt(dump_, 0x7f3f, 1045), "third");
}

TEST_F(JitReadersTest, AJitDumpIsReadWhileItGrows) {
  TestJitDump dump;
  dump.Load(10, 0x7f00, 64, 1, "first");
  for (const char byte : dump.bytes) {
    EXPECT_TRUE(dump_.functions().empty());
    Append({&byte, 1});
    dump_reader_.Read(file_.get(), dump_);
  }
  EXPECT_EQ(NameAt(dump_, 0x7f00, 2000), "first");
}

TEST_F(JitReadersTest, LinesBelongToTheCodeThatIsLoadedNext) {
  TestJitDump dump;
  dump.Lines(10, 0x7f00, {{0x7f10, 7, "a.cc"}, {0x7f20, 8, "\xff"}});
  dump.Load(10, 0x7f00, 64, 1, "f");
  dump.Load(10, 0x7f40, 64, 2, "g");
  // V8 adds the size of an ELF header to each address.
  dump.Lines(10, 0x8000, {{0x8050, 9, "a.js"}});
  dump.Load(10, 0x8000, 64, 3, "JS:*h a.js:5:1");
  // Of other code than what comes next.
  dump.Lines(10, 0x9900, {{0x9900, 9, "b.cc"}});
  dump.Load(10, 0x9000, 64, 4, "i");
  Append(dump.bytes);
  dump_reader_.Read(file_.get(), dump_);
  EXPECT_EQ(NameAt(dump_, 0x7f08, 2000), "f");
  EXPECT_EQ(NameAt(dump_, 0x7f10, 2000), "f a.cc:7");
  EXPECT_EQ(NameAt(dump_, 0x7f3f, 2000), "f a.cc:8");
  EXPECT_EQ(NameAt(dump_, 0x7f50, 2000), "g");
  EXPECT_EQ(NameAt(dump_, 0x8010, 2000), "JS:*h a.js:5:1 a.js:9");
  EXPECT_EQ(NameAt(dump_, 0x9000, 2000), "i");
}

TEST_F(JitReadersTest, LinesOfOneLongNameTakeNoMemoryForEach) {
  std::vector<TestJitDump::Line> lines(20'000, {0x7f00, 1, "\xff"});
  lines[0].file = std::string(20'000, 'x');
  TestJitDump dump;
  dump.Lines(10, 0x7f00, lines);
  dump.Load(10, 0x7f00, 64, 1, "f");
  Append(dump.bytes);
  rusage before = {}, after = {};
  getrusage(RUSAGE_SELF, &before);
  dump_reader_.Read(file_.get(), dump_);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 100'000);  // KiB
  EXPECT_EQ(NameAt(dump_, 0x7f00, 2000).size(),
            JitCode::kLongestName + strlen("f :1"));
}

TEST_F(JitReadersTest, AJitDumpHasALimit) {
  constexpr off_t kMostBytes = 100'000;
  JitDumpReader reader(/*epoch_offset_ns=*/0, kMostBytes);
  TestJitDump dump;
  dump.Lines(10, 0x7f00, {{0x7f00, 1, std::string(kMostBytes / 2, 'x')}});
  Append(dump.bytes);
  reader.Read(file_.get(), dump_);
  EXPECT_FALSE(reader.is_too_large());
  dump.bytes.clear();
  dump.Lines(10, 0x7f00, {{0x7f00, 1, std::string(kMostBytes / 2, 'x')}});
  dump.Load(10, 0x7f00, 64, 1, "behind the limit");
  Append(dump.bytes);
  reader.Read(file_.get(), dump_);
  EXPECT_TRUE(reader.is_too_large());
  EXPECT_EQ(NameAt(dump_, 0x7f00, 2000), "-");
}

TEST_F(JitReadersTest, LinesOfNoScriptAreLeftOut) {
  TestJitDump dump;
  // What node 20 writes of a script of a user's, and of its own.
  dump.Lines(10, 0x8000, {{0x8050, 1, "\t\xe3\x02"}, {0x8054, 7168, ""}});
  dump.Load(10, 0x8000, 64, 1, "JS:*fib /srv/app.js:1:13");
  dump.Lines(10, 0x9000, {{0x9040, 5, "node:path"}, {0x9050, 6, "/srv/b.js"}});
  dump.Load(10, 0x9000, 64, 2, "JS:*next node:path:4:1");
  Append(dump.bytes);
  dump_reader_.Read(file_.get(), dump_);
  EXPECT_EQ(NameAt(dump_, 0x8010, 2000), "JS:*fib /srv/app.js:1:13");
  EXPECT_EQ(NameAt(dump_, 0x9000, 2000), "JS:*next node:path:4:1 node:path:5");
  EXPECT_EQ(NameAt(dump_, 0x9010, 2000), "JS:*next node:path:4:1 /srv/b.js:6");
}

TEST_F(JitReadersTest, TicksThatNothingExplainsAreNoTimes) {
  TestJitDump dump(/*flags=*/1);
  dump.Load(uint64_t{1} << 60, 0x7f00, 64, 1, "first");
  dump.Load(uint64_t{1} << 50, 0x7f00, 64, 2, "second");
  Append(dump.bytes);
  dump_reader_.Read(file_.get(), dump_);
  EXPECT_EQ(NameAt(dump_, 0x7f00, 0), "second");
}

TEST_F(JitReadersTest, HostileJitDumpsGiveWhatStandsBeforeTheDamage) {
  TestJitDump dump;
  dump.Load(10, 0x7f00, 64, 1, "good");
  dump.Add(0, 10, "short");
  dump.Add(2, 10, BytesOf(uint64_t{0x8000}) + BytesOf(~uint64_t{0}));
  dump.Move(10, 0, 0x8000, 64, 99);  // of no code
  dump.Load(10, 0xffff'ffff'ffff'fff0, 64, 2, "beyond the end");
  dump.Load(~uint64_t{0}, 0x9000, 64, 3, std::string(100'000, 'x'));
  // A record that is smaller than its own header.
  dump.bytes +=
      BytesOf(uint32_t{0}) + BytesOf(uint32_t{8}) + BytesOf(uint64_t{10});
  dump.Load(10, 0xa000, 64, 4, "behind the damage");
  Append(dump.bytes);
  dump_reader_.Read(file_.get(), dump_);
  EXPECT_EQ(NameAt(dump_, 0x7f00, 2000), "good");
  EXPECT_EQ(NameAt(dump_, 0x9000, 2000).size(), JitCode::kLongestName);
  EXPECT_EQ(NameAt(dump_, 0xa000, 2000), "-");
}

TEST_F(JitReadersTest, NoJitDumpNamesNothing) {
  Append(std::string(4096, 'x'));
  dump_reader_.Read(file_.get(), dump_);
  EXPECT_TRUE(dump_.functions().empty());
}

}  // namespace
}  // namespace kymo::symbolize
