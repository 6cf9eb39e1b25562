#include "tools/profile_command/own_allocator.h"

#include <stdlib.h>

#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace kymo::tools {
namespace {

std::string Path(const char* variable) {
  const char* const path = getenv(variable);
  return path == nullptr ? "" : path;
}

TEST(OwnAllocatorTest, AProgramThatDefinesMallocBringsIt) {
  EXPECT_TRUE(BringsMalloc(Path("KYMO_OWN_MALLOC")));
}

TEST(OwnAllocatorTest, OthersDoNot) {
  EXPECT_FALSE(BringsMalloc("/proc/self/exe"));
  EXPECT_FALSE(BringsMalloc(Path("KYMO_HOOKED")));
}

TEST(OwnAllocatorTest, WhatIsNoProgramBringsNothing) {
  EXPECT_FALSE(BringsMalloc("/nowhere"));
  EXPECT_FALSE(BringsMalloc("/"));
  const std::string path = testing::TempDir() + "/broken";
  for (const std::string& text : {std::string(), std::string("#!/bin/sh\n"),
                                  std::string("\x7f"
                                              "ELF\x02") +
                                      std::string(200, '\xff')}) {
    std::ofstream(path) << text;
    EXPECT_FALSE(BringsMalloc(path));
  }
}

}  // namespace
}  // namespace kymo::tools
