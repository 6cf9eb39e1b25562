// What a signal handler of the same thread may do between a range's steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "profiler/record/host/host.h"
#include "profiler/record/host/thread_stream.h"
#include "profiler/record/range.h"
#include "profiler/record/test_records.h"

namespace kymo::record {
namespace {

using TakenSlotsTest = RecordTest;

// Between taking slots and the look at the limit, a signal handler may have
// opened the next chunk.
TEST(AreTakenTest, SlotsBehindAFullChunkAreNotThoseOfTheNextOne) {
  static Slot chunks[2 * kSlotsPerChunk];  // one behind the other
  ThreadStream stream = {};
  Slot* const first = chunks + kSlotsPerChunk;
  stream.cursor = stream.limit = first;
  Slot* const slot = TakeSlots(&stream, 1);
  EXPECT_FALSE(AreTaken(&stream, slot, 1));
  Slot* const part = first - 1;  // three were wanted, and one was left
  EXPECT_FALSE(AreTaken(&stream, part, 3));
  EXPECT_TRUE(AreTaken(&stream, part, 1));
  stream.cursor = first + 1;  // the handler has the first one
  stream.limit = first + kSlotsPerChunk;
  EXPECT_FALSE(AreTaken(&stream, slot, 1));
  EXPECT_FALSE(AreTaken(&stream, part, 3));
  EXPECT_TRUE(AreTaken(&stream, TakeSlots(&stream, 1), 1));
  EXPECT_TRUE(AreTaken(&stream, first + 1, kSlotsPerChunk - 1));
  EXPECT_FALSE(AreTaken(&stream, first + 1, kSlotsPerChunk));
  stream.limit = nullptr;
  EXPECT_FALSE(AreTaken(&stream, first + 2, 1));
}

// The handler came when the thread had its slots, but no range yet.
TEST_F(TakenSlotsTest, ARangeOutlivesTheChunkThatASignalHandlerFilled) {
  OpenRange range;
  const TakenSlots taken = TakeWithTicket(1);
  ASSERT_NE(taken.head, nullptr);
  while (thread_stream->ticket == taken.ticket) {
    OpenRange handlers;
    BeginRange(handlers, "handler's", RecordScope::kFunction);
    EndRange(handlers);
  }
  OpenSlot(range, taken, NameId(thread_stream, "late"), RecordScope::kFunction,
           0);
  EndRange(range);
  EXPECT_EQ(taken.head->end.load(), 0u);  // the chunk may be another thread's
  const std::vector<Record> records = Stop();
  const auto late =
      std::find_if(records.begin(), records.end(),
                   [](const Record& record) { return record.name == "late"; });
  ASSERT_NE(late, records.end());
  EXPECT_TRUE(late->has_end);
}

}  // namespace
}  // namespace kymo::record
