#include "profiler/unwind/frame_entry.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace kymo::unwind {
namespace {

// A piece of memory as a linker lays it out: .eh_frame_hdr, then .eh_frame.
class FrameSection {
 public:
  explicit FrameSection(size_t functions)
      : header_bytes_(12 + 8 * functions), bytes_(header_bytes_) {
    bytes_.reserve(4096);  // nothing may move: entries hold distances
    const uint8_t head[] = {1, 0x1b, 0x03, 0x3b};
    std::memcpy(bytes_.data(), head, sizeof(head));
    Put(8, static_cast<uint32_t>(functions));
  }

  size_t AddCommon(const std::string& augmentation,
                   const std::vector<uint8_t>& data) {
    std::vector<uint8_t> body = {0, 0, 0, 0, 1};
    body.insert(body.end(), augmentation.begin(), augmentation.end());
    body.insert(body.end(), {0, 1, 0x78, 16});
    if (augmentation.starts_with('z')) {
      body.push_back(static_cast<uint8_t>(data.size()));
      body.insert(body.end(), data.begin(), data.end());
    }
    body.insert(body.end(), {0x0c, 7, 8, 0x90, 1});
    return Append(body);
  }

  // The n-th function, `size` bytes at `begin`, relative to the header.
  void AddFunction(size_t n, size_t common, int32_t begin, uint32_t size,
                   const std::vector<uint8_t>& instructions) {
    std::vector<uint8_t> body(12);
    const size_t at = bytes_.size() + 4;
    const uint32_t words[] = {
        static_cast<uint32_t>(at - common),
        static_cast<uint32_t>(begin - static_cast<int32_t>(at + 4)), size};
    std::memcpy(body.data(), words, sizeof(words));
    body.push_back(0);  // no augmentation
    body.insert(body.end(), instructions.begin(), instructions.end());
    const size_t entry = Append(body);
    Put(12 + 8 * n, static_cast<uint32_t>(begin));
    Put(16 + 8 * n, static_cast<uint32_t>(entry));
  }

  const uint8_t* begin() const { return bytes_.data(); }
  const uint8_t* end() const { return bytes_.data() + bytes_.size(); }
  uint64_t Pc(int64_t offset) const {
    return reinterpret_cast<uint64_t>(begin()) + static_cast<uint64_t>(offset);
  }
  UnwindRule RuleAt(int64_t offset) const {
    const uint8_t* const entry = FindEntry(begin(), end(), Pc(offset));
    return entry == nullptr ? UnwindRule{}
                            : RuleOfEntry(entry, end(), Pc(offset));
  }
  void Put(size_t at, uint32_t word) {
    std::memcpy(bytes_.data() + at, &word, sizeof(word));
  }

 private:
  size_t Append(const std::vector<uint8_t>& body) {
    const size_t at = bytes_.size();
    bytes_.resize(at + 4);
    Put(at, static_cast<uint32_t>(body.size()));
    bytes_.insert(bytes_.end(), body.begin(), body.end());
    return at;
  }

  size_t header_bytes_;
  std::vector<uint8_t> bytes_;
};

FrameSection ThreeFunctions() {
  FrameSection section(3);
  const size_t plain = section.AddCommon("zR", {0x1b});
  // The personality routine and data of exceptions, which must be skipped.
  const size_t throwing =
      section.AddCommon("zPLR", {0x9b, 1, 2, 3, 4, 0x1b, 0x1b});
  const size_t signal = section.AddCommon("zRS", {0x1b});
  section.AddFunction(0, plain, -5000, 100, {0x41, 0x0e, 16});
  section.AddFunction(1, throwing, -4900, 50, {0x44, 0x0e, 32});
  section.AddFunction(2, signal, 100000, 10, {});
  return section;
}

TEST(FrameEntryTest, FindsTheFunctionAround) {
  const FrameSection section = ThreeFunctions();
  EXPECT_EQ(section.RuleAt(-5000).cfa_offset, 8);
  EXPECT_EQ(section.RuleAt(-4999).cfa_offset, 16);
  EXPECT_EQ(section.RuleAt(-4901).cfa_offset, 16);
  EXPECT_EQ(section.RuleAt(-4900).cfa_offset, 8);
  EXPECT_EQ(section.RuleAt(-4896).cfa_offset, 32);
  EXPECT_EQ(section.RuleAt(-4851).kind, RuleKind::kSpOffset);
}

TEST(FrameEntryTest, BetweenFunctionsThereIsNone) {
  const FrameSection section = ThreeFunctions();
  EXPECT_EQ(FindEntry(section.begin(), section.end(), section.Pc(-5001)),
            nullptr);
  EXPECT_EQ(section.RuleAt(-4850).kind, RuleKind::kMissing);
  EXPECT_EQ(section.RuleAt(50000).kind, RuleKind::kMissing);
  EXPECT_EQ(section.RuleAt(100010).kind, RuleKind::kMissing);
}

TEST(FrameEntryTest, KnowsSignalFrames) {
  EXPECT_EQ(ThreeFunctions().RuleAt(100005).kind, RuleKind::kSignalFrame);
}

TEST(FrameEntryTest, AnAugmentationOfOthersIsUnsupported) {
  FrameSection section(1);
  const size_t common = section.AddCommon("zRX", {0x1b});
  section.AddFunction(0, common, -100, 50, {});
  EXPECT_EQ(section.RuleAt(-100).kind, RuleKind::kUnsupported);
}

TEST(FrameEntryTest, ACutTableHasNoEntries) {
  FrameSection section = ThreeFunctions();
  section.Put(8, 100000);
  EXPECT_EQ(FindEntry(section.begin(), section.end(), section.Pc(-5000)),
            nullptr);
  section.Put(0, 0);
  EXPECT_EQ(FindEntry(section.begin(), section.end(), section.Pc(-5000)),
            nullptr);
}

TEST(FrameEntryTest, ACutEntryIsUnsupported) {
  const FrameSection section = ThreeFunctions();
  const uint8_t* const entry =
      FindEntry(section.begin(), section.end(), section.Pc(100005));
  for (const uint8_t* end = entry; end < section.end(); ++end) {
    EXPECT_EQ(RuleOfEntry(entry, end, section.Pc(100005)).kind,
              RuleKind::kUnsupported);
  }
}

}  // namespace
}  // namespace kymo::unwind
