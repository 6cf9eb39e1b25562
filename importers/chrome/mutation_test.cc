// Broken traces: mutations of a seed corpus, from fixed seeds.
//
// KYMO_FUZZ_SECONDS says for how long (.bazelrc sets it for AddressSanitizer).
// The test looks for a crash, a hang, a trace that breaks its own rules, or a
// sanitizer's report.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "importers/chrome/import_document.h"
#include "importers/chrome/test_import.h"

namespace kymo::chrome_import {
namespace {

constexpr int kDefaultSeconds = 1;

std::vector<std::string> Corpus() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator("importers/chrome/testdata")) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in),
                        std::istreambuf_iterator<char>());
  }
  return corpus;
}

class Mutator {
 public:
  explicit Mutator(std::vector<std::string> corpus, uint64_t seed)
      : corpus_(std::move(corpus)), random_(seed) {}

  std::string Next() {
    std::string text = corpus_[Below(corpus_.size())];
    for (size_t n = 1 + Below(6); n > 0; --n) Mutate(text);
    return text;
  }
  size_t Below(size_t limit) { return random_() % limit; }

 private:
  void Mutate(std::string& text) {
    const size_t at = Below(text.size() + 1);
    const size_t length = std::min(Below(40), text.size() - at);
    switch (Below(8)) {
      case 0:  // another byte
        if (at < text.size()) text[at] = static_cast<char>(Below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:  // a second time
        text.insert(at, text.substr(at, length));
        break;
      case 3:  // characters of JSON's grammar
        text.insert(at, Token());
        break;
      case 4:
        text.replace(at, length, Token());
        break;
      case 5:  // from another file
        text.insert(at, Part(corpus_[Below(corpus_.size())]));
        break;
      case 6:
        if (Below(4) == 0) text.resize(at);
        break;
      case 7:  // moves an element
        MoveLine(text, at);
        break;
    }
  }

  std::string Token() {
    static const char* const kTokens[] = {
        "{",
        "}",
        "[",
        "]",
        "\"",
        ",",
        ":",
        "\\",
        "\\u",
        "\\ud800",
        "\n",
        "\xFF",
        "},{\"",
        "},\n{\"ph\":\"",
        "-",
        "0",
        "1e999",
        "-0.0000001",
        "NaN",
        "null",
        "true",
        "\"ts\":",
        "\"dur\":-1,",
        "\"ph\":\"B\",",
        "\"ph\":\"E\",",
        "\"ph\":\"b\",",
        "\"ph\":\"e\",",
        "\"ph\":\"C\",",
        "\"tid\":7,",
        "\"pid\":\"x\",",
        "9223372036854775807",
        "18446744073709551616",
        "\"args\":{",
        "\"stream\":-1,\"device\":99999,",
        "\"cat\":\"kernel\",",
        "\"traceEvents\":[",
        "\"id\":{},",
        "\"Input Dims\":[[[[]]]],",
        "\"Call stack\":\";;a(1): b;\",",
        "\"baseTimeNanoseconds\":-9223372036854775808,",
        "\xEF\xBB\xBF",
        "[[[["};
    return kTokens[Below(std::size(kTokens))];
  }

  std::string Part(const std::string& text) {
    const size_t at = Below(text.size() + 1);
    return text.substr(at, Below(300));
  }

  void MoveLine(std::string& text, size_t at) {
    const size_t end = text.find('\n', at);
    if (end == std::string::npos) return;
    const std::string line = text.substr(at, end - at);
    text.erase(at, end - at);
    text.insert(Below(text.size() + 1), line);
  }

  const std::vector<std::string> corpus_;
  std::mt19937_64 random_;
};

TEST(MutationTest, NothingBreaksTheImporter) {
  const char* const wanted = std::getenv("KYMO_FUZZ_SECONDS");
  const int seconds = wanted == nullptr ? kDefaultSeconds : std::atoi(wanted);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  const std::vector<std::string> corpus = Corpus();
  ASSERT_FALSE(corpus.empty());
  size_t read = 0;
  size_t total = 0;
  for (uint64_t seed = 1; std::chrono::steady_clock::now() < end; ++seed) {
    Mutator mutator(corpus, seed);
    for (int i = 0; i < 50; ++i) {
      const std::string text = mutator.Next();
      const size_t window = 16 + mutator.Below(8'000);
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(i));
      const Imported got =
          ImportText(text, {.window_bytes = window,
                            .stretch_bytes = 1 + mutator.Below(window),
                            .max_element_bytes = 64 + mutator.Below(20'000)});
      ++total;
      read += got.trace.has_value();
      ASSERT_FALSE(::testing::Test::HasFailure()) << text;
    }
  }
  RecordProperty("texts", static_cast<int>(total));
  // Most mutations touch one event of many.
  EXPECT_GT(read, total / 3);
}

}  // namespace
}  // namespace kymo::chrome_import
