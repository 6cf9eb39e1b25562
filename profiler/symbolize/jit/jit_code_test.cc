#include "profiler/symbolize/jit/jit_code.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kymo::symbolize {
namespace {

std::string NameAt(const JitCode& code, uint64_t address, TimeNs time_ns) {
  const JitCode::Answer answer = code.Find(address, time_ns);
  if (answer.function == nullptr) return "-";
  return std::string(code.name(*answer.function));
}

TEST(JitCodeTest, MemoryThatIsUsedAgainHasTheNameOfItsTime) {
  JitCode code(JitCode::Times::kExact);
  code.Add({.start = 0x100, .size_bytes = 0x40, .since_ns = 10}, "first");
  code.Add({.start = 0x120, .size_bytes = 0x40, .since_ns = 20}, "second");
  code.Add({.start = 0x100, .size_bytes = 0x80, .since_ns = 30}, "third");
  code.Index(std::vector<uint64_t>{0x110, 0x130, 0x150});
  EXPECT_EQ(NameAt(code, 0x130, 9), "-");
  EXPECT_EQ(NameAt(code, 0x130, 10), "first");
  EXPECT_EQ(NameAt(code, 0x130, 19), "first");
  EXPECT_EQ(NameAt(code, 0x130, 20), "second");
  EXPECT_EQ(NameAt(code, 0x110, 20), "first");
  EXPECT_EQ(NameAt(code, 0x130, 30), "third");
  EXPECT_EQ(NameAt(code, 0x150, 19), "-");
  EXPECT_EQ(NameAt(code, 0x180, 30), "-");
}

TEST(JitCodeTest, AnAnswerHoldsUntilTheNextFunctionComes) {
  JitCode code(JitCode::Times::kExact);
  code.Add({.start = 0x100, .size_bytes = 0x40, .since_ns = 10}, "first");
  code.Add({.start = 0x100, .size_bytes = 0x40, .since_ns = 20}, "second");
  code.Index(std::vector<uint64_t>{0x100});
  EXPECT_EQ(code.Find(0x100, 5).to_ns, 10);
  EXPECT_EQ(code.Find(0x100, 12).from_ns, 10);
  EXPECT_EQ(code.Find(0x100, 12).to_ns, 20);
  EXPECT_EQ(code.Find(0x100, 25).from_ns, 20);
  EXPECT_EQ(code.Find(0x100, 25).to_ns, JitCode::kForever);
}

TEST(JitCodeTest, BeforeAGuessedTimeAFunctionIsThereIfNoOtherIs) {
  JitCode code(JitCode::Times::kGuessed);
  code.Add({.start = 0x100, .size_bytes = 0x40, .since_ns = 10}, "same time");
  code.Add({.start = 0x100, .size_bytes = 0x40, .since_ns = 10}, "first");
  code.Add({.start = 0x100, .size_bytes = 0x40, .since_ns = 20}, "second");
  code.Index(std::vector<uint64_t>{0x100});
  EXPECT_EQ(NameAt(code, 0x100, 5), "first");
  EXPECT_EQ(NameAt(code, 0x100, 15), "first");
  EXPECT_EQ(NameAt(code, 0x100, 20), "second");
  EXPECT_EQ(code.Find(0x100, 5).from_ns, JitCode::kAlways);
  EXPECT_EQ(code.Find(0x100, 15).from_ns, JitCode::kAlways);
  EXPECT_EQ(code.Find(0x100, 5).to_ns, 20);
}

TEST(JitCodeTest, SizesThatNoCodeHasAreIgnored) {
  JitCode code(JitCode::Times::kExact);
  code.Add({.start = 0x100, .size_bytes = 0}, "empty");
  code.Add({.start = 0, .size_bytes = ~uint64_t{0}}, "everything");
  code.Add({.start = ~uint64_t{0} - 8, .size_bytes = 64}, "beyond the end");
  code.Index(std::vector<uint64_t>{0, 0x100, ~uint64_t{0}});
  EXPECT_TRUE(code.functions().empty());
  EXPECT_EQ(NameAt(code, 0x100, 0), "-");
}

TEST(JitCodeTest, LinesAreByOffsetAndMoveWithTheirFunction) {
  JitCode code(JitCode::Times::kExact);
  code.Add({.start = 0x100, .size_bytes = 0x40, .since_ns = 10}, "f",
           std::vector<JitLine>{{8, "a.js", 3}, {16, "b.js", 4}});
  code.AddMoved(0, {.start = 0x900, .size_bytes = 0x40, .since_ns = 20});
  code.Index(std::vector<uint64_t>{0x104, 0x10a, 0x910});
  const auto line = [&](uint64_t address) {
    const JitCode::Answer answer = code.Find(address, 20);
    const auto place = code.LineOf(*answer.function, address);
    return std::string(place.file) + ":" + std::to_string(place.line);
  };
  EXPECT_EQ(line(0x104), ":0");
  EXPECT_EQ(line(0x10a), "a.js:3");
  EXPECT_EQ(line(0x910), "b.js:4");
}

}  // namespace
}  // namespace kymo::symbolize
