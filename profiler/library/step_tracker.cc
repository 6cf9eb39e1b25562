// step_tracker.cc - the process's tracker of steps. It stands here and not
// beside the class, because profiler/session does not know warning.h.
#include "kymo/step_tracker.h"

#include "kymo/warning.h"
#include "profiler/library/on_demand_if_asked.h"

namespace kymo {
namespace {

// Here, so that it is in each program that has sessions or steps. The tracker
// is made before there are threads: see first_use_test.sh.
[[maybe_unused]] const bool kIsAsked =
    (StepTracker::Process(), AllowOnDemandIfAsked(), true);

}  // namespace

StepTracker& StepTracker::Process() {
  // Never destroyed: threads may count steps while the program ends.
  static StepTracker* const tracker = new StepTracker(kymo::Warn);
  return *tracker;
}

}  // namespace kymo
