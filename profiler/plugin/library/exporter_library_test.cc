#include "profiler/plugin/library/exporter_library.h"

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kymo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ExporterLibraryTest, PathsHaveASlash) {
  EXPECT_TRUE(IsExporterPath("./lib.so"));
  EXPECT_TRUE(IsExporterPath("/usr/lib/lib.so"));
  EXPECT_FALSE(IsExporterPath("chrome"));
}

TEST(ExporterLibraryTest, UnknownNameListsTheKnownOnes) {
  ExporterRegistry registry;
  const absl::Status status = FindExporters("vtk", registry).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("'vtk'"));
}

TEST(ExporterLibraryTest, MissingFileIsSaid) {
  ExporterRegistry registry;
  const absl::Status status = FindExporters("./none.so", registry).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("none.so"));
}

absl::Status ErrorOf(const char* variable) {
  ExporterRegistry registry;
  return FindExporters(std::string("./") + getenv(variable), registry).status();
}

TEST(ExporterLibraryTest, LibraryOfAnotherVersionIsNotEntered) {
  const absl::Status status = ErrorOf("KYMO_WRONG_VERSION");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("was built for version 3.1 of the exporter "
                              "interface, and this Kymo has version 5.0"),
                    HasSubstr("build it again with the kymo/exporter.h")));
}

TEST(ExporterLibraryTest, LibraryOfAnotherCompilerIsNotEntered) {
  const absl::Status status = ErrorOf("KYMO_WRONG_ABI");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("was built with another compiler, and this Kymo "
                              "with C++ ABI"),
                    HasSubstr("build it again")));
}

TEST(ExporterLibraryTest, LibraryInCBringsItsExporter) {
  ExporterRegistry registry;
  const std::string path = std::string("./") + getenv("KYMO_TICKS");
  const auto names = FindExporters(path, registry);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_THAT(*names, ElementsAre("tick_names"));
  const PluginInfo& info = registry.Find("tick_names")->info();
  EXPECT_EQ(info.purpose, "the names of all events, for tests");
  ASSERT_EQ(info.settings.size(), 1u);
  EXPECT_EQ(info.settings[0].name, "tick_names_end");
  EXPECT_EQ(FindExporters(path, registry).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST(ExporterLibraryTest, LibraryThatThrowsIsAnError) {
  const std::string path = std::string("./") + getenv("KYMO_THROWS");
  ExporterRegistry registry;
  EXPECT_EQ(FindExporters(path, registry).status().message(),
            "'" + path +
                "' cannot be used: registering its exporters threw an "
                "exception: no luck");
}

TEST(ExporterLibraryTest, LibraryWithoutTheFunctionIsNone) {
  const absl::Status status = ErrorOf("KYMO_NO_EXPORTERS");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("it lacks the function kymo_exporter_plugin of "
                              "kymo/exporter_plugin.h"),
                    HasSubstr("the function kymo_exporter_library of "
                              "kymo/exporter.h")));
}

}  // namespace
}  // namespace kymo
