#include "backends/sampling/python/python_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "backends/sampling/python/frame_copies.h"
#include "backends/sampling/python/test_python_memory.h"
#include "profiler/base/time.h"

namespace kymo::sampling {
namespace {

using ::testing::Contains;

constexpr uint64_t kStack = 0x7ffd00000000;  // the address of the copy
constexpr size_t kStackBytes = 4096;
constexpr int kRbx = 3;
constexpr int kR15 = 15;
constexpr uint64_t kPython311 = 0x030b02f0;
constexpr uint64_t kPython313 = 0x030d00f0;
constexpr uint64_t kPython314 = 0x030e0af0;

// Loops of the interpreter on a made-up stack, each in 512 bytes of it, with C
// functions in between. A loop has its frame in rbx, and its next instruction
// in r15.
class PythonProcessTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  PythonProcessTest()
      : layout_(TestLayout(GetParam())),
        image_(layout_),
        python_(image_.Take(), layout_, PythonImage::kCodeType, &places_),
        bytes_(kStackBytes) {
    for (const char* name : {"f", "g", "h", "main"}) {
      codes_.push_back(image_.AddCode(name, "/a.py", 10, 20));
    }
  }

  bool is_311() const { return GetParam() == kPython311; }
  uint64_t LoopBegin(size_t loop) const { return kStack + 512 * loop; }
  // The frame with which a loop ends since 3.12, on the C stack.
  uint64_t EndFrame(size_t loop) const { return LoopBegin(loop) + 256; }

  // Adds a loop outside of those before. Its frames come from outermost to
  // innermost, by number of the function; each is at unit 4. `outer` is the
  // frame that the next outer loop runs.
  uint64_t AddLoop(const std::vector<int>& functions, uint64_t outer) {
    const size_t loop = stack_.watched.size();
    uint64_t frame = is_311() ? outer : EndFrame(loop);
    bool is_entry = true;
    for (const int function : functions) {
      frame = image_.AddFrame(codes_[function], frame, 4, is_entry);
      is_entry = false;
    }
    if (!is_311()) {
      Put(EndFrame(loop) + layout_.frame.previous, outer);
      Put(EndFrame(loop) + layout_.frame.owner / 8 * 8,
          uint64_t{3} << layout_.frame.owner % 8 * 8);
    }
    WatchedFrame watched{.index = stack_.frames.size(),
                         .end = LoopBegin(loop) + 512};
    watched.registers[kRsp] = LoopBegin(loop);
    watched.registers[kRbx] = frame;
    watched.registers[kR15] = image_.Instruction(codes_[functions.back()], 5);
    stack_.watched.push_back(watched);
    stack_.frames.push_back({100, 1});
    stack_.frames.push_back({100, 2});  // some C function
    return frame;
  }
  void Put(uint64_t address, uint64_t value) {
    std::memcpy(bytes_.data() + (address - kStack), &value, sizeof(value));
  }
  PythonProcess::Result Expand() {
    now_ns_ += kNsPerMs;
    result_ = stack_;
    FrameMemory frames{.copy = copy_};
    const auto result =
        python_.Expand({kStack, bytes_}, learned_, now_ns_, &frames, &result_);
    pages_ = frames.pages;
    was_late_ = frames.was_late;
    return result;
  }
  // Learns where the loop has its variables: in `home`, if it is on the stack.
  void Learn(uint64_t home = 0) {
    WatchedFrame& watched = stack_.watched[0];
    const WatchedFrame before = watched;
    const uint64_t kept = is_311() ? 0 : EndFrame(0);
    const uint64_t frames[] = {image_.AddFrame(codes_[0], kept, 4, true),
                               image_.AddFrame(codes_[0], kept, 4, true)};
    for (uint32_t i = 0; i <= ValueHomes::kLearned; ++i) {
      const uint64_t frame = frames[i % 2];
      if (home == 0) {
        watched.registers[kRbx] = frame;
      } else {
        Put(home, frame);
      }
      watched.registers[kR15] = image_.Instruction(codes_[0], 5 + i % 2);
      EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
    }
    watched = before;
  }
  // "C" is a frame of a C function, "loop" one of the interpreter's.
  std::string Text() const {
    std::string text;
    for (const symbolize::CodePlace& place : result_.frames) {
      if (!text.empty()) text += " ";
      if (place.module == symbolize::ModuleTable::kNamed) {
        const auto named = places_.place(place.address);
        text +=
            std::string(named.function.substr(0, named.function.find(' '))) +
            ":" + std::to_string(named.line);
      } else {
        text += place.address == 1 ? "loop" : "C";
      }
    }
    return text;
  }

  const PythonLayout layout_;
  PythonImage image_;
  symbolize::NamedPlaces places_;
  PythonProcess python_;
  LearnedLoop learned_;
  std::vector<std::byte> bytes_;
  std::vector<uint64_t> codes_;
  UnwoundStack stack_;
  UnwoundStack result_;
  int64_t now_ns_ = 0;
  const FrameCopy* copy_ = nullptr;
  std::vector<uint64_t> pages_;
  bool was_late_ = false;
};

TEST_P(PythonProcessTest, ALoopBecomesItsFunctions) {
  AddLoop({3, 1, 0}, 0);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  EXPECT_EQ(Text(), "f:13 g:13 main:13 C");
}

// It ends with its outermost function, whose first variable is the thread.
TEST_P(PythonProcessTest, AThreadMayHaveAName) {
  codes_.push_back(
      image_.AddCode("Thread._bootstrap", "/lib/threading.py", 10, 20));
  const uint64_t first = image_.AddFrame(codes_[4], 0, 4, true);
  AddLoop({1, 0}, first);
  AddLoop({4}, 0);
  stack_.watched[1].registers[kRbx] = first;
  if (!is_311()) image_.SetFrame(first, codes_[4], EndFrame(1), 4);
  image_.AddThread(first, "worker-3", 4711);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  ASSERT_TRUE(python_.ReadThreadName());
  EXPECT_EQ(python_.ReadThreadName()->name, "worker-3");
  EXPECT_EQ(python_.ReadThreadName()->number, 4711);
  image_.AddThread(first, "another", 4712);
  ASSERT_TRUE(python_.ReadThreadName());
  EXPECT_EQ(python_.ReadThreadName()->name, "another");
  EXPECT_EQ(python_.ReadThreadName()->number, 4712);
  // Nor has what does not begin so, and what could not be read whole.
  image_.SetFrame(first, codes_[3], is_311() ? 0 : EndFrame(1), 4, true);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  EXPECT_FALSE(python_.ReadThreadName());
  image_.SetFrame(first, codes_[4], 0x1234, 4);
  EXPECT_NE(Expand(), PythonProcess::Result::kWhole);
  EXPECT_FALSE(python_.ReadThreadName());
}

TEST_P(PythonProcessTest, LoopsAndFunctionsOfCStandInBetween) {
  // Frames of outer loops lie below those of inner ones.
  const uint64_t first = image_.AddFrame(codes_[3], 0, 4, true);
  AddLoop({1, 0}, first);
  AddLoop({3}, 0);
  stack_.watched[1].registers[kRbx] = first;
  if (!is_311()) image_.SetFrame(first, codes_[3], EndFrame(1), 4);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  EXPECT_EQ(Text(), "f:13 g:13 C main:13 C");
}

TEST_P(PythonProcessTest, WhatALoopCalledSinceIsNotShownInsideOfIt) {
  const uint64_t first = image_.AddFrame(codes_[3], 0, 4, true);
  const uint64_t frame = AddLoop({1, 0}, first);
  AddLoop({3}, 0);
  stack_.watched[1].registers[kRbx] = first;
  if (!is_311()) image_.SetFrame(first, codes_[3], EndFrame(1), 4);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  // Both functions of the inner loop have returned. The outer loop has called
  // h, without a loop of its own, whose frame lies where that of f was.
  image_.SetFrame(frame, codes_[2], first, 4);
  EXPECT_NE(Expand(), PythonProcess::Result::kWhole);
  EXPECT_TRUE(Text() == "loop C main:13 C" || Text() == "f:13 C main:13 C")
      << Text();
}

TEST_P(PythonProcessTest, ASubinterpretersFunctionsHaveNoCallerInItsChain) {
  AddLoop({2, 1, 0}, 0);
  AddLoop({3}, 0);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  EXPECT_EQ(Text(), "f:13 g:13 h:13 C main:13 C");
}

TEST_P(PythonProcessTest, FramesAreThoseOfTheCopy) {
  const uint64_t frame = AddLoop({3, 0}, 0);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  EXPECT_TRUE(was_late_);
  EXPECT_EQ(pages_, std::vector{frame / kFramePageBytes * kFramePageBytes});
  FrameCopy copy{.page_count = 1, .bytes = {}};
  copy.pages[0] = pages_[0];
  copy.bytes.resize(kFramePageBytes);
  ASSERT_TRUE(image_.memory().Read(pages_[0], copy.bytes));
  copy_ = &copy;
  image_.SetFrame(frame, codes_[2], 0x1234, 4);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  EXPECT_FALSE(was_late_);
  EXPECT_EQ(Text(), "f:13 main:13 C");
}

TEST_P(PythonProcessTest, ACopyTellsWhichFrameIsInnermost) {
  const uint64_t first = image_.AddFrame(codes_[3], 0, 4, true);
  const uint64_t frame = AddLoop({1, 0}, first);
  AddLoop({3}, 0);
  if (!is_311()) image_.SetFrame(first, codes_[3], EndFrame(1), 4);
  stack_.watched[1].registers[kRbx] = 0;  // the outer loop's is not known
  FrameCopy copy{.page_count = 1, .bytes = {}};
  copy.pages[0] = frame / kFramePageBytes * kFramePageBytes;
  copy.bytes.resize(kFramePageBytes);
  ASSERT_TRUE(image_.memory().Read(copy.pages[0], copy.bytes));
  copy_ = &copy;
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  EXPECT_EQ(Text(), "f:13 g:13 C main:13 C");
  // A chain that has fewer loops than the stack does not tell the others.
  stack_.watched[0].registers[kRbx] = first;
  EXPECT_NE(Expand(), PythonProcess::Result::kWhole);
}

// The pages of a deep recursion are not known before its frame was found.
TEST_P(PythonProcessTest, AFrameThatWasNotCopiedIsPreferredToItsCallers) {
  std::vector<int> functions = {3};
  functions.resize(60, 0);
  const uint64_t frame = AddLoop(functions, 0);
  FrameCopy copy{.page_count = 1, .bytes = {}};
  copy.pages[0] = PythonImage::kFirstFrame / kFramePageBytes * kFramePageBytes;
  ASSERT_GE(frame, copy.pages[0] + kFramePageBytes);
  copy.bytes.resize(kFramePageBytes);
  ASSERT_TRUE(image_.memory().Read(copy.pages[0], copy.bytes));
  copy_ = &copy;
  // The outermost frame and its instruction stand in registers that are tried
  // first.
  stack_.watched[0].registers[0] = PythonImage::kFirstFrame;
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  EXPECT_EQ(result_.frames.size(), functions.size() + 1);
  EXPECT_THAT(pages_, Contains(frame / kFramePageBytes * kFramePageBytes));
  stack_.watched[0].registers[1] = image_.Instruction(codes_[3], 5);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  EXPECT_EQ(result_.frames.size(), functions.size() + 1);
}

TEST_P(PythonProcessTest, AFrameIsOfOneLoop) {
  if (!is_311()) GTEST_SKIP() << "later versions say which loop a frame is of";
  const uint64_t first = image_.AddFrame(codes_[3], 0, 4, true);
  AddLoop({1, 0}, first);
  AddLoop({3}, 0);
  // The inner loop has its caller's frame alone in a register.
  stack_.watched[0].registers[kRbx] = image_.AddFrame(codes_[2], first, 4);
  stack_.watched[1].registers[kRbx] = first;
  EXPECT_EQ(Expand(), PythonProcess::Result::kUnread);
  EXPECT_EQ(Text(), "loop C main:13 C");
}

TEST_P(PythonProcessTest, RecursionHasAllItsFrames) {
  AddLoop({3, 0, 0, 0, 0}, 0);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  EXPECT_EQ(Text(), "f:13 f:13 f:13 f:13 main:13 C");
}

TEST_P(PythonProcessTest, TheLineIsThatOfTheSample) {
  AddLoop({3, 0}, 0);
  stack_.watched[0].registers[kR15] = image_.Instruction(codes_[0], 9);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  EXPECT_EQ(Text(), "f:17 main:13 C");
}

TEST_P(PythonProcessTest, VariablesMayBeOnTheStack) {
  const uint64_t frame = AddLoop({3, 0}, 0);
  stack_.watched[0].registers[kRbx] = 0;
  Learn(LoopBegin(0) + 24);
  Put(LoopBegin(0) + 24, frame);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  EXPECT_EQ(Text(), "f:13 main:13 C");
}

TEST_P(PythonProcessTest, FramesOfCallersInOtherPlacesAreNotTaken) {
  const uint64_t frame = AddLoop({3, 1, 0}, 0);
  // The outermost frame stands in a register that is tried first.
  stack_.watched[0].registers[0] = PythonImage::kFirstFrame;
  stack_.watched[0].registers[1] = image_.Instruction(codes_[3], 5);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
    EXPECT_EQ(Text(), "f:13 g:13 main:13 C");
  }
  ASSERT_NE(frame, PythonImage::kFirstFrame);
}

TEST_P(PythonProcessTest, AFunctionThatReturnedIsKnownByItsInstruction) {
  const uint64_t frame = AddLoop({3, 0}, 0);
  Learn();
  // The function h was seen before, and called again when the sample was taken.
  // Now f has its frame.
  image_.SetFrame(frame, codes_[2], PythonImage::kFirstFrame, 4);
  stack_.watched[0].registers[kR15] = image_.Instruction(codes_[2], 7);
  EXPECT_EQ(Expand(), PythonProcess::Result::kWhole);
  image_.SetFrame(frame, codes_[0], PythonImage::kFirstFrame, 4);
  EXPECT_EQ(Expand(), PythonProcess::Result::kTorn);
  EXPECT_EQ(Text(), "h:15 main:13 C");
}

TEST_P(PythonProcessTest, ABrokenChainHasTheFunctionsUpToThere) {
  const uint64_t frame = AddLoop({3, 1, 0}, 0);
  Learn();
  image_.SetFrame(frame, codes_[0], 0x1234, 4);
  EXPECT_EQ(Expand(), PythonProcess::Result::kTorn);
  EXPECT_EQ(Text(), "f:13 C");
}

TEST_P(PythonProcessTest, ALoopWithoutAFrameStaysAsItIs) {
  AddLoop({3, 0}, 0);
  Learn();
  stack_.watched[0].registers[kRbx] = 42;
  EXPECT_EQ(Expand(), PythonProcess::Result::kUnread);
  EXPECT_EQ(Text(), "loop C");
}

TEST_P(PythonProcessTest, ALoopThatHasJustBegunHasNoFunctionYet) {
  const uint64_t frame = AddLoop({3, 0}, 0);
  Learn();
  // A loop inside of it, whose registers are still those of its caller.
  WatchedFrame inner{.index = 0, .end = LoopBegin(1)};
  inner.registers = stack_.watched[0].registers;
  inner.registers[kRsp] = kStack;
  ASSERT_EQ(inner.registers[kRbx], frame);
  stack_.frames.insert(stack_.frames.begin(), {{100, 1}, {100, 2}});
  stack_.watched[0].index += 2;
  stack_.watched.insert(stack_.watched.begin(), inner);
  (void)Expand();
  EXPECT_EQ(Text(), "loop C f:13 main:13 C");
}

TEST_P(PythonProcessTest, ACircleEnds) {
  const uint64_t frame = AddLoop({3, 0}, 0);
  image_.SetFrame(frame, codes_[0], frame, 4);
  (void)Expand();
  EXPECT_LE(result_.frames.size(), FrameChain::kMostFrames + 2);
  EXPECT_EQ(result_.end, StackEnd::kTruncated);
}

TEST_P(PythonProcessTest, AnyMemoryDoes) {
  std::mt19937_64 random(1);
  const uint64_t first = AddLoop({3, 1, 0}, 0);
  AddLoop({2, 1}, first);
  const auto any = [&](uint64_t good) -> uint64_t {
    switch (random() % 4) {
      case 0:
        return random();
      case 1:
        return ImageMemory::kBegin + random() % ImageMemory::kBytes;
      case 2:
        return kStack + random() % kStackBytes / 8 * 8;
      default:
        return good;
    }
  };
  const UnwoundStack good = stack_;
  for (int round = 0; round < 3000; ++round) {
    stack_ = good;
    image_.memory().Put(PythonImage::kFirstFrame + random() % 1024 / 8 * 8,
                        any(first));
    for (WatchedFrame& watched : stack_.watched) {
      for (uint64_t& value : watched.registers) value = any(value);
      watched.end = any(watched.end);
    }
    (void)Expand();
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, PythonProcessTest,
                         ::testing::Values(kPython311, kPython313, kPython314),
                         [](const auto& info) {
                           return "Python3" +
                                  std::to_string(MinorVersion(info.param));
                         });

}  // namespace
}  // namespace kymo::sampling
