#include "tools/command_line/exporter_words.h"

#include "exporters/builtin/builtin_exporters.h"
#include "gtest/gtest.h"

namespace kymo::tools {
namespace {

using Words = std::vector<std::string>;

class ExporterWordsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(RegisterBuiltinExporters(exporters_).ok());
  }

  ExporterRegistry exporters_;
};

TEST_F(ExporterWordsTest, NamesStandForThemselvesOnceInTheirOrder) {
  const auto names =
      FindAllExporters({"perfetto", "", "chrome", "perfetto"}, exporters_);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_EQ(*names, (Words{"perfetto", "chrome"}));
}

TEST_F(ExporterWordsTest, OneUnknownWordIsAnError) {
  EXPECT_FALSE(FindAllExporters({"chrome", "chrom"}, exporters_).ok());
  EXPECT_FALSE(FindAllExporters({"./no_library.so"}, exporters_).ok());
}

}  // namespace
}  // namespace kymo::tools
