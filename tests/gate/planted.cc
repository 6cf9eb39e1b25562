// planted - fifty operations that do the same in each run, and one regression
// on demand. how_exact.py holds `kymo gate` and `kymo compare` against it:
//
//   planted none|call|allocations|peak|blocking|cpu [ROUNDS]
//
// Without the regression it makes 5,000 calls of operations and 1,000
// allocations in 100 rounds, holds at most 1 MiB, and calls nothing that may
// block.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kymo/record_function.h"

namespace {

constexpr int kOperations = 50;
constexpr int kAllocationsPerRound = 10;
constexpr int kPlace = 7;  // the operation with the regression

bool is_planted_call, is_planted_allocations, is_planted_peak,
    is_planted_blocking, is_planted_cpu;

// A chain of multiplications, which no processor shortens.
void Compute(int64_t steps) {
  uint64_t x = 1;
  for (int64_t i = 0; i < steps; ++i) x = x * 6364136223846793005u + 1;
  asm volatile("" : : "r"(x));
}

void Allocate(int blocks) {
  for (int i = 0; i < blocks; ++i) {
    auto block = std::make_unique<char[]>(100);
    asm volatile("" : : "r"(block.get()) : "memory");
  }
}

// From 10 to 30 microseconds, with a processor of 2 to 3 GHz.
int64_t StepsOf(int operation) { return 8000 + 4000 * (operation % 5); }

void RunOperation(const std::string& name, int operation, int round) {
  kymo::RecordFunction range(name);
  int64_t steps = StepsOf(operation);
  if (is_planted_cpu && operation == kPlace) steps += steps / 20;
  Compute(steps);
  if (is_planted_allocations && operation == kPlace && round == 0) {
    Allocate(kAllocationsPerRound);  // 1 % more
  }
}

void Round(const std::vector<std::string>& names, int round) {
  for (int i = 0; i < kOperations; ++i) RunOperation(names[i], i, round);
  Allocate(kAllocationsPerRound);
  if (round > 0) return;
  if (is_planted_call) RunOperation(names[kPlace], kPlace, round);
  if (is_planted_blocking) poll(nullptr, 0, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string planted = argc > 1 ? argv[1] : "";
  bool* const kinds[] = {&is_planted_call, &is_planted_allocations,
                         &is_planted_peak, &is_planted_blocking,
                         &is_planted_cpu};
  constexpr const char* kNames[] = {"call", "allocations", "peak", "blocking",
                                    "cpu"};
  bool is_known = planted == "none";
  for (int i = 0; i < 5; ++i) {
    *kinds[i] = planted == kNames[i];
    is_known |= *kinds[i];
  }
  if (!is_known) {
    fputs("usage: planted none|call|allocations|peak|blocking|cpu [ROUNDS]\n",
          stderr);
    return 2;
  }
  std::vector<std::string> names;
  for (int i = 0; i < kOperations; ++i) {
    names.push_back("operation " + std::to_string(i));
  }
  const size_t bytes = (size_t{1} << 20) + (is_planted_peak ? 64 << 10 : 0);
  const std::unique_ptr<char[]> held(new char[bytes]);
  memset(held.get(), 1, bytes);
  asm volatile("" : : "r"(held.get()) : "memory");  // it is used
  const int rounds = argc > 2 ? atoi(argv[2]) : 100;
  for (int round = 0; round < rounds; ++round) Round(names, round);
  return 0;
}
