#include "importers/load/find_importer.h"

#include <fstream>
#include <memory>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/plugin/sink.h"

namespace kymo {
namespace {

// Recognizes files that begin with its name, or with `begin`.
class NamedImporter : public TraceImporter {
 public:
  explicit NamedImporter(std::string name, std::string begin = "")
      : begin_(begin.empty() ? name : std::move(begin)) {
    info_.name = std::move(name);
  }
  const PluginInfo& info() const noexcept override { return info_; }
  bool Recognizes(std::string_view head) const override {
    return head.starts_with(begin_);
  }
  absl::StatusOr<ImportedTrace> Import(const std::string&,
                                       const ImportOptions&) const override {
    return ImportedTrace();
  }

 private:
  const std::string begin_;
  PluginInfo info_;
};

class FindImporterTest : public ::testing::Test {
 protected:
  FindImporterTest() {
    EXPECT_TRUE(
        importers_.Register(std::make_unique<NamedImporter>("one")).ok());
    EXPECT_TRUE(
        importers_.Register(std::make_unique<NamedImporter>("two")).ok());
  }

  std::string File(const std::string& name) const {
    return ::testing::TempDir() + "/find_importer_" + name;
  }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(File(name), std::ios::binary) << bytes;
    return File(name);
  }

  ImporterRegistry importers_;
};

TEST_F(FindImporterTest, GoesByContent) {
  const auto found = FindImporter(Write("plain.gz", "two of them"), importers_);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ((*found)->info().name, "two");
}

TEST_F(FindImporterTest, UnpacksGzip) {
  const std::string packed = File("packed");
  auto file = NewFileSink(packed);
  ASSERT_TRUE(file.ok());
  auto gzip = NewGzipSink(*std::move(file));
  ASSERT_TRUE(gzip->Append("one").ok());
  ASSERT_TRUE(gzip->Commit().ok());
  const auto found = FindImporter(packed, importers_);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ((*found)->info().name, "one");
  EXPECT_EQ(*ReadFileHead(packed), "one");
}

TEST_F(FindImporterTest, ReadsOnlyTheBeginning) {
  const auto head = ReadFileHead(Write("long", std::string(1 << 20, 'x')));
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->size(), size_t{64} << 10);
}

TEST_F(FindImporterTest, SaysWhatItSaw) {
  const auto found = FindImporter(Write("odd", "\x01odd"), importers_);
  EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(found.status().ToString().find("begins with \"\\x01odd\""),
            std::string::npos)
      << found.status();
  EXPECT_NE(found.status().ToString().find("one, two"), std::string::npos);
  // Of a longer file, the first 24 bytes.
  const std::string path = Write("long", "abcdefghijklmnopqrstuvwxyz");
  EXPECT_EQ(FindImporter(path, importers_).status().message(),
            path +
                ": no importer knows this file, which begins with "
                "\"abcdefghijklmnopqrstuvwx\"; --importer=NAME "
                "(LoadOptions::importer) reads it as one of: one, two");
}

TEST_F(FindImporterTest, SaysWhichFileToReadInsteadOfPerfettos) {
  const auto found = FindImporter(Write("trace.pftrace", "\n\x01"), importers_);
  EXPECT_NE(found.status().message().find("take the trace.json"),
            absl::string_view::npos)
      << found.status();
}

TEST_F(FindImporterTest, SaysWhatToDoWithFilesThatNobodyReads) {
  ASSERT_TRUE(
      importers_.Register(std::make_unique<NamedImporter>("json", "{")).ok());
  const auto error_of = [&](const std::string& bytes) {
    return FindImporter(Write("file", bytes), importers_).status().ToString();
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(error_of("{\n  \"schema_version\": 1,\n"),
              HasSubstr("a summary (--export=summary): it has the sums of a "
                        "recording, but not its events; give the trace.json"));
  EXPECT_EQ(error_of("{\"schemaVersion\": 1}"), "OK");
  EXPECT_THAT(error_of("\x28\xB5\x2F\xFD\x04"), HasSubstr("(zstd -d)"));
  EXPECT_THAT(error_of(std::string("\xFD\x37zXZ\0\0", 7)),
              HasSubstr("(xz -d)"));
  EXPECT_THAT(error_of("BZh91AY"), HasSubstr("(bzip2 -d)"));
  for (const char* const text : {"\xFF\xFE{", "\xFE\xFF"}) {
    EXPECT_THAT(error_of(text), HasSubstr("(iconv -f UTF-16 -t UTF-8)"));
  }
}

TEST_F(FindImporterTest, WhatCannotBeReadIsAnError) {
  EXPECT_EQ(FindImporter(File("none"), importers_).status().code(),
            absl::StatusCode::kNotFound);
  const absl::Status folder =
      FindImporter(::testing::TempDir(), importers_).status();
  EXPECT_NE(folder.message().find("directory"), absl::string_view::npos)
      << folder;
  for (const char* const nothing : {"", "\x1f\x8b\x08"}) {  // cut gzip
    const std::string path = Write("empty", nothing);
    EXPECT_EQ(FindImporter(path, importers_).status().message(),
              path + ": the file is empty, or gzip that unpacks to nothing");
  }
}

}  // namespace
}  // namespace kymo
