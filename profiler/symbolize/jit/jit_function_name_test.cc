#include "profiler/symbolize/jit/jit_function_name.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kymo::symbolize {
namespace {

std::string Text(std::string_view name) {
  const NamedFrame frame = NameOfJitFunction(name);
  return frame.function + "|" + frame.file + "|" + std::to_string(frame.line);
}

TEST(JitFunctionNameTest, JavaScriptHasOneNameForAllItsCompilers) {
  EXPECT_EQ(Text("JS:*fib /srv/app.js:3:14"), "fib|/srv/app.js|3");
  EXPECT_EQ(Text("JS:~fib /srv/app.js:3:14"), "fib|/srv/app.js|3");
  EXPECT_EQ(Text("JS:*'fib /srv/app.js:3:14"), "fib|/srv/app.js|3");
  EXPECT_EQ(Text("JS:o*fib /srv/app.js:3:14"), "fib|/srv/app.js|3");
  EXPECT_EQ(Text("JS:o+fib /srv/app.js:3:14"), "fib|/srv/app.js|3");
  EXPECT_EQ(Text("JS:^open /srv/app.js:3:14"), "open|/srv/app.js|3");
  EXPECT_EQ(Text("JS:^get size file:///a b/c.mjs:7:1"),
            "get size|file:///a b/c.mjs|7");
  EXPECT_EQ(Text("JS:*processTicksAndRejections node:internal/process:67:35"),
            "processTicksAndRejections|node:internal/process|67");
  EXPECT_EQ(Text("JS:+ /srv/app.js:3:14"),
            "(anonymous) app.js:3|/srv/app.js|3");
  EXPECT_EQ(Text("JS:~"), "||0");
  EXPECT_EQ(Text("JS:fib"), "fib||0");
  EXPECT_EQ(Text("JS:fib:3:4"), "fib:3:4||0");
}

TEST(JitFunctionNameTest, BytesThatAreNoNameOfAScriptAreTold) {
  constexpr std::string_view kName = "JS:*fib app.js:3:14";
  for (const std::string_view file :
       {"app.js", "/srv/b.js", "node:path", "file:///a", "https://x/a.js"}) {
    EXPECT_TRUE(IsScriptOf(kName, file)) << file;
  }
  for (const std::string_view file :
       {"", "\t\xe3\x02", "/a\x03", "t\xef\xbf\xbd", "b.js"}) {
    EXPECT_FALSE(IsScriptOf(kName, file)) << file;
  }
}

TEST(JitFunctionNameTest, OtherNamesStayAsTheyAre) {
  EXPECT_EQ(Text("py::fib:/srv/app.py"), "fib|/srv/app.py|0");
  EXPECT_EQ(Text("py::fib"), "fib||0");
  EXPECT_EQ(Text("int Main.fib(int)"), "int Main.fib(int)||0");
  EXPECT_EQ(Text("_Z3fibi"), "fib(int)||0");
  EXPECT_EQ(Text("a\x1b[2Jb\n"), "a?[2Jb?||0");
}

}  // namespace
}  // namespace kymo::symbolize
