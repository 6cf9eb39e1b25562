#include "importers/chrome/chrome_importer.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/model/trace.h"
#include "profiler/normalize/normalize.h"

namespace kymo {
namespace {

std::string Write(std::string_view bytes) {
  const std::string path = ::testing::TempDir() + "/trace.json.gz";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(ChromeImporterTest, HeaderExampleMakesATrace) {
  const std::string path =
      Write(R"({"traceEvents": [{"ph":"X","name":"a","ts":1,"dur":1}]})");
  auto imported = NewChromeImporter()->Import(path, {});
  ASSERT_TRUE(imported.ok()) << imported.status();
  const auto trace =
      Normalize(std::move(imported->shards),
                {.start_ns = imported->start_ns, .end_ns = imported->end_ns});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->event_count(), 1u);
  EXPECT_EQ(trace->EventName(0), "a");
}

TEST(ChromeImporterTest, RecognizesObjectsAndListsOfObjects) {
  const auto importer = NewChromeImporter();
  for (const char* const head :
       {"{\"traceEvents\": [", " \n{ \"a\"", "[{\"ph\"", "[ \n {", "[]",
        "\xEF\xBB\xBF[{"}) {
    EXPECT_TRUE(importer->Recognizes(head)) << head;
  }
  for (const char* const head :
       {"", "{}", "[1", "SQLite format 3", "\x1f\x8b", "hello", "{1"}) {
    EXPECT_FALSE(importer->Recognizes(head)) << head;
  }
}

TEST(ChromeImporterTest, ErrorsNameTheFile) {
  const auto importer = NewChromeImporter();
  EXPECT_EQ(importer->Import("/nowhere/x.json", {}).status().code(),
            absl::StatusCode::kNotFound);
  const std::string path = Write("hello");
  const absl::Status status = importer->Import(path, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(status.message()).find(path), std::string::npos);
}

TEST(ChromeImporterTest, TellsProgress) {
  std::string text = "[";
  for (int i = 0; i < 300'000; ++i) {
    text += "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1},\n";
  }
  std::vector<double> told;
  ImportOptions options;
  options.progress = [&](double done) { told.push_back(done); };
  ASSERT_TRUE(NewChromeImporter()->Import(Write(text), options).ok());
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_LE(told.back(), 1.0);
}

TEST(ChromeImporterTest, NamesItself) {
  EXPECT_EQ(NewChromeImporter()->info().name, "chrome");
}

}  // namespace
}  // namespace kymo
