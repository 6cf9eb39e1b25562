// Allocates and frees as C++ programs do: a map of strings and short vectors,
// on one thread, over and over.
//
//   many_allocations [ROUNDS]
//   many_allocations stacks [COUNT]
//
// A round makes 1,000 entries and drops all but one of them: about 4,000 pairs
// of an allocation and its free. 1,000 rounds, the default, are 4 million
// pairs.
//
// With `stacks`, there are COUNT allocations, 300,000 by default, and nearly
// each has a stack of its own: 24 calls along a path of two functions that is
// drawn by chance. Nothing is freed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <string_view>
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

constexpr int kDepth = 24;
void* volatile g_block;

[[gnu::noipa]] void CallRight(int depth, uint32_t path);

// A bit of the path says which of the two comes next.
[[gnu::noipa]] void CallLeft(int depth, uint32_t path) {
  if (depth == 0) {
    g_block = std::malloc(8);
  } else if ((path & 1) != 0) {
    CallRight(depth - 1, path >> 1);
  } else {
    CallLeft(depth - 1, path >> 1);
  }
  asm volatile("");  // no call is the last thing that a function does
}

[[gnu::noipa]] void CallRight(int depth, uint32_t path) {
  if (depth == 0) {
    g_block = std::malloc(16);
  } else if ((path & 1) != 0) {
    CallRight(depth - 1, path >> 1);
  } else {
    CallLeft(depth - 1, path >> 1);
  }
  asm volatile("");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "stacks") {
    const int count = argc > 2 ? std::atoi(argv[2]) : 300'000;
    std::mt19937 random(1);
    for (int i = 0; i < count; ++i) CallLeft(kDepth, random());
    std::printf("%d allocations\n", count);
    std::_Exit(0);
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1'000;
  if (rounds <= 0) {
    std::fputs("usage: many_allocations [ROUNDS], or stacks [COUNT]\n", stderr);
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
