#include "backends/itt/target/client.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "profiler/record/tool_variables.h"

namespace kymo::itt {
namespace {

TEST(IttClientTest, CallsTheToolThatTheVariableNames) {
  const char* const path = getenv("KYMO_TEST_TOOL");
  ASSERT_NE(path, nullptr);
  // Without a tool, and with a library that is none, nothing happens.
  unsetenv(record::kIttToolVariable);
  EXPECT_FALSE(IttClient().is_available());
  for (const char* const none : {"", "/no/such/library", "libm.so.6"}) {
    setenv(record::kIttToolVariable, none, 1);
    const IttClient client;
    EXPECT_FALSE(client.is_available());
    client.Push("unheard");
    client.Mark("unheard");
    client.Pop();
  }
  setenv(record::kIttToolVariable, path, 1);
  const IttClient& client = GetIttClient();
  EXPECT_EQ(&GetIttClient(), &client);
  EXPECT_TRUE(client.is_available());
  client.Push("range");
  client.Mark("mark");
  client.Pop();
  const auto take_log = reinterpret_cast<const char* (*)()>(
      dlsym(dlopen(path, RTLD_LAZY), "TakeToolLog"));
  EXPECT_STREQ(take_log(),
               "init 2147483647\ndomain_create kymo\n"
               "string_handle_create range\ntask_begin kymo 0 0 range\n"
               "string_handle_create mark\nmarker kymo 0 mark 5\n"
               "task_end kymo\n");
}

}  // namespace
}  // namespace kymo::itt
