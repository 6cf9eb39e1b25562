// test_nsys_database.h - a database as Nsight Systems exports it, for tests.
//
//   MakeDatabase("full.sqlite", FullDatabase())
#ifndef KYMO_IMPORTERS_NSYS_TEST_NSYS_DATABASE_H_
#define KYMO_IMPORTERS_NSYS_TEST_NSYS_DATABASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/base/time.h"

namespace kymo::nsys {

// When the session of FullDatabase began.
inline constexpr TimeNs kSession = 1'700'000'000'000'000'000;

// The globalTid of a thread; with tid 0 the globalPid.
std::string Global(int64_t pid, int64_t tid);

// The statements that make a database of a recent release with a little of
// everything: ranges, calls, work and memory of a device.
std::vector<std::string> FullDatabase();

}  // namespace kymo::nsys

#endif  // KYMO_IMPORTERS_NSYS_TEST_NSYS_DATABASE_H_
