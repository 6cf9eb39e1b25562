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

// Counts what it gets until it is full.
class FullSink : public ByteSink {
 public:
  explicit FullSink(size_t room) : room_(room) {}
  absl::Status Append(std::string_view) override {
    ++appends;
    return appends > room_ ? absl::ResourceExhaustedError("full")
                           : absl::OkStatus();
  }
  absl::Status Commit() override { return absl::OkStatus(); }
  size_t appends = 0;

 private:
  const size_t room_;
};

TEST(OrderedOutputTest, NothingIsWrittenAfterTheFirstError) {
  // A batch of 16 ranges, and one with the rest.
  constexpr size_t kItems = 20 * OrderedOutput::kFirstRangeItems;
  const auto append = [](size_t, size_t, std::string& out) { out += "x"; };
  for (const size_t room : {0, 5, 16}) {
    FullSink sink(room);
    OrderedOutput output(sink, kItems, nullptr);
    EXPECT_EQ(output.Run(kItems, append).code(),
              absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(sink.appends, room + 1);
  }
}

TEST(OrderedOutputTest, ProgressIsTheShareOfAllItems) {
  constexpr size_t kBatch =
      OrderedOutput::kBatchRanges * OrderedOutput::kFirstRangeItems;
  const auto append = [](size_t, size_t, std::string&) {};
  std::vector<double> seen;
  StringSink sink;
  OrderedOutput output(sink, 4 * kBatch,
                       [&](double done) { seen.push_back(done); });
  ASSERT_TRUE(output.Run(kBatch, append).ok());
  EXPECT_EQ(seen, (std::vector<double>{0.25}));
  ASSERT_TRUE(output.Run(0, append).ok());
  EXPECT_EQ(seen.size(), 1u);
  // Short items come in ranges of the largest size after the first batch.
  ASSERT_TRUE(output.Run(2 * kBatch, append).ok());
  EXPECT_EQ(seen, (std::vector<double>{0.25, 0.5, 0.75}));
  // More items than were announced are all of them.
  ASSERT_TRUE(output.Run(3 * kBatch, append).ok());
  EXPECT_EQ(seen.back(), 1);
}

TEST(OrderedOutputTest, ShortItemsComeInLargeRangesAfterTheFirstBatch) {
  constexpr size_t kFirst =
      OrderedOutput::kBatchRanges * OrderedOutput::kFirstRangeItems;
  constexpr size_t kItems = kFirst + 2 * OrderedOutput::kMaxRangeItems + 7;
  std::mutex mutex;
  std::vector<size_t> begins;
  StringSink sink;
  OrderedOutput output(sink, kItems, nullptr);
  ASSERT_TRUE(output
                  .Run(kItems,
                       [&](size_t begin, size_t end, std::string& out) {
                         out.append(end - begin, 'x');
                         const std::lock_guard lock(mutex);
                         begins.push_back(begin);
                       })
                  .ok());
  EXPECT_EQ(sink.text(), std::string(kItems, 'x'));
  std::sort(begins.begin(), begins.end());
  ASSERT_EQ(begins.size(), OrderedOutput::kBatchRanges + 3);
  for (size_t i = 0; i <= OrderedOutput::kBatchRanges; ++i) {
    EXPECT_EQ(begins[i], i * OrderedOutput::kFirstRangeItems);
  }
  EXPECT_EQ(begins[OrderedOutput::kBatchRanges + 1],
            kFirst + OrderedOutput::kMaxRangeItems);
  EXPECT_EQ(begins[OrderedOutput::kBatchRanges + 2],
            kFirst + 2 * OrderedOutput::kMaxRangeItems);
}

}  // namespace
}  // namespace kymo::timeline
