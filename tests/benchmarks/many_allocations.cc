// Allocates and frees as C++ programs do: a map of strings and short vectors,
// on one thread, over and over.
//
//   many_allocations [ROUNDS]
//
// A round makes 1,000 entries and drops all but one of them: about 4,000 pairs
// of an allocation and its free. 1,000 rounds, the default, are 4 million
// pairs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int kEntries = 1'000;

// Names too long for a string's own buffer.
std::string MakeName(uint32_t number) {
  return "an entry with the number " + std::to_string(number);
}

void AddEntries(std::map<std::string, std::vector<int>>& entries,
                uint32_t seed) {
  uint32_t number = seed;
  for (int i = 0; i < kEntries; ++i) {
    number = number * 1664525 + 1013904223;
    std::vector<int>& values = entries[MakeName(number >> 12)];
    values.push_back(i);
    values.push_back(i + 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1'000;
  if (rounds <= 0) {
    std::fputs("usage: many_allocations [ROUNDS]\n", stderr);
    return 2;
  }
  std::map<std::string, std::vector<int>> kept;
  size_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    std::map<std::string, std::vector<int>> entries;
    AddEntries(entries, static_cast<uint32_t>(round));
    sum += entries.size();
    // One stays for as long as the program runs.
    kept.insert(entries.extract(entries.begin()));
  }
  std::printf("%zu entries, %zu kept\n", sum, kept.size());
  std::_Exit(0);  // what is kept is not freed
}
