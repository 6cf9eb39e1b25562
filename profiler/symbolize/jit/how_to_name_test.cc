#include "profiler/symbolize/jit/how_to_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo::symbolize {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(HowToNameTest, AJavaThatGoesOnIsAskedForItsNames) {
  EXPECT_THAT(HowToNameCode("java", 4711),
              AllOf(HasSubstr("-XX:+DumpPerfMapAtExit; if it still runs, "),
                    EndsWith("`jcmd 4711 Compiler.perfmap` names it for the "
                             "next recording")));
}

TEST(HowToNameTest, OthersHaveFlagsOrFiles) {
  EXPECT_THAT(HowToNameCode("node", 1), EndsWith("--perf-basic-prof"));
  EXPECT_THAT(HowToNameCode("mono-sgen", 1), EndsWith("--jitmap"));
  EXPECT_THAT(HowToNameCode("dotnet", 1), HasSubstr("PerfMapEnabled"));
  EXPECT_THAT(HowToNameCode("pypy3", 1), HasSubstr("python3 runs"));
  EXPECT_THAT(HowToNameCode("beam.smp", 1), HasSubstr("+JPperf true"));
  for (const char* name : {"chromium", "chrome"}) {
    EXPECT_THAT(HowToNameCode(name, 1),
                HasSubstr("--js-flags=--perf-basic-prof --no-sandbox"));
  }
  // 3.11 and 3.12 have no compiler of their own, but code of others.
  EXPECT_THAT(HowToNameCode("python3", 1),
              AllOf(StartsWith("let its compiler write /tmp/perf-PID.map"),
                    HasSubstr("(3.13 or later)"), HasSubstr("PYTHON_JIT=0")));
  EXPECT_THAT(HowToNameCode("luajit", 1), HasSubstr("/tmp/perf-PID.map"));
}

}  // namespace
}  // namespace kymo::symbolize
