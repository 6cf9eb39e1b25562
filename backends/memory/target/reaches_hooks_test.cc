// What calls reach if the program takes the address of a library's function.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <string>

#include "backends/memory/target/fixed_program.h"
#include "backends/memory/target/real_allocator.h"

namespace kymo::memory {
namespace {

std::string FileOf(const void* function) {
  Dl_info info = {};
  return dladdr(function, &info) == 0 ? "" : info.dli_fname;
}

std::string Hooks() {
  return std::filesystem::absolute(getenv("KYMO_TEST_HOOKS"));
}

bool IsPreloaded() { return getenv("LD_PRELOAD") != nullptr; }

TEST(ReachesHooksTest, AJumpOfTheProgramIsFound) {
  void* const jump = dlsym(RTLD_DEFAULT, "labs");
  ASSERT_EQ(jump, reinterpret_cast<void*>(AddressOfLabs()));
  EXPECT_EQ(FileOf(jump).find(".so"), std::string::npos)
      << "the linker made no entry";
}

TEST(ReachesHooksTest, AJumpLeadsToHooksThatArePreloaded) {
  if (IsPreloaded()) {
    EXPECT_TRUE(ReachesHooks("labs"));
    EXPECT_TRUE(ReachesHooks("pvalloc"));
    EXPECT_FALSE(ReachesHooks("strtoul"));
    return;
  }
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  char filter[] = "--gtest_filter=*ThatArePreloaded";
  char* const words[] = {const_cast<char*>(program.c_str()), filter, nullptr};
  std::string preload = "LD_PRELOAD=" + Hooks();
  char* const variables[] = {preload.data(), nullptr};
  pid_t pid = 0;
  ASSERT_EQ(posix_spawn(&pid, words[0], nullptr, nullptr, words, variables), 0);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

// As of a module of Python that links Kymo.
TEST(ReachesHooksTest, AJumpDoesNotLeadToHooksThatAreLoadedLater) {
  ASSERT_NE(dlopen(Hooks().c_str(), RTLD_NOW | RTLD_GLOBAL), nullptr);
  ASSERT_NE(dlsym(RTLD_DEFAULT, "kymo_heap_hooks_v1"), nullptr);
  EXPECT_FALSE(ReachesHooks("labs"));
  EXPECT_FALSE(ReachesHooks("pvalloc"));
}

}  // namespace
}  // namespace kymo::memory
