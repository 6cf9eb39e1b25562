#include "backends/sampling/python/python_program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace kymo::sampling {
namespace {

std::string Write(const std::string& name, const std::string& text) {
  std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(IsRunByPythonTest, PythonIs) {
  EXPECT_TRUE(IsRunByPython("/usr/bin/python3"));
  EXPECT_TRUE(IsRunByPython(Write("python3.14t",
                                  "\x7f"
                                  "ELF")));
  const std::string link = ::testing::TempDir() + "/py";
  ASSERT_EQ(symlink("python3.14t", link.c_str()), 0);
  EXPECT_TRUE(IsRunByPython(link));
}

TEST(IsRunByPythonTest, ScriptsOfPythonAre) {
  EXPECT_TRUE(IsRunByPython(Write("a", "#!/usr/bin/python3\nimport os\n")));
  EXPECT_TRUE(IsRunByPython(Write("b", "#! /opt/venv/bin/python -u\n")));
  EXPECT_TRUE(IsRunByPython(Write("c", "#!/usr/bin/env python3\n")));
  EXPECT_TRUE(IsRunByPython(Write("d", "#!/usr/bin/env -S A=1 python3 -u")));
}

TEST(IsRunByPythonTest, OthersAreNot) {
  EXPECT_FALSE(IsRunByPython(Write("e", "#!/bin/sh\nexec python3 \"$@\"\n")));
  EXPECT_FALSE(IsRunByPython(Write("f", "#!/usr/bin/env\npython3\n")));
  EXPECT_FALSE(IsRunByPython(Write("g", "#!")));
  EXPECT_FALSE(IsRunByPython(Write("h", "")));
  EXPECT_FALSE(IsRunByPython("/proc/self/exe"));
  EXPECT_FALSE(IsRunByPython(::testing::TempDir()));
  EXPECT_FALSE(IsRunByPython("/not/there"));
}

}  // namespace
}  // namespace kymo::sampling
