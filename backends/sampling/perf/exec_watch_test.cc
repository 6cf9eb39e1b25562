#include "backends/sampling/perf/exec_watch.h"

#include <gtest/gtest.h>

namespace kymo::sampling {
namespace {

TEST(ExecWatchTest, AProgramThatIsNotMappedHasLostItsEvents) {
  ExecWatch watch;
  watch.OnExec(7);
  watch.OnExec(8);
  watch.OnMap(8);
  EXPECT_TRUE(watch.OnExit(7));
  EXPECT_FALSE(watch.OnExit(8));
  EXPECT_FALSE(watch.OnExit(7));  // another process of that number
}

TEST(ExecWatchTest, EachExecCounts) {
  ExecWatch watch;
  watch.OnExec(7);
  watch.OnMap(7);
  watch.OnExec(7);
  EXPECT_TRUE(watch.OnExit(7));
}

TEST(ExecWatchTest, AfterALossNobodyKnows) {
  ExecWatch watch;
  watch.OnExec(7);
  watch.OnLost();
  EXPECT_FALSE(watch.OnExit(7));
}

}  // namespace
}  // namespace kymo::sampling
