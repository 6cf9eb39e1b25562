// Everything of kymo/record_function.h, compiled away.
#include <string>

#include "gtest/gtest.h"
#include "kymo/record_function.h"

#ifndef KYMO_DISABLE
#error "this test is for KYMO_DISABLE"
#endif

namespace kymo {
namespace {

TEST(DisabledTest, EveryFormCompilesAndDoesNothing) {
  KYMO_RECORD_FUNCTION("macro");
  KYMO_RECORD_FUNCTION("macro", {{"rows", 1}});
  RecordFunction literal("literal", RecordScope::kUserScope);
  RecordFunction with_args("literal", {{"rows", 64}, {"kind", "relu"}});
  RecordFunction scoped("literal", RecordScope::kUserScope, {{"rate", 0.5}});
  RecordFunction with_info("literal", {.sequence_nr = 3, .debug_handle = 4});
  RecordFunction with_inputs("literal", [] { return Inputs(1, 2.0); });
  KYMO_RECORD_OP("operation", 64, "text");
  RecordModule module("module");
  RecordFunction dynamic(std::string("dynamic"), RecordScope::kUserScope);
  RecordFunction dynamic_info(std::string("dynamic"), {.is_async = true});
  RecordFunction dynamic_args(std::string("dynamic"), {{"rows", 1}});
  literal.AddArg("key", 1);
  literal.End();
  EXPECT_FALSE(literal.is_active());
  EXPECT_LE(sizeof(RecordFunction), 1u);
  Instant("instant", {{"rows", 1}});
  Instant(std::string("dynamic"));
  Counter("counter", 1.0);
  SetThreadName("thread");
  EXPECT_FALSE(IsProfilerEnabled());
  EXPECT_EQ(Recorded("call", [](int i) { return i + 1; })(1), 2);
  EXPECT_EQ(Recorded(std::string("call"), [] { return 3; })(), 3);
}

}  // namespace
}  // namespace kymo
