// Counts the words of a text that it makes up. It is only annotated: when
// nothing records, the ranges cost next to nothing.
//
//   bazel run --run_under=@kymo//tools:profile //:count_words
//
// prints the table of where the time went, and names the files with the rest.

#include <cstdint>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include "kymo/record_function.h"

namespace {

constexpr int64_t kWords = 20000;
constexpr int kRounds = 5;

std::string MakeText(std::mt19937& random) {
  KYMO_RECORD_FUNCTION("make_text");
  std::string text;
  for (int64_t word = 0; word < kWords; ++word) {
    text += static_cast<char>('a' + random() % 26);
    text += static_cast<char>('a' + random() % 26);
    text += ' ';
  }
  return text;
}

std::map<std::string, int64_t> CountWords(const std::string& text) {
  kymo::RecordFunction range("count_words", {{"words", kWords}});
  std::map<std::string, int64_t> counts;
  std::istringstream words(text);
  std::string word;
  while (words >> word) ++counts[word];
  return counts;
}

}  // namespace

int main() {
  std::mt19937 random(1);
  for (int round = 0; round < kRounds; ++round) {
    std::cout << CountWords(MakeText(random)).size() << " different words\n";
  }
}
