// test_golden.h - what exporter tests share: files in memory, golden files.
//
//   const Exported files = Export(*NewStacksExporter(), trace);
//   ExpectGolden(files.at("stacks.folded"),
//                "exporters/stacks/testdata/samples.golden.folded");
//
// Golden files are rewritten by tools/dev/update_goldens.sh: with the
// environment variable KYMO_UPDATE_GOLDENS=<folder of the workspace> a test
// writes what it got there instead of comparing.
#ifndef KYMO_TESTS_SUPPORT_TEST_GOLDEN_H_
#define KYMO_TESTS_SUPPORT_TEST_GOLDEN_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo {

// Committed files, by name.
using Exported = std::map<std::string, std::string>;

// Keeps what is committed in a map.
class MemoryDirectory : public OutputDirectory {
 public:
  MemoryDirectory() : OutputDirectory("memory") {}

  absl::StatusOr<std::unique_ptr<ByteSink>> Open(
      std::string_view name) override {
    return std::make_unique<Sink>(*this, std::string(name));
  }
  void Remove(std::string_view name) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    files_.erase(std::string(name));
  }
  Exported& files() { return files_; }

 private:
  class Sink : public ByteSink {
   public:
    Sink(MemoryDirectory& folder, std::string name)
        : folder_(folder), name_(std::move(name)) {}
    absl::Status Append(std::string_view bytes) override {
      text_.append(bytes);
      return absl::OkStatus();
    }
    absl::Status Commit() override {
      const std::lock_guard<std::mutex> lock(folder_.mutex_);
      folder_.files_[name_] = std::move(text_);
      return absl::OkStatus();
    }

   private:
    MemoryDirectory& folder_;
    const std::string name_;
    std::string text_;
  };

  std::mutex mutex_;
  Exported files_;
};

// The files of an export that must succeed and name exactly its files.
inline Exported Export(const TraceExporter& exporter, const model::Trace& trace,
                       const ExportOptions& options = {}) {
  EXPECT_TRUE(model::ValidateTrace(trace).ok()) << model::ValidateTrace(trace);
  MemoryDirectory out;
  const auto names = exporter.Export(trace, options, out);
  EXPECT_TRUE(names.ok()) << names.status();
  std::vector<std::string> files;
  for (const auto& [name, text] : out.files()) files.push_back(name);
  if (names.ok()) {
    EXPECT_THAT(*names, testing::UnorderedElementsAreArray(files));
  }
  return std::move(out.files());
}

// Bytes that do not compress.
inline std::string Noise(size_t bytes) {
  std::string text;
  uint32_t state = 1;
  for (size_t i = 0; i < bytes; ++i) {
    state = state * 1'664'525 + 1'013'904'223;
    text += static_cast<char>(state >> 24);
  }
  return text;
}

// `text` as protobuf's JSON reader understands it; a failure if it does not.
inline google::protobuf::Struct ParseJson(const std::string& text) {
  google::protobuf::Struct json;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &json);
  EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << text;
  return json;
}

// Compares with the file, whose path starts at the workspace.
inline void ExpectGolden(const std::string& text, const std::string& path) {
  if (const char* workspace = std::getenv("KYMO_UPDATE_GOLDENS")) {
    std::ofstream out(std::string(workspace) + "/" + path, std::ios::binary);
    out << text;
    EXPECT_TRUE(out.flush().good()) << path;
    return;
  }
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path << " is missing";
  const std::string expected(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(text, expected)
      << path << " differs; tools/dev/update_goldens.sh rewrites it";
}

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_GOLDEN_H_
