#include "backends/stream/decode/program_images.h"

#include "gtest/gtest.h"
#include "profiler/model/records.h"

namespace kymo::stream {
namespace {

constexpr int64_t kOffsetNs = 1'000'000;

class ProgramImagesTest : public testing::Test {
 protected:
  ~ProgramImagesTest() override { arena_.Unmap(); }

  // A program in process 7, and a stream of its main thread.
  uint32_t Attach(int64_t time_ns, uint64_t image) {
    record::ProcessEntry* const entry = arena_.AddProcess();
    entry->attach_monotonic_ns = time_ns;
    entry->image = image;
    entry->pid.store(7);
    const uint32_t stream = arena_.AddStream(7, 7);
    arena_.stream(stream).process.store(arena_.process_count());
    return stream;
  }

  TimeNs ReplacedNs(uint32_t stream) const {
    return ProgramImages(arena_, kOffsetNs).ReplacedNs(stream);
  }

  record::Arena arena_ = record::Arena::CreateAnonymous({});
};

TEST_F(ProgramImagesTest, EachEndsWhereTheNextBegins) {
  const uint32_t first = Attach(100, 1);
  const uint32_t second = Attach(200, 2);
  const uint32_t third = Attach(300, 3);
  EXPECT_EQ(ReplacedNs(first), kOffsetNs + 200);
  EXPECT_EQ(ReplacedNs(second), kOffsetNs + 300);
  EXPECT_EQ(ReplacedNs(third), 0);
}

TEST_F(ProgramImagesTest, HostsOfOneProgramDoNotReplaceEachOther) {
  const uint32_t first = Attach(100, 1);
  Attach(200, 1);
  EXPECT_EQ(ReplacedNs(first), 0);
  Attach(300, 2);
  EXPECT_EQ(ReplacedNs(first), kOffsetNs + 300);
}

TEST_F(ProgramImagesTest, AProgramThatDoesNotAttachReplacesToo) {
  const uint32_t first = Attach(100, 1);
  arena_.AddStart(7, "/bin/static", 150);
  EXPECT_EQ(ReplacedNs(first), kOffsetNs + 150);
}

TEST_F(ProgramImagesTest, StreamsOfNoKnownProcessAreNotReplaced) {
  Attach(100, 1);
  const uint32_t stream = arena_.AddStream(7, 8);
  EXPECT_EQ(ReplacedNs(stream), 0);
  arena_.stream(stream).process.store(~uint32_t{0});
  EXPECT_EQ(ReplacedNs(stream), 0);
}

TEST(EndReplacedTest, OpenRangesEndAfterAllThatTheirThreadRecorded) {
  model::EventColumns events;
  for (const TimeNs end_ns : {0, 150, 0}) {
    events.start_ns.push_back(100);
    events.end_ns.push_back(end_ns);
    events.flags.push_back(0);
  }
  const OpenRange first_row = {.index = 0, .row = 0};
  const OpenRange last_row = {.index = 0, .row = 2};
  DecodedChunk replaced;
  replaced.event_count = 2;
  replaced.open = {first_row};
  replaced.replaced_ns = 120;
  DecodedChunk other;
  other.view.stream = 1;
  other.first_row = 2;
  other.event_count = 1;
  other.open = {last_row};
  EndReplaced({replaced, other}, events);
  EXPECT_EQ(events.end_ns[0], 150);
  EXPECT_EQ(events.flags[0], model::kEventOpen);
  EXPECT_EQ(events.end_ns[2], 0);
  EXPECT_EQ(events.flags[2], 0);
}

}  // namespace
}  // namespace kymo::stream
