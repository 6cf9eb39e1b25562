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

  // Entries byte by byte, behind their length.
  size_t AddBody(const std::vector<uint8_t>& body) { return Append(body); }

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

// A common entry that begins so, behind its length, and a function of 8 bytes
// at 0x1000 whose addresses are 8 bytes long.
UnwindRule RuleWithCommon(std::vector<uint8_t> common,
                          std::vector<uint8_t> augmentation = {},
                          uint64_t pc = 0x1004) {
  FrameSection section(0);
  common.insert(common.end(), {0x0c, 7, 8, 0x90, 1});
  const size_t first = section.AddBody(common);
  std::vector<uint8_t> body = {0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0,
                               0, 0, 8, 0, 0, 0,    0, 0, 0, 0};
  body.insert(body.end(), augmentation.begin(), augmentation.end());
  body.insert(body.end(), {0x42, 0x0e, 24});
  const size_t at = section.AddBody(body);
  section.Put(at + 4, static_cast<uint32_t>(at + 4 - first));
  return RuleOfEntry(section.begin() + at, section.end(), pc);
}

TEST(FrameEntryTest, KnowsTheFormsOfCommonEntries) {
  constexpr RuleKind kGood = RuleKind::kSpOffset;
  constexpr RuleKind kBad = RuleKind::kUnsupported;
  // No augmentation; version, code and data alignment, return register.
  EXPECT_EQ(RuleWithCommon({0, 0, 0, 0, 1, 0, 1, 0x78, 16}).kind, kGood);
  EXPECT_EQ(RuleWithCommon({0, 0, 0, 0, 1, 0, 1, 0x78, 16}).cfa_offset, 24);
  EXPECT_EQ(RuleWithCommon({0, 0, 0, 0, 1, 0, 4, 0x78, 16}).cfa_offset, 8);
  EXPECT_EQ(RuleWithCommon({0, 0, 0, 0, 3, 0, 1, 0x78, 16}).kind, kGood);
  // The return register is a byte in version 1, and a LEB128 in version 3.
  EXPECT_EQ(RuleWithCommon({0, 0, 0, 0, 3, 0, 1, 0x78, 0x90, 0}).kind, kGood);
  EXPECT_EQ(RuleWithCommon({0, 0, 0, 0, 1, 0, 1, 0x78, 0x90, 0}).kind, kBad);
  EXPECT_EQ(RuleWithCommon({0, 0, 0, 0, 1, 0, 1, 0x78, 15}).kind, kBad);
  EXPECT_EQ(RuleWithCommon({0, 0, 0, 0, 2, 0, 1, 0x78, 16}).kind, kBad);
  EXPECT_EQ(RuleWithCommon({0, 0, 0, 0, 4, 0, 1, 0x78, 16}).kind, kBad);
  EXPECT_EQ(RuleWithCommon({1, 0, 0, 0, 1, 0, 1, 0x78, 16}).kind, kBad);
  EXPECT_EQ(RuleWithCommon({0, 0, 0, 0, 1, 'e', 'h', 0, 1, 0x78, 16}).kind,
            kBad);
  // With one: its size, then what its letters say.
  const auto augmented = [](const std::string& letters,
                            const std::vector<uint8_t>& data) {
    std::vector<uint8_t> common = {0, 0, 0, 0, 1, 'z'};
    common.insert(common.end(), letters.begin(), letters.end());
    common.insert(common.end(), {0, 1, 0x78, 16});
    common.push_back(static_cast<uint8_t>(data.size()));
    common.insert(common.end(), data.begin(), data.end());
    return RuleWithCommon(common, {2, 0xff, 0xff});
  };
  EXPECT_EQ(augmented("", {}).cfa_offset, 24);
  EXPECT_EQ(augmented("R", {0}).cfa_offset, 24);
  EXPECT_EQ(augmented("L", {0x1b}).cfa_offset, 24);
  EXPECT_EQ(augmented("B", {}).cfa_offset, 24);
  EXPECT_EQ(augmented("LR", {0x1b, 0}).cfa_offset, 24);
  EXPECT_EQ(augmented("PR", {0x9b, 1, 2, 3, 4, 0}).cfa_offset, 24);
  // No personality routine, though there is a place for one.
  EXPECT_EQ(augmented("PR", {0xff, 0}).cfa_offset, 24);
  EXPECT_EQ(augmented("S", {}).kind, RuleKind::kSignalFrame);
  EXPECT_EQ(augmented("BS", {}).kind, RuleKind::kSignalFrame);
  EXPECT_EQ(augmented("X", {}).kind, kBad);
}

TEST(FrameEntryTest, AFunctionReachesToItsEnd) {
  const auto rule_at = [](uint64_t pc) {
    return RuleWithCommon({0, 0, 0, 0, 1, 0, 1, 0x78, 16}, {}, pc);
  };
  EXPECT_EQ(rule_at(0xfff).kind, RuleKind::kMissing);
  EXPECT_EQ(rule_at(0x1000).cfa_offset, 8);
  EXPECT_EQ(rule_at(0x1001).cfa_offset, 8);
  EXPECT_EQ(rule_at(0x1002).cfa_offset, 24);
  EXPECT_EQ(rule_at(0x1007).cfa_offset, 24);
  EXPECT_EQ(rule_at(0x1008).kind, RuleKind::kMissing);
}

// A length of 8 bytes, behind a mark.
TEST(FrameEntryTest, KnowsLongEntries) {
  std::vector<uint8_t> bytes = {14, 0, 0,    0,  0,    0, 0, 0,    1,
                                0,  1, 0x78, 16, 0x0c, 7, 8, 0x90, 1};
  const size_t at = bytes.size();
  bytes.insert(bytes.end(), {0xff, 0xff, 0xff, 0xff, 22, 0, 0, 0, 0, 0, 0, 0});
  const auto distance = static_cast<uint8_t>(bytes.size());
  bytes.insert(bytes.end(), {distance, 0, 0, 0, 0, 0x10, 0, 0, 0, 0,    0,
                             0,        8, 0, 0, 0, 0,    0, 0, 0, 0x0e, 24});
  const uint8_t* const end = bytes.data() + bytes.size();
  EXPECT_EQ(RuleOfEntry(bytes.data() + at, end, 0x1000),
            (UnwindRule{.kind = RuleKind::kSpOffset, .cfa_offset = 24}));
  EXPECT_EQ(RuleOfEntry(bytes.data() + at, end - 1, 0x1000).kind,
            RuleKind::kUnsupported);
}

TEST(FrameEntryTest, ATableInAnotherFormHasNoEntries) {
  for (const uint32_t head :
       {0x3b031b01u, 0x3b031b02u, 0x3b041b01u, 0x3c031b01u}) {
    FrameSection section = ThreeFunctions();
    section.Put(0, head);
    EXPECT_EQ(
        FindEntry(section.begin(), section.end(), section.Pc(-5000)) != nullptr,
        head == 0x3b031b01u)
        << head;
  }
  // Cut right behind its last row, and before.
  const FrameSection section = ThreeFunctions();
  const uint8_t* const end = section.begin() + 12 + 3 * 8;
  EXPECT_NE(FindEntry(section.begin(), end, section.Pc(-5000)), nullptr);
  EXPECT_EQ(FindEntry(section.begin(), end - 1, section.Pc(-5000)), nullptr);
}

}  // namespace
}  // namespace kymo::unwind
