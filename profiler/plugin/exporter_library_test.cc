#include "profiler/plugin/exporter_library.h"

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kymo {
namespace {

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

TEST(ExporterLibraryTest, LibraryOfAnotherKymoIsNotEntered) {
  ExporterRegistry registry;
  const absl::Status status =
      FindExporters(std::string("./") + getenv("KYMO_WRONG_ABI"), registry)
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("build it again"));
}

}  // namespace
}  // namespace kymo
