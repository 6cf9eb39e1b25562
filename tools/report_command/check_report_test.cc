#include "tools/report_command/check_report.h"

#include <memory>

#include <gtest/gtest.h>

#include "tests/support/test_importer.h"

namespace kymo::tools {
namespace {

class CheckReportTest : public ::testing::Test {
 protected:
  CheckReport Check(const std::string& lines) {
    ImporterRegistry importers;
    EXPECT_TRUE(importers.Register(std::make_unique<FakeImporter>()).ok());
    path_ = WriteFake("checked", lines);
    auto loaded = Load({path_}, {}, importers);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return CheckReport(*loaded);
  }
  std::string path_;
};

TEST_F(CheckReportTest, WorstFirstWithPlaces) {
  const CheckReport report = Check(
      "range a 7 1 100 200\n"
      "range b 7 1 100150 100150\n"
      "finding error truncated the file ends within an event\n");
  EXPECT_FALSE(report.is_clean());
  EXPECT_EQ(report.Text(TextFormat::kText),
            "error    truncated                      1  byte 17 of " + path_ +
                "\n         the file ends within an event\n"
                "note     duration_zero                  1  b at 100.050us on "
                "thread 1 of process 7\n"
                "         this range took no time\n"
                "2 findings in " +
                path_ + " (2 events): 1 error, 0 warnings, 1 note\n");
  EXPECT_EQ(report.Text(TextFormat::kCsv),
            "severity,rule,count,first,file,message\r\n"
            "error,truncated,1,byte 17," +
                path_ +
                ",the file ends within an event\r\n"
                "note,duration_zero,1,b at 100.050us on thread 1 of process "
                "7,,this range took no time\r\n");
  EXPECT_NE(report.Text(TextFormat::kJson).find("\"clean\": false"),
            std::string::npos);
}

TEST_F(CheckReportTest, NotesAreClean) {
  EXPECT_TRUE(Check("range b 7 1 150 150\n").is_clean());
  EXPECT_FALSE(Check("finding warning guessed a unit\n").is_clean());
  EXPECT_EQ(Check("range b 7 1 150 151\n").Text(TextFormat::kText),
            "nothing found in " + path_ + " (1 event)\n");
  EXPECT_EQ(Check("sample f 7 1 100 10\nsample f 7 1 110 10\n")
                .Text(TextFormat::kText),
            "nothing found in " + path_ + " (2 samples)\n");
}

}  // namespace
}  // namespace kymo::tools
