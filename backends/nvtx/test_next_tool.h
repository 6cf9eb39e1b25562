// test_next_tool.h - the tool behind Kymo, if the test runs with one.
//
//   class MyTest : public NextToolTest {};
//   TEST_F(MyTest, Marks) { EXPECT_EQ(Told("mark\n"), "mark\n"); }
//
// A target sets KYMO_TEST_TOOL to the path of test_tool.so.
#ifndef KYMO_BACKENDS_NVTX_TEST_NEXT_TOOL_H_
#define KYMO_BACKENDS_NVTX_TEST_NEXT_TOOL_H_

#include <dlfcn.h>
#include <stdlib.h>

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "profiler/record/tool_variables.h"

namespace kymo::nvtx {

class NextToolTest : public testing::Test {
 protected:
  static bool HasTool() { return Path() != nullptr; }
  static void SetUpTestSuite() {
    if (HasTool()) setenv(record::kNextNvtxToolVariable, Path(), 1);
  }
  NextToolTest() {
    if (!HasTool()) return;
    void* const tool = dlopen(Path(), RTLD_LAZY);
    take_log_ = reinterpret_cast<const char* (*)()>(dlsym(tool, "TakeToolLog"));
    Told();
  }

  // What the tool was told since the last call; without a tool, `expected`.
  std::string Told(const std::string& expected = "") const {
    return take_log_ == nullptr ? expected : take_log_();
  }
  // As the tool's log has an address.
  static std::string TextOf(const void* pointer) {
    return std::to_string(reinterpret_cast<uintptr_t>(pointer));
  }

 private:
  static const char* Path() { return getenv("KYMO_TEST_TOOL"); }

  const char* (*take_log_)() = nullptr;
};

}  // namespace kymo::nvtx

#endif  // KYMO_BACKENDS_NVTX_TEST_NEXT_TOOL_H_
