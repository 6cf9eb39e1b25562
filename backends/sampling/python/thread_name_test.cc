#include "backends/sampling/python/thread_name.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <span>
#include <string>

#include "backends/sampling/python/test_python_memory.h"

namespace kymo::sampling {
namespace {

using Attributes = PythonLayout::Attributes;

constexpr uint64_t kManagedDict = 1 << 4;
constexpr uint64_t kInlineValues = 1 << 2;
constexpr uint8_t kGeneral = 0;
constexpr uint8_t kText = 1;
constexpr int64_t kNumber = 4711;

PythonLayout LayoutOf(int minor) {
  return TestLayout(uint64_t{3} << 24 | static_cast<uint64_t>(minor) << 16);
}

class ThreadNameTest : public ::testing::TestWithParam<int> {
 protected:
  ThreadNameTest()
      : layout_(LayoutOf(GetParam())),
        image_(layout_),
        memory_(image_.memory()),
        frame_(image_.Take(layout_.frame.size)),
        thread_(image_.AddThread(frame_, "worker-3", kNumber)),
        name_(image_.AddText("another")) {}

  void Put(uint64_t address, uint64_t value) { memory_.Put(address, value); }
  // Where the second attribute, the name, has its value.
  void PutName(uint64_t text) { Put(thread_.values + 8, text); }
  void TakeValuesAway() {
    const uint64_t after = thread_.object + 16;
    Put(thread_.object - 32, 0);
    Put(thread_.object - 24, 0);
    Put(after, 0);
  }
  // The object has a dictionary instead.
  void PutDict(uint64_t keys, uint64_t values) {
    const uint64_t dict = image_.Take(48);
    TakeValuesAway();
    Put(thread_.object - 24, dict);
    Put(dict + 32, keys);
    Put(dict + 40, values);
  }
  // Its name; nothing if there is no thread.
  std::optional<std::string> Read() {
    const auto thread = ReadThreadName(frame_, layout_, memory_);
    if (!thread) return std::nullopt;
    EXPECT_EQ(thread->number, kNumber);
    return thread->name;
  }

  const PythonLayout layout_;
  PythonImage image_;
  ImageMemory& memory_;
  const uint64_t frame_;
  const PythonImage::Thread thread_;
  const uint64_t name_;
};

TEST_P(ThreadNameTest, StandsInTheThreadsValues) {
  EXPECT_EQ(Read(), "worker-3");
}

TEST_P(ThreadNameTest, StandsInADictionary) {
  for (const uint8_t kind : {kText, kGeneral}) {
    const uint64_t keys = image_.Take(256);
    const uint64_t hash_bytes = kind == kGeneral ? 8 : 0;
    memory_.Put<uint8_t>(keys + 9, 3);  // 8 bytes of indices
    memory_.Put<uint8_t>(keys + 10, kind);
    Put(keys + 24, 3);
    // The first entry has been deleted.
    const uint64_t entry_bytes = hash_bytes + 16;
    uint64_t entry = keys + 32 + 8 + entry_bytes + hash_bytes;
    Put(entry, image_.AddText("_name"));
    Put(entry + 8, name_);
    entry += entry_bytes;
    Put(entry, image_.AddText("_native_id"));
    Put(entry + 8, image_.AddNumber(kNumber));
    PutDict(keys, 0);
    EXPECT_EQ(Read(), "another") << int{kind};
  }
}

TEST_P(ThreadNameTest, ADictionaryMayShareItsKeys) {
  // Since 3.13 there is a word before the values.
  const uint64_t words = layout_.attributes == Attributes::kInline ? 1 : 0;
  const uint64_t values = image_.Take(64);
  Put(values + 8 * (words + 1), name_);
  Put(values + 8 * (words + 2), image_.AddNumber(kNumber));
  PutDict(thread_.keys, values);
  EXPECT_EQ(Read(), "another");
}

TEST_P(ThreadNameTest, IsNotMadeUp) {
  Put(frame_ + layout_.frame.locals, 0);
  EXPECT_EQ(Read(), std::nullopt) << "a variable without a value";
  Put(frame_ + layout_.frame.locals, thread_.object);
  Put(thread_.type + layout_.type.flags, kInlineValues);
  EXPECT_EQ(Read(), std::nullopt) << "an object of another kind";
  Put(thread_.type + layout_.type.flags, kManagedDict | kInlineValues);
  PutName(0);
  EXPECT_EQ(Read(), std::nullopt) << "an attribute without a value";
  PutName(image_.AddText(""));
  EXPECT_EQ(Read(), std::nullopt) << "an empty name";
  PutName(thread_.type);
  EXPECT_EQ(Read(), std::nullopt) << "no text";
  PutName(name_);
  EXPECT_EQ(Read(), "another");
  Put(thread_.keys + 32 + 64 + 16, image_.AddText("_names"));
  EXPECT_EQ(Read(), std::nullopt) << "another attribute";
  TakeValuesAway();
  EXPECT_EQ(Read(), std::nullopt) << "no attributes";
}

// The memory of a thread that has ended may be the next one's.
TEST_P(ThreadNameTest, SaysWhoseItIs) {
  const auto put_number = [&](uint64_t object) {
    Put(thread_.values + 16, object);
    return ReadThreadName(frame_, layout_, memory_);
  };
  for (const int64_t number : {int64_t{1}, int64_t{1} << 22}) {
    const auto thread = put_number(image_.AddNumber(number));
    ASSERT_TRUE(thread);
    EXPECT_EQ(thread->number, number);
  }
  // In a container, a thread may have one of the numbers that 3.14 shares.
  if (layout_.minor_version == 14) {
    const uint64_t object = image_.AddNumber(7);
    Put(object + 16, 8 | 4);
    const auto thread = put_number(object);
    ASSERT_TRUE(thread);
    EXPECT_EQ(thread->number, 7);
  }
  EXPECT_FALSE(put_number(image_.AddNumber(-kNumber)));
  EXPECT_FALSE(put_number(image_.AddNumber(0)));
  EXPECT_FALSE(put_number(thread_.type)) << "no number, but None";
  EXPECT_FALSE(put_number(0)) << "it has just begun";
}

TEST_P(ThreadNameTest, ALongOneIsCut) {
  PutName(image_.AddText(std::string(100, 'x')));
  EXPECT_EQ(Read(), std::string(kMostThreadNameCharacters, 'x'));
}

TEST_P(ThreadNameTest, AnyMemoryDoes) {
  std::mt19937_64 random(static_cast<uint64_t>(GetParam()));
  const uint64_t begin = thread_.object - 32;
  const uint64_t words = (image_.Take(0) - begin) / 8;
  for (int round = 0; round < 5000; ++round) {
    const uint64_t at = begin + 8 * (random() % words);
    const uint64_t before = memory_.ReadValue<uint64_t>(at).value();
    Put(at, random() % 2 == 0 ? begin + random() % (8 * words) : random());
    const auto thread = ReadThreadName(frame_, layout_, memory_);
    if (thread) {
      EXPECT_NE(thread->name, "");
      EXPECT_GT(thread->number, 0);
    }
    Put(at, before);
  }
  EXPECT_EQ(Read(), "worker-3");
}

INSTANTIATE_TEST_SUITE_P(Versions, ThreadNameTest,
                         ::testing::Values(11, 12, 13, 14));

TEST(ThreadNameFunctionTest, ThreadsBeginWithOneFunction) {
  EXPECT_TRUE(BeginsThread("Thread._bootstrap", "/usr/lib/threading.py"));
  EXPECT_FALSE(BeginsThread("Thread._bootstrap_inner", "/x/threading.py"));
  EXPECT_FALSE(BeginsThread("Thread._bootstrap", "/x/mythreading.py"));
}

}  // namespace
}  // namespace kymo::sampling
