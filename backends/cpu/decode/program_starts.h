// program_starts.h - which of the programs that were started never attached.
//
//   for (const UnrecordedProgram& program : UnrecordedPrograms(arena)) {
//     ... program.path, ObstacleToPreloading(program.path) ...
//   }
//
// Whoever starts a program says so (profiler/record/starts.h), and a program
// that takes the preloaded runtime, or brings Kymo itself, attaches: a start
// that no process of its pid has followed by attaching was not recorded, and
// neither was what it started itself.
//
// The tables are the target's: whatever stands in them, this returns.
#ifndef KYMO_BACKENDS_CPU_DECODE_PROGRAM_STARTS_H_
#define KYMO_BACKENDS_CPU_DECODE_PROGRAM_STARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/record/arena/arena.h"

namespace kymo::cpu {

struct UnrecordedProgram {
  int32_t pid = 0;
  int64_t start_monotonic_ns = 0;
  std::string path;  // or the word that was looked up
};

// By their start. What stands in the tables while processes go on is complete
// for programs that were started some milliseconds ago.
std::vector<UnrecordedProgram> UnrecordedPrograms(const record::Arena& arena);

// How many they are, and those that the tables have no room for: as many as are
// certain.
uint64_t CountUnrecorded(const record::Arena& arena);

// Waits for programs that live and were started just now, until they attach or
// could have.
void AwaitAttaching(const record::Arena& arena);

// A sentence for each program that was not recorded, and why as far as its file
// tells; for the first few of them.
std::vector<std::string> DescribeUnrecorded(const record::Arena& arena);

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_DECODE_PROGRAM_STARTS_H_
