#include "backends/cpu/trace_memory.h"

#include <gtest/gtest.h>

#include "profiler/base/available_memory.h"

namespace kymo::cpu {
namespace {

constexpr uint64_t kMib = uint64_t{1} << 20;

TEST(TraceMemoryTest, CountsHaveAUnit) {
  EXPECT_EQ(ParseByteCount("1MiB"), kMib);
  EXPECT_EQ(ParseByteCount("2GiB"), 2048 * kMib);
  EXPECT_EQ(ParseByteCount("1024GiB"), kMib * kMib);
  for (const char* const wrong :
       {"", "0MiB", "5", "MiB", "-1MiB", "1 MiB", "1mib", "1MiBs", "1025GiB",
        "99999999999999999999MiB", "18446744073709551615GiB"}) {
    EXPECT_EQ(ParseByteCount(wrong), std::nullopt) << wrong;
  }
}

TEST(TraceMemoryTest, TheLimitIsWhatIsSaidOrThreeQuartersOfWhatIsLeft) {
  EXPECT_EQ(*MemoryLimit("512MiB"), 512 * kMib);
  EXPECT_LE(*MemoryLimit(""), AvailableMemoryBytes());
  EXPECT_EQ(MemoryLimit("all").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(TraceMemoryTest, AWindowAndItsTraceTakeHalfOfTheLimit) {
  EXPECT_LE(TraceMemoryBytes(WindowBytesFor(100 * kMib)), 50 * kMib);
  EXPECT_EQ(WindowBytesFor(64'000 * kMib), 128 * kMib);
  EXPECT_EQ(WindowBytesFor(0), 4 * kMib);
}

}  // namespace
}  // namespace kymo::cpu
