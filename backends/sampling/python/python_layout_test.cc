#include "backends/sampling/python/python_layout.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "backends/sampling/python/test_python_memory.h"

namespace kymo::sampling {
namespace {

constexpr uint64_t kRuntime = ImageMemory::kBegin + 4096;
constexpr uint64_t kPython313 = 0x030d00f0;
constexpr uint64_t kPython314 = 0x030e0af0;

absl::StatusOr<PythonLayout> Find(uint64_t version,
                                  const std::vector<uint64_t>& words) {
  ImageMemory memory;
  memory.Write(kRuntime, std::as_bytes(std::span(words)));
  return FindLayout(version, kRuntime, memory);
}

TEST(PythonLayoutTest, VersionsAreRead) {
  EXPECT_EQ(MinorVersion(0x030b02f0), 11);
  EXPECT_EQ(MinorVersion(0x030e00f0), 14);
  EXPECT_EQ(MinorVersion(0x02071200), 0);
  EXPECT_EQ(MinorVersion(~uint64_t{0}), 0);
}

TEST(PythonLayoutTest, OldVersionsAreInATable) {
  const auto layout = Find(0x030b02f0, {});
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->minor_version, 11);
  EXPECT_NE(layout->frame.is_entry, 0u);
  ASSERT_TRUE(Find(0x030c01f0, {}).ok());
}

TEST(PythonLayoutTest, NewVersionsTellTheirs) {
  for (const uint64_t version : {kPython313, kPython314}) {
    const auto layout = Find(version, TestDebugOffsets(version));
    ASSERT_TRUE(layout.ok()) << layout.status();
    EXPECT_EQ(layout->minor_version, version == kPython313 ? 13 : 14);
    EXPECT_EQ(layout->frame.size, 96u);
    EXPECT_EQ(layout->frame.previous, 16u);
    EXPECT_EQ(layout->frame.code, 8u);
    EXPECT_EQ(layout->frame.instruction, 40u);
    EXPECT_EQ(layout->frame.owner, 70u);
    EXPECT_EQ(layout->frame.is_entry, 0u);
    EXPECT_EQ(layout->frame.tag_bits, version == kPython313 ? 0u : 3u);
    EXPECT_EQ(layout->code.instructions, 208u);
    EXPECT_EQ(layout->code.first_line, 68u);
    EXPECT_EQ(layout->bytes.data, 32u);
    EXPECT_EQ(layout->text.ascii_data, 40u);
  }
}

TEST(PythonLayoutTest, WhatIsNotKnownIsRefused) {
  for (const uint64_t version : {0x030a0bf0u, 0x030f00f0u, 0x02071200u}) {
    const auto layout = Find(version, TestDebugOffsets(version));
    EXPECT_EQ(layout.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_NE(layout.status().message().find("3.11 to 3.14"),
              absl::string_view::npos);
  }
}

TEST(PythonLayoutTest, OffsetsThatDoNotCheckAreRefused) {
  const std::vector<uint64_t> good = TestDebugOffsets(kPython313);
  const auto refused = [&](size_t word, uint64_t value) {
    std::vector<uint64_t> words = good;
    words[word] = value;
    return Find(kPython313, words).status().code() ==
           absl::StatusCode::kUnimplemented;
  };
  EXPECT_TRUE(refused(0, 0)) << "the cookie";
  EXPECT_TRUE(refused(1, kPython313 + 1)) << "another version's";
  EXPECT_TRUE(refused(2, 1)) << "free-threaded";
  EXPECT_TRUE(refused(28, 100'000)) << "a frame too large";
  EXPECT_TRUE(refused(29, 8)) << "two fields at one place";
  EXPECT_TRUE(refused(29, 17)) << "a pointer at an odd place";
  EXPECT_TRUE(refused(29, ~uint64_t{7})) << "a field outside of the frame";
  EXPECT_TRUE(refused(33, 96)) << "the owner outside of the frame";
  EXPECT_TRUE(refused(39, ~uint64_t{0})) << "the first line";
  EXPECT_TRUE(refused(43, 1 << 20)) << "the instructions";
  EXPECT_TRUE(refused(66, 1 << 20)) << "the bytes";
  EXPECT_TRUE(refused(68, 1 << 20)) << "the state of a text";
  EXPECT_TRUE(refused(70, 1 << 20)) << "a text's characters";
  EXPECT_EQ(FindLayout(kPython313, 0, *std::make_unique<ImageMemory>())
                .status()
                .code(),
            absl::StatusCode::kUnavailable);
}

TEST(PythonLayoutTest, AnyOffsetsDo) {
  std::mt19937_64 random(1);
  const std::vector<uint64_t> good = TestDebugOffsets(kPython313);
  for (int round = 0; round < 5000; ++round) {
    std::vector<uint64_t> words = good;
    for (int i = 0; i < 3; ++i) {
      words[3 + random() % 90] = random() % 2 == 0 ? random() % 256 : random();
    }
    const auto layout = Find(kPython313, words);
    if (!layout.ok()) continue;
    EXPECT_LT(layout->frame.owner, layout->frame.size);
    EXPECT_LE(layout->frame.previous + 8, layout->frame.size);
    EXPECT_LE(layout->code.line_table + 8, layout->code.instructions);
    EXPECT_LE(layout->code.first_line + 4, layout->code.instructions);
  }
}

}  // namespace
}  // namespace kymo::sampling
