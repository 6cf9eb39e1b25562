#include "tools/deliver/view_page.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace kymo::tools {
namespace {

// Sets a variable of the environment while it lives.
class Variable {
 public:
  Variable(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* const before = std::getenv(name_.c_str())) before_ = before;
    Set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { Set(before_ ? before_->c_str() : nullptr); }

 private:
  void Set(const char* value) {
    if (value == nullptr) {
      unsetenv(name_.c_str());
    } else {
      setenv(name_.c_str(), value, 1);
    }
  }

  const std::string name_;
  std::optional<std::string> before_;
};

TEST(ViewPageTest, AddressesAreAbsoluteAndEscaped) {
  EXPECT_EQ(FileAddress("/a b/c%\xC3\xA9#?.html"),
            "file:///a%20b/c%25%C3%A9%23%3F.html");
  EXPECT_EQ(FileAddress("/a/./b/../x_y-z~1.html"), "file:///a/x_y-z~1.html");
  const std::string here = FileAddress("report.html");
  EXPECT_TRUE(here.starts_with("file:///") && here.ends_with("/report.html"))
      << here;
}

TEST(ViewPageTest, WithoutAScreenSaysTheAddress) {
  const Variable x("DISPLAY", nullptr);
  const Variable wayland("WAYLAND_DISPLAY", "");
  EXPECT_EQ(ViewPage("/o/report.html"),
            "no screen here; open file:///o/report.html in a browser");
}

TEST(ViewPageTest, SaysTheAddressIfNothingOpensIt) {
  const Variable x("DISPLAY", ":0");
  const Variable path("PATH", "/nowhere");
  EXPECT_EQ(ViewPage("/o/report.html"),
            "could not start xdg-open; open file:///o/report.html in a "
            "browser");
}

TEST(ViewPageTest, OpensThePage) {
  const std::string folder = testing::TempDir();
  const std::string program = folder + "/xdg-open";
  std::ofstream(program) << "#!/bin/sh\necho \"$1\" > '" << folder
                         << "/opened'\n";
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  const Variable x("DISPLAY", ":0");
  const Variable path("PATH", (folder + ":/usr/bin:/bin").c_str());
  EXPECT_EQ(ViewPage("/o/report.html"), "the page is file:///o/report.html");
  ASSERT_GT(wait(nullptr), 0);
  std::string opened;
  std::getline(std::ifstream(folder + "/opened") >> std::ws, opened);
  EXPECT_EQ(opened, "file:///o/report.html");
}

}  // namespace
}  // namespace kymo::tools
