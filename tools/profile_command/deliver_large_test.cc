#include "tools/profile_command/deliver_large.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo::tools {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

KeptRecording Unreadable(const std::string& path) {
  return {.path = path,
          .open = [](uint64_t) { return absl::DataLossError("it is broken"); }};
}

TEST(DeliverLargeTest, EachRecordingIsSaidAlsoIfNoneCanBeRead) {
  const std::vector<KeptRecording> kept = {Unreadable("out/kymo.raw"),
                                           Unreadable("out/device.raw")};
  OutputDirectory out(testing::TempDir() + "/deliver_large");
  const LargeDelivery delivery =
      DeliverLarge(kept, nullptr, ProfileCommand(), ExporterRegistry(), out);
  EXPECT_EQ(delivery.status.message(), "it is broken");
  for (const KeptRecording& recording : kept) {
    EXPECT_THAT(delivery.notices,
                Contains(HasSubstr("recorded is in " + recording.path + ":")));
  }
  EXPECT_THAT(delivery.notices,
              Contains(HasSubstr("the table is that of out/kymo.raw alone")));
}

}  // namespace
}  // namespace kymo::tools
