// Sorts words that it makes up, and profiles itself doing so.
//
//   bazel run //:sort_words -- /tmp/trace.json
//
// The table of where the time went goes to standard output, the trace to the
// file: open it in Perfetto.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "kymo/profile.h"
#include "kymo/record_function.h"

namespace {

constexpr int64_t kWords = 20000;
constexpr int kRounds = 5;

std::vector<std::string> MakeWords(std::mt19937& random) {
  KYMO_RECORD_FUNCTION("make_words");
  std::vector<std::string> words(kWords);
  for (std::string& word : words) {
    for (int i = 0; i < 8; ++i) {
      word += static_cast<char>('a' + random() % 26);
    }
  }
  return words;
}

void SortWords(std::vector<std::string>& words) {
  kymo::RecordFunction range("sort_words", {{"words", kWords}});
  std::sort(words.begin(), words.end());
}

int Fail(const absl::Status& status) {
  std::cerr << "sort_words: " << status << "\n";
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: sort_words TRACE_FILE\n";
    return 2;
  }

  kymo::Profile profile;
  if (absl::Status s = profile.Start(); !s.ok()) return Fail(s);
  std::mt19937 random(1);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::string> words = MakeWords(random);
    SortWords(words);
  }
  if (absl::Status s = profile.Stop(); !s.ok()) return Fail(s);

  std::cout << profile.key_averages().table();
  if (absl::Status s = profile.export_chrome_trace(argv[1]); !s.ok()) {
    return Fail(s);
  }
  return EXIT_SUCCESS;
}
