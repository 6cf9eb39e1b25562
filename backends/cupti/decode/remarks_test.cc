#include "backends/cupti/decode/remarks.h"

#include <gtest/gtest.h>

namespace kymo::cupti {
namespace {

TEST(RemarksTest, TellWhatWasRefusedOnce) {
  const std::vector<DecodedLog> logs = {
      {.refused = {"unified memory: not supported (28)"}},
      {.refused = {"unified memory: not supported (28)", "waits: no (1)"}}};
  const std::vector<std::string> remarks = RemarksOf(logs, 130'001);
  ASSERT_EQ(remarks.size(), 2u);
  EXPECT_EQ(remarks[0],
            "CUPTI did not record what was asked for: unified memory: not "
            "supported (28)");
}

TEST(RemarksTest, TellOfALibraryThatIsKnownToBeBroken) {
  ASSERT_EQ(RemarksOf({}, 130'000).size(), 1u);
  EXPECT_NE(RemarksOf({}, 130'000)[0].find("Update 1"), std::string::npos);
  EXPECT_TRUE(RemarksOf({}, 130'001).empty());
}

}  // namespace
}  // namespace kymo::cupti
