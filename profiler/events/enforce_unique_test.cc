#include "profiler/events/enforce_unique.h"

#include <gtest/gtest.h>

namespace kymo {
namespace {

TEST(EnforceUniqueTest, HeaderExample) {
  EnforceUnique keys;
  EXPECT_TRUE(keys.see("train", 7).ok());
  EXPECT_EQ(keys.see("train", 7).message(), "duplicate key: ('train', 7)");
}

TEST(EnforceUniqueTest, TellsTuplesAsPythonWritesThem) {
  EnforceUnique keys;
  EXPECT_TRUE(keys.see(5).ok());
  EXPECT_TRUE(keys.see(5, 7).ok());
  EXPECT_TRUE(keys.see("5").ok());
  EXPECT_EQ(keys.see(5).message(), "duplicate key: (5,)");
  EXPECT_EQ(keys.see(5, 7).message(), "duplicate key: (5, 7)");
  EXPECT_EQ(keys.see("5").code(), absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace kymo
