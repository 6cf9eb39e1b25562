// gtest_listener.h - records each test of a GoogleTest program, and names those
// that took most.
//
//   testing::UnitTest::GetInstance()->listeners().Append(
//       new kymo::TestListener());
//
// or, without a line of code, //:gtest_main instead of GoogleTest's own:
//
//   kymo: slowest tests
//        812.4 ms  CacheTest.Fills
//   kymo: tests that allocate most
//        96.0 MiB  CacheTest.Fills, 12040 allocations
//   kymo: tests that wait most
//        310.1 ms  CacheTest.Locks, 40 waits, mostly in Cache::Get
//
// Each test also gets the properties kymo_allocations, kymo_allocated_bytes,
// kymo_peak_bytes, kymo_ranges, kymo_waits and kymo_wait_ns, which stand in the
// XML and JSON reports.
//
// A test that records itself is not recorded. The heap is seen if the program
// has //:memory_hooks in it; //:gtest_main brings them.
#ifndef KYMO_PROFILER_TESTING_GTEST_LISTENER_H_
#define KYMO_PROFILER_TESTING_GTEST_LISTENER_H_

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/testing/test_session.h"

namespace kymo {

class TestListener final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override;
  void OnTestEnd(const testing::TestInfo& test) override;
  void OnTestProgramEnd(const testing::UnitTest& program) override;

 private:
  TestSession session_;
  std::vector<std::pair<std::string, TestAmounts>> tests_;
};

// The lists above, of at most five tests each.
std::string TestsText(
    const std::vector<std::pair<std::string, TestAmounts>>& tests);

}  // namespace kymo

#endif  // KYMO_PROFILER_TESTING_GTEST_LISTENER_H_
