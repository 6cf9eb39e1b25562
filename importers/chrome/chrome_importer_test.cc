#include "importers/chrome/chrome_importer.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "importers/chrome/import_document.h"
#include "importers/chrome/test_import.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace.h"
#include "profiler/normalize/normalize.h"

namespace kymo {
namespace {

using chrome_import::ImportText;
using chrome_import::ReaderOptions;
using chrome_import::TextInMemory;
using chrome_import::TextSource;

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

// A gzip stream that ends too early.
class DamagedText final : public TextSource {
 public:
  explicit DamagedText(std::string_view text) : text_(text) {}
  absl::StatusOr<size_t> Read(char* to, size_t size) override {
    return text_.Read(to, size);
  }
  double progress() const override { return 0.25; }
  uint64_t expected_bytes() const override { return 0; }
  std::string damage() const override { return "it is torn"; }

 private:
  TextInMemory text_;
};

TEST(ImportDocumentTest, DamageIsSaidOnce) {
  const auto import = [](std::string_view text) {
    DamagedText source(text);
    std::vector<double> told;
    auto imported = ImportDocument(
        source, {.progress = [&](double done) { told.push_back(done); }});
    for (const double done : told) EXPECT_EQ(done, 0.25);
    return imported;
  };
  EXPECT_EQ(import(" ").status().message(), "nothing can be read: it is torn");
  const std::string event = R"({"ph":"X","name":"a","ts":1,"dur":1})";
  for (const std::string& text : {"[" + event + "]", "[" + event + ", {\"p",
                                  "{\"traceEvents\":[" + event + "]"}) {
    const auto imported = import(text);
    ASSERT_TRUE(imported.ok()) << imported.status();
    const model::TraceShard& shard = imported->shards[0];
    EXPECT_EQ(shard.events.size(), 1u);
    EXPECT_EQ(shard.ledger.Get(model::Loss::kFilesCutOff), 1u);
    ASSERT_EQ(imported->findings.size(), 2u) << text;
    EXPECT_EQ(imported->findings[0].rule, "truncated");
    EXPECT_EQ(imported->findings[0].count, 1u) << text;
    EXPECT_EQ(imported->findings[1].rule, "gzip_damaged");
    EXPECT_EQ(imported->findings[1].count, 1u);
    // Behind the last whole event.
    EXPECT_EQ(imported->findings[1].first_offset,
              text.size() - (text.ends_with("{\"p") ? 3 : 0));
  }
}

TEST(ImportDocumentTest, TextBehindTheEndIsSaid) {
  const auto offset_of = [](std::string_view text) {
    return ImportText(text).Offset("text_after_end");
  };
  EXPECT_EQ(offset_of(R"({"traceEvents":[]} x)"), 19u);
  EXPECT_EQ(offset_of("[] ["), 3u);
  for (const std::string_view text :
       {std::string_view("[] \n"), std::string_view("[]\0\0", 4)}) {
    EXPECT_TRUE(ImportText(text).findings.empty());
  }
}

TEST(ImportDocumentTest, LongNamesOfMembersAreNotRead) {
  const ReaderOptions small = {.window_bytes = 8, .max_element_bytes = 20};
  const std::string rest = R"(": 1, "traceEvents": []})";
  EXPECT_TRUE(
      ImportText("{\"" + std::string(18, 'x') + rest, small).status.ok());
  EXPECT_EQ(
      ImportText("{\"" + std::string(99, 'x') + rest, small).status.message(),
      "not a Chrome trace: byte 1 is '\"' where a member's name of usual "
      "length should be");
}

TEST(ChromeImporterTest, NamesItself) {
  EXPECT_EQ(NewChromeImporter()->info().name, "chrome");
}

}  // namespace
}  // namespace kymo
