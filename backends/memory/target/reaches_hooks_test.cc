// What calls reach if the program takes the address of a library's function.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/memory/target/fixed_program.h"
#include "backends/memory/target/real_allocator.h"

namespace kymo::memory {
namespace {

std::string FileOf(const void* function) {
  Dl_info info = {};
  return dladdr(function, &info) == 0 ? "" : info.dli_fname;
}

TEST(ReachesHooksTest, AJumpOfTheProgramIsNoFunction) {
  void* const jump = dlsym(RTLD_DEFAULT, "labs");
  ASSERT_EQ(jump, reinterpret_cast<void*>(AddressOfLabs()));
  ASSERT_EQ(FileOf(jump).find("libc.so"), std::string::npos)
      << "the linker made no entry";
  EXPECT_TRUE(ReachesHooks("labs"));
}

TEST(ReachesHooksTest, OthersFunctionsAreNotTheHooks) {
  EXPECT_FALSE(ReachesHooks("strtoul"));
}

}  // namespace
}  // namespace kymo::memory
