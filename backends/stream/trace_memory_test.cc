#include "backends/stream/trace_memory.h"

#include <gtest/gtest.h>

#include "profiler/base/available_memory.h"

namespace kymo::stream {
namespace {

constexpr uint64_t kMib = uint64_t{1} << 20;

TEST(TraceMemoryTest, TheLimitIsWhatIsSaidOrThreeQuartersOfWhatIsLeft) {
  EXPECT_EQ(MemoryLimit(512 * kMib), 512 * kMib);
  EXPECT_LE(MemoryLimit(std::nullopt), AvailableMemoryBytes());
}

TEST(TraceMemoryTest, AWindowAndItsTraceTakeHalfOfTheLimit) {
  EXPECT_LE(TraceMemoryBytes(WindowBytesFor(100 * kMib)), 50 * kMib);
  EXPECT_EQ(WindowBytesFor(64'000 * kMib), 128 * kMib);
  EXPECT_EQ(WindowBytesFor(0), 4 * kMib);
}

}  // namespace
}  // namespace kymo::stream
