#include "exporters/timeline/ordered_output.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace kymo::timeline {
namespace {

class StringSink : public ByteSink {
 public:
  absl::Status Append(std::string_view bytes) override {
    text_ += bytes;
    return absl::OkStatus();
  }
  absl::Status Commit() override { return absl::OkStatus(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

TEST(OrderedOutputTest, WritesItemsInOrderWhateverTheirLength) {
  const auto append = [](size_t begin, size_t end, std::string& out) {
    for (size_t i = begin; i < end; ++i) {
      out += std::to_string(i);
      out.append(i % 7'919 == 0 ? 300'000 : i % 3, '.');
    }
  };
  constexpr size_t kItems = 200'000;
  StringSink sink;
  OrderedOutput output(sink, kItems, nullptr);
  ASSERT_TRUE(output.Run(kItems, append).ok());
  std::string expected;
  append(0, kItems, expected);
  EXPECT_TRUE(sink.text() == expected);
}

TEST(OrderedOutputTest, RangesOfLongItemsAreShort) {
  constexpr size_t kItemBytes = 20'000;
  constexpr size_t kItems = 10'000;
  std::mutex mutex;
  std::vector<size_t> range_items;
  StringSink sink;
  OrderedOutput output(sink, kItems, nullptr);
  ASSERT_TRUE(output
                  .Run(kItems,
                       [&](size_t begin, size_t end, std::string& out) {
                         out.append((end - begin) * kItemBytes, 'x');
                         const std::lock_guard lock(mutex);
                         range_items.push_back(end - begin);
                       })
                  .ok());
  EXPECT_EQ(sink.text().size(), kItems * kItemBytes);
  // Those of the first batch could not know.
  EXPECT_EQ(std::count(range_items.begin(), range_items.end(),
                       OrderedOutput::kFirstRangeItems),
            OrderedOutput::kBatchRanges);
  EXPECT_EQ(std::count_if(range_items.begin(), range_items.end(),
                          [](size_t items) {
                            return items * kItemBytes >
                                   OrderedOutput::kRangeBytes;
                          }),
            OrderedOutput::kBatchRanges);
}

}  // namespace
}  // namespace kymo::timeline
