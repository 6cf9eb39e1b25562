#include "profiler/plugin/library/exporter_library.h"

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kymo {
namespace {

using testing::AllOf;
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
              HasSubstr("it lacks the function kymo_exporter_library"));
}

}  // namespace
}  // namespace kymo
