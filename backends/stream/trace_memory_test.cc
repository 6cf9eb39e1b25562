#include "backends/stream/trace_memory.h"

#include <gtest/gtest.h>

#include "profiler/base/available_memory.h"

namespace kymo::stream {
namespace {

TEST(TraceMemoryTest, TheLimitIsWhatIsSaidOrThreeQuartersOfWhatIsLeft) {
  EXPECT_EQ(MemoryLimit(512 * kMib), 512 * kMib);
  // Other processes take and give back memory meanwhile.
  const double available = static_cast<double>(AvailableMemoryBytes());
  EXPECT_NEAR(static_cast<double>(MemoryLimit(std::nullopt)) / available, 0.75,
              0.15);
}

TEST(TraceMemoryTest, AWindowAndItsTraceTakeHalfOfTheLimit) {
  EXPECT_LE(TraceMemoryBytes(WindowBytesFor(100 * kMib)), 50 * kMib);
  EXPECT_EQ(WindowBytesFor(64'000 * kMib), 128 * kMib);
  EXPECT_EQ(WindowBytesFor(0), 4 * kMib);
  EXPECT_EQ(WindowBytesFor(100 * kMib), 20 * kMib);
  EXPECT_EQ(TraceMemoryBytes(200), 500);  // two and a half times as much
}

}  // namespace
}  // namespace kymo::stream
