#include "profiler/symbolize/stripped/debuginfod.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "profiler/symbolize/test_elf.h"

namespace kymo::symbolize {
namespace {

// The library reads files, too, if a server's address says so.
TEST(DebuginfodTest, NobodyIsAskedUnlessTheUserSaysWhom) {
  const std::string folder = testing::TempDir() + "debuginfod_test";
  const std::string build_id("\x12\x34\x56\x78\x9a\xbc\xde\xf0", 8);
  const std::string place = folder + "/buildid/123456789abcdef0";
  std::filesystem::create_directories(place);
  TestElf elf;
  elf.build_id = build_id;
  elf.WriteTo(place + "/debuginfo");
  setenv("DEBUGINFOD_CACHE_PATH", (folder + "/cache").c_str(), 1);
  unsetenv("DEBUGINFOD_URLS");
  EXPECT_FALSE(FindByDebuginfod(build_id).is_open());
  setenv("DEBUGINFOD_URLS", "", 1);
  EXPECT_FALSE(FindByDebuginfod(build_id).is_open());
  EXPECT_FALSE(std::filesystem::exists(folder + "/cache"));
  setenv("DEBUGINFOD_URLS", ("file://" + folder).c_str(), 1);
  const bool is_installed =
      dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr;
  EXPECT_EQ(FindByDebuginfod(build_id).is_open(), is_installed);
  EXPECT_FALSE(FindByDebuginfod("other id").is_open());
  EXPECT_FALSE(FindByDebuginfod("").is_open());
  unsetenv("DEBUGINFOD_URLS");
  unsetenv("DEBUGINFOD_CACHE_PATH");
}

}  // namespace
}  // namespace kymo::symbolize
