// program_starts.h - which of the programs that were started never attached.
//
//   for (const UnrecordedProgram& program : UnrecordedPrograms(arena)) {
//     ... program.path, ObstacleToPreloading(program.path) ...
//   }
//
// A process that starts a program records the start (profiler/record/starts.h).
// A program that takes the preloaded runtime, or contains Kymo itself,
// attaches. So if no process of the start's pid attaches afterwards, the
// program was not recorded. Neither were the programs that it started.
//
// Trust: the tables come from the target. With any contents, this returns.
#ifndef KYMO_BACKENDS_STREAM_DECODE_PROGRAM_STARTS_H_
#define KYMO_BACKENDS_STREAM_DECODE_PROGRAM_STARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/layout.h"

namespace kymo::stream {

struct UnrecordedProgram {
  int32_t pid = 0;
  int64_t start_monotonic_ns = 0;
  record::StartEnvironment environment = record::StartEnvironment::kComplete;
  std::string path;  // or the word that was looked up
};

// In the order of their starts. If processes still run, a program that was
// started in the last milliseconds may be here although it will attach.
std::vector<UnrecordedProgram> UnrecordedPrograms(const record::Arena& arena);

// How many such programs there certainly are, including those that the tables
// have no room for.
uint64_t CountUnrecorded(const record::Arena& arena);

// How many of the programs that never attached are not in a sampler's records
// either, although it follows all processes: those that the kernel takes from
// it, because they run with more rights than the user.
uint64_t CountUnsampled(const record::Arena& arena);

// Waits for programs that were started just now and still live, until they
// attach or have had the time to.
void AwaitAttaching(const record::Arena& arena);

// A sentence for each of the first few programs that were not recorded, or only
// by samples. It says why, if the program's file or its environment tells.
std::vector<std::string> DescribeUnrecorded(const record::Arena& arena,
                                            bool are_sampled = false);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_PROGRAM_STARTS_H_
