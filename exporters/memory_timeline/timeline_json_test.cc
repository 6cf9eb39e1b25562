#include "exporters/memory_timeline/timeline_json.h"

#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kymo::memory_timeline {
namespace {

using analysis::MemoryAction;
using analysis::MemoryCategory;
using analysis::MemoryTimelineEvent;

using Events = std::vector<MemoryTimelineEvent>;

std::string Timeline(const Events& events) {
  std::string text;
  EXPECT_TRUE(WriteTimelineJson(events, *NewStringSink(&text)).ok());
  return text;
}

std::string Raw(const Events& events) {
  std::string text;
  EXPECT_TRUE(WriteRawTimelineJson(events, *NewStringSink(&text)).ok());
  return text;
}

// A file that PyTorch wrote.
std::string TorchFile(const std::string& name) {
  const std::string path = "exporters/memory_timeline/testdata/" + name;
  const gzFile file = gzopen(path.c_str(), "rb");
  std::string text(1 << 20, '\0');
  text.resize(static_cast<size_t>(
      gzread(file, text.data(), static_cast<unsigned>(text.size()))));
  gzclose(file);
  return text;
}

// The events of a raw file, whose text is its numbers and what is between.
Events ParseRaw(const std::string& text) {
  std::vector<int64_t> numbers;
  const char* at = text.c_str();
  while (*(at += std::strspn(at, "[], ")) != '\0') {
    char* end = nullptr;
    numbers.push_back(std::strtoll(at, &end, 10));
    if (end == at) break;
    at = end;
  }
  Events events;
  for (size_t i = 0; i + 3 < numbers.size(); i += 4) {
    events.push_back({.time_ns = numbers[i],
                      .bytes = numbers[i + 2],
                      .action = static_cast<MemoryAction>(numbers[i + 1]),
                      .category = static_cast<MemoryCategory>(numbers[i + 3])});
  }
  return events;
}

const Events& ExampleOfTheHeader() {
  static const Events events = {{.time_ns = 5'000,
                                 .bytes = 40,
                                 .action = MemoryAction::kCreate,
                                 .category = MemoryCategory::kActivation},
                                {.time_ns = 9'000,
                                 .bytes = -40,
                                 .action = MemoryAction::kDestroy,
                                 .category = MemoryCategory::kActivation}};
  return events;
}

TEST(TimelineJsonTest, RowsBeginWithABaseLineOfZero) {
  EXPECT_EQ(Timeline(ExampleOfTheHeader()),
            "[[5, 9], [[0, 0, 0, 0, 0, 40, 0, 0, 0], "
            "[0, 0, 0, 0, 0, 0, 0, 0, 0]]]");
}

TEST(TimelineJsonTest, RawIsOneEntryPerEvent) {
  EXPECT_EQ(Raw(ExampleOfTheHeader()), "[[5000, 2, 40, 4], [9000, 4, -40, 4]]");
}

TEST(TimelineJsonTest, NothingIsEmptyArrays) {
  EXPECT_EQ(Timeline({}), "[[], []]");
  EXPECT_EQ(Raw({}), "[]");
}

// The example of PyTorch's semantics.
TEST(TimelineJsonTest, WhatWasThereBeforeGetsTheFirstTime) {
  Events events = ExampleOfTheHeader();
  events.insert(events.begin(), {.time_ns = analysis::kBeforeRecording,
                                 .bytes = 100,
                                 .action = MemoryAction::kPreexisting,
                                 .category = MemoryCategory::kParameter});
  EXPECT_EQ(Timeline(events),
            "[[5, 5, 9], [[0, 100, 0, 0, 0, 0, 0, 0, 0], "
            "[0, 100, 0, 0, 0, 40, 0, 0, 0], "
            "[0, 100, 0, 0, 0, 0, 0, 0, 0]]]");
}

TEST(TimelineJsonTest, PyTorchsEventsGivePyTorchsFiles) {
  const std::string raw = TorchFile("torch.raw.json.gz");
  const Events events = ParseRaw(raw);
  ASSERT_EQ(events.size(), 117u);
  EXPECT_EQ(Raw(events), raw);
  EXPECT_EQ(Timeline(events), TorchFile("torch.json.gz"));
}

TEST(TimelineJsonTest, LongArraysAreWholeAlthoughWrittenInPieces) {
  Events events(50'000, ExampleOfTheHeader()[0]);
  for (size_t i = 0; i < events.size(); ++i) {
    events[i].time_ns = 1'000 * static_cast<TimeNs>(i);
  }
  const std::string raw = Raw(events);
  EXPECT_EQ(Raw(ParseRaw(raw)), raw);
  EXPECT_EQ(ParseRaw(raw).size(), events.size());
}

// Takes so many pieces, and remembers the size of each.
class FullSink final : public ByteSink {
 public:
  explicit FullSink(size_t room) : room_(room) {}
  absl::Status Append(std::string_view bytes) override {
    sizes_.push_back(bytes.size());
    return sizes_.size() > room_ ? absl::ResourceExhaustedError("disk full")
                                 : absl::OkStatus();
  }
  absl::Status Commit() override { return absl::OkStatus(); }
  const std::vector<size_t>& sizes() const { return sizes_; }

 private:
  const size_t room_;
  std::vector<size_t> sizes_;
};

// The pieces of rows are "[", the times, ", ", the sizes and "]".
TEST(TimelineJsonTest, FullDiskIsAnErrorWhereverItHappens) {
  for (size_t room = 0; room <= 5; ++room) {
    FullSink rows(room);
    EXPECT_EQ(WriteTimelineJson(ExampleOfTheHeader(), rows).ok(), room == 5)
        << room;
    EXPECT_EQ(rows.sizes().size(), 5u);
  }
  for (size_t room = 0; room <= 1; ++room) {
    FullSink raw(room);
    EXPECT_EQ(WriteRawTimelineJson(ExampleOfTheHeader(), raw).ok(), room == 1);
  }
}

TEST(TimelineJsonTest, PiecesHave64KiB) {
  const Events events(50'000, ExampleOfTheHeader()[0]);
  FullSink sink(1'000);
  ASSERT_TRUE(WriteRawTimelineJson(events, sink).ok());
  ASSERT_GT(sink.sizes().size(), 2u);
  for (size_t i = 0; i + 1 < sink.sizes().size(); ++i) {
    EXPECT_GT(sink.sizes()[i], size_t{64} << 10);
    EXPECT_LT(sink.sizes()[i], (size_t{64} << 10) + 100);
  }
}

}  // namespace
}  // namespace kymo::memory_timeline
