// test_session.h - records a part of a test program, and sums it up.
//
//   TestSession session;
//   session.Start();
//   RunTheTest();
//   const TestAmounts amounts = session.Stop();
//   Print(amounts.allocations, amounts.waits);
//
// All threads are recorded: ranges, the heap if the program has
// //:memory_hooks in it, and waits where the kernel permits it.
//
// Threads: one session at a time.
// Errors:  a warning on standard error, once. All amounts are 0 then, and
//   `error` says why.
#ifndef KYMO_PROFILER_TESTING_TEST_SESSION_H_
#define KYMO_PROFILER_TESTING_TEST_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>

#include "kymo/profile.h"

namespace kymo {

struct TestAmounts {
  int64_t ranges = 0;
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  int64_t peak_bytes = 0;
  int64_t alive_bytes = 0;  // at the end
  int64_t waits = 0;        // without idle ones
  int64_t wait_ns = 0;
  int64_t duration_ns = 0;
  std::string waited_in = {};  // where most of that time was
  std::string error = {};
};

// Google Benchmark makes one block before the iterations, and frees it behind
// them. It is no part of the benchmark.
enum class EnclosingBlock : uint8_t { kCount, kLeaveOut };

class TestSession {
 public:
  void Start();
  TestAmounts Stop(EnclosingBlock enclosing = EnclosingBlock::kCount);

 private:
  std::unique_ptr<Profile> profile_;
  std::string error_;
};

// What a trace says of a test.
TestAmounts AmountsOf(const model::Trace& trace,
                      EnclosingBlock enclosing = EnclosingBlock::kCount);

}  // namespace kymo

#endif  // KYMO_PROFILER_TESTING_TEST_SESSION_H_
