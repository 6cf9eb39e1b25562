#include "backends/sampling/python/code_cache.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "backends/sampling/python/python_text.h"
#include "backends/sampling/python/test_python_memory.h"
#include "profiler/base/time.h"

namespace kymo::sampling {
namespace {

class CodeCacheTest : public ::testing::Test {
 protected:
  CodeCacheTest()
      : layout_(*FindLayout(0x030b02f0, 0, *std::make_unique<ImageMemory>())),
        image_(layout_),
        codes_(layout_, PythonImage::kCodeType, &places_) {}

  symbolize::NamedPlace PlaceOf(PythonCode& code, uint64_t instruction) {
    return places_.place(codes_.PlaceOf(code, instruction).value());
  }

  const PythonLayout layout_;
  PythonImage image_;
  symbolize::NamedPlaces places_;
  CodeCache codes_;
};

TEST_F(CodeCacheTest, AFunctionHasItsNameFileAndLines) {
  const uint64_t at = image_.AddCode("Model.train", "/src/loop.py", 12, 10);
  PythonCode* const code = codes_.Find(at, image_.memory(), 0);
  ASSERT_NE(code, nullptr);
  const auto place = PlaceOf(*code, image_.Instruction(at, 4));
  EXPECT_EQ(place.function, "Model.train (loop.py:12)");
  EXPECT_EQ(place.file, "/src/loop.py");
  EXPECT_EQ(place.line, 15u);
  EXPECT_FALSE(code->begins_thread);
  EXPECT_EQ(PlaceOf(*code, 0).line, 12u) << "not begun yet";
  EXPECT_EQ(codes_.FindByInstruction(image_.Instruction(at, 9)), code);
  EXPECT_EQ(codes_.FindByInstruction(image_.Instruction(at, 10)), nullptr);
  EXPECT_EQ(codes_.FindByInstruction(at), nullptr);
}

TEST_F(CodeCacheTest, AFunctionIsReadOnce) {
  const uint64_t at = image_.AddCode("f", "a.py", 1, 10);
  ASSERT_NE(codes_.Find(at, image_.memory(), 0), nullptr);
  const size_t reads = image_.memory().read_count();
  ASSERT_NE(codes_.Find(at, image_.memory(), kNsPerMs), nullptr);
  EXPECT_EQ(image_.memory().read_count(), reads);
  // Later, only what tells it from another one.
  ASSERT_NE(codes_.Find(at, image_.memory(), 20 * kNsPerMs), nullptr);
  EXPECT_EQ(image_.memory().read_count(), reads + 1);
}

TEST_F(CodeCacheTest, AFunctionThatStaysIsLookedAtLessOften) {
  const uint64_t at = image_.AddCode("f", "a.py", 1, 10);
  int64_t now_ns = 0;
  const auto is_looked_at = [&](int64_t later_ns) {
    now_ns += later_ns;
    const size_t reads = image_.memory().read_count();
    EXPECT_NE(codes_.Find(at, image_.memory(), now_ns), nullptr);
    return image_.memory().read_count() > reads;
  };
  EXPECT_TRUE(is_looked_at(0));
  EXPECT_FALSE(is_looked_at(9 * kNsPerMs));
  EXPECT_TRUE(is_looked_at(kNsPerSecond));
  EXPECT_FALSE(is_looked_at(49 * kNsPerMs));
  EXPECT_TRUE(is_looked_at(2 * kNsPerMs));
  // However long it has been the same.
  EXPECT_TRUE(is_looked_at(1000 * kNsPerSecond));
  EXPECT_FALSE(is_looked_at(99 * kNsPerMs));
  EXPECT_TRUE(is_looked_at(2 * kNsPerMs));
  // Another one at its address is young.
  image_.memory().Put(at + layout_.code.qualified_name, image_.AddText("g"));
  EXPECT_TRUE(is_looked_at(kNsPerSecond));
  EXPECT_TRUE(is_looked_at(10 * kNsPerMs));
}

TEST_F(CodeCacheTest, AnAddressMayBeUsedAgain) {
  const uint64_t at = image_.AddCode("f", "a.py", 1, 10);
  ASSERT_NE(codes_.Find(at, image_.memory(), 0), nullptr);
  image_.memory().Put(at + layout_.code.qualified_name, image_.AddText("g"));
  PythonCode* const code = codes_.Find(at, image_.memory(), 20 * kNsPerMs);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->function, "g (a.py:1)");
  // It is something else now.
  image_.memory().Put(at + layout_.object.type, uint64_t{1});
  EXPECT_EQ(codes_.Find(at, image_.memory(), 40 * kNsPerMs), nullptr);
  EXPECT_EQ(codes_.FindByInstruction(image_.Instruction(at, 3)), nullptr);
}

TEST_F(CodeCacheTest, TheInterpretersOwnCodeHasNoPlace) {
  const uint64_t at = image_.AddCode("", "", 1, 4);
  image_.memory().Put(at + layout_.code.qualified_name, uint64_t{0});
  PythonCode* const code = codes_.Find(at, image_.memory(), 0);
  ASSERT_NE(code, nullptr);
  EXPECT_FALSE(codes_.PlaceOf(*code, code->begin).has_value());
  // Since 3.14.
  const uint64_t later = image_.AddCode("__init__", "", 0, 4);
  const auto name =
      image_.memory().ReadValue<uint64_t>(later + layout_.code.qualified_name);
  image_.memory().Put(later + layout_.code.filename, *name);
  PythonCode* const later_code = codes_.Find(later, image_.memory(), 0);
  ASSERT_NE(later_code, nullptr);
  EXPECT_FALSE(codes_.PlaceOf(*later_code, later_code->begin).has_value());
}

TEST_F(CodeCacheTest, WhatCannotBeReadHasAnUnknownName) {
  const uint64_t at = image_.AddCode("f", "a.py", 7, 4);
  for (const uint64_t field :
       {layout_.code.qualified_name, layout_.code.filename,
        layout_.code.line_table}) {
    image_.memory().Put(at + field, uint64_t{0xdead0000});
  }
  PythonCode* const code = codes_.Find(at, image_.memory(), 0);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->function, "[unknown] (:7)");
  EXPECT_EQ(PlaceOf(*code, code->begin).line, 7u);
}

TEST_F(CodeCacheTest, AnyMemoryDoes) {
  std::mt19937_64 random(1);
  const uint64_t at = image_.AddCode("f", "a.py", 7, 40);
  for (int round = 0; round < 3000; ++round) {
    // Anywhere in the function, its texts and its table.
    const uint64_t offset = random() % 640;
    image_.memory().Put<uint64_t>(at + offset / 8 * 8,
                                  random() >> random() % 64);
    image_.memory().Put(at + layout_.object.type, PythonImage::kCodeType);
    PythonCode* const code =
        codes_.Find(at, image_.memory(), round * 20 * kNsPerMs);
    if (code != nullptr) (void)codes_.PlaceOf(*code, at + random() % 4096);
    (void)codes_.FindByInstruction(random());
  }
}

class PythonTextTest : public CodeCacheTest {
 protected:
  uint64_t AddWide(uint32_t kind, std::span<const std::byte> data,
                   uint64_t length) {
    const uint64_t at = ImageMemory::kBegin + 0x40000;
    image_.memory().Put(at + layout_.text.length, length);
    image_.memory().Put<uint32_t>(at + layout_.text.state,
                                  (kind | 8) << kTextKindShift);
    image_.memory().Write(at + layout_.text.other_data, data);
    return at;
  }
  std::optional<std::string> Read(uint64_t at, size_t most, bool end = false) {
    return ReadPythonText(at, layout_, most, end, image_.memory());
  }
};

TEST_F(PythonTextTest, CharactersBecomeUtf8) {
  const char32_t text[] = {U'a', U'\u00e9', U'\u20ac', U'\U0001F600', 0xd800};
  EXPECT_EQ(Read(AddWide(4, std::as_bytes(std::span(text)), 5), 100),
            "a\u00e9\u20ac\U0001F600\ufffd");
  const char16_t half[] = {u'a', u'\u20ac'};
  EXPECT_EQ(Read(AddWide(2, std::as_bytes(std::span(half)), 2), 100),
            "a\u20ac");
}

TEST_F(PythonTextTest, LongTextsAreCut) {
  const uint64_t at = image_.AddText("/a/long/path.py");
  EXPECT_EQ(Read(at, 4), "/a/l");
  EXPECT_EQ(Read(at, 7, true), "path.py");
}

TEST_F(PythonTextTest, WhatIsNoTextIsNone) {
  const std::byte data[8] = {};
  EXPECT_EQ(Read(AddWide(3, data, 2), 100), std::nullopt);
  EXPECT_EQ(Read(AddWide(1, data, uint64_t{1} << 40), 100), std::nullopt);
  EXPECT_EQ(Read(AddWide(1, data, uint64_t{1} << 30), 5000, true), std::nullopt)
      << "its end is outside of the memory";
  EXPECT_EQ(Read(8, 100), std::nullopt);
}

}  // namespace
}  // namespace kymo::sampling
