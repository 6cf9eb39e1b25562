#include "importers/chrome/chrome_importer.h"

#include <algorithm>
#include <fstream>
#include <random>
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
class DamagedText final : public TextInMemory {
 public:
  using TextInMemory::TextInMemory;
  double progress() const override { return 0.25; }
  std::string damage() const override { return "it is torn"; }
};

model::TraceShard ImportShard(std::string_view text) {
  TextInMemory source(text);
  auto imported = ImportDocument(source, {});
  EXPECT_TRUE(imported.ok()) << imported.status();
  return std::move(imported->shards[0]);
}

TEST(ImportDocumentTest, ColumnsHaveTheOrderOfATrace) {
  const model::TraceShard shard = ImportShard(R"([
    {"ph":"X","name":"other","pid":1,"tid":9,"ts":5,"dur":1},
    {"ph":"X","name":"inner","pid":1,"tid":2,"ts":4,"dur":2},
    {"ph":"X","name":"outer","pid":1,"tid":2,"ts":3,"dur":7},
    {"ph":"i","name":"mark","pid":1,"tid":2,"ts":5},
    {"ph":"X","name":"next","pid":1,"tid":2,"ts":6,"dur":4}])");
  const model::EventBlock& block = shard.block;
  std::vector<std::string> events;
  for (size_t i = 0; i < block.size(); ++i) {
    events.push_back(std::string(shard.strings.Get(block.name[i])) + "@" +
                     std::to_string(block.start_ns[i]) + " depth " +
                     std::to_string(block.depth[i]));
  }
  EXPECT_EQ(events,
            (std::vector<std::string>{
                "outer@3000 depth 0", "inner@4000 depth 1", "mark@5000 depth 2",
                "next@6000 depth 1", "other@5000 depth 0"}));
  ASSERT_EQ(block.parts.size(), 2u);
  EXPECT_EQ(shard.tracks[block.parts[0].track].id, 2);
  EXPECT_EQ(block.parts[0].end, 4u);
  EXPECT_EQ(shard.tracks[block.parts[1].track].id, 9);
  EXPECT_TRUE(shard.events.empty());
}

// Ranges inside of each other, many with common ends, and instants.
void AddRanges(int64_t begin, int64_t end, std::minstd_rand& random,
               std::string& text) {
  while (begin <= end && random() % 8 != 0) {
    const int64_t first =
        begin + static_cast<int64_t>(random() % 3) * (end - begin) / 8;
    const int64_t last =
        first + static_cast<int64_t>(random() % 5) * (end - first) / 4;
    const bool is_instant = random() % 8 == 0;
    text +=
        R"(,{"pid":1,"tid":1,"ph":")" + std::string(is_instant ? "i" : "X") +
        R"(","name":"n)" + std::to_string(random() % 5) + R"(","ts":)" +
        std::to_string(first) +
        (is_instant ? "" : ",\"dur\":" + std::to_string(last - first)) + "}";
    if (is_instant) continue;
    if (last > first) AddRanges(first, last, random, text);
    begin = last;
    if (last == first) break;
  }
}

// Ranges that overlap, on any thread, make the nester of lanes do the work.
TEST(ImportDocumentTest, BothWaysOfNestingAgree) {
  for (unsigned seed = 1; seed < 200; ++seed) {
    std::minstd_rand random(seed);
    std::string text = R"([{"ph":"M","name":"thread_name","pid":1,"tid":1})";
    AddRanges(0, 10'000, random, text);
    const auto other = [](int tid, int start) {
      return R"(,{"ph":"X","name":"o","pid":1,"tid":)" + std::to_string(tid) +
             R"(,"ts":)" + std::to_string(start) + R"(,"dur":8000})";
    };
    const std::string alone = text + other(2, 0) + other(3, 2000) + "]";
    const std::string beside = text + other(2, 0) + other(2, 2000) + "]";
    ASSERT_FALSE(ImportShard(alone).block.depth.empty()) << alone;
    ASSERT_TRUE(ImportShard(beside).block.depth.empty());
    const auto a = ImportText(alone);
    const auto b = ImportText(beside);
    ASSERT_EQ(a.Ranges(), b.Ranges()) << alone;
    const auto parents = [](const chrome_import::Imported& got) {
      return std::vector(got.trace->parent().begin(),
                         got.trace->parent().end());
    };
    ASSERT_EQ(parents(a), parents(b)) << alone;
  }
}

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
    EXPECT_EQ(shard.block.size(), 1u);
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

// Something follows its gzip stream.
class TextWithRest final : public TextInMemory {
 public:
  using TextInMemory::TextInMemory;
  bool has_rest() const override { return true; }
};

TEST(ImportDocumentTest, WhatFollowsGzipIsSaid) {
  TextWithRest source("[]\n");
  const auto imported = ImportDocument(source, {});
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_EQ(imported->findings.size(), 1u);
  EXPECT_EQ(imported->findings[0].rule, "text_after_end");
  EXPECT_EQ(imported->findings[0].first_offset, 3u);
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
