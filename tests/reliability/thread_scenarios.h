// thread_scenarios.h - the scenarios within one process; see scenarios.h.
#ifndef KYMO_TESTS_RELIABILITY_THREAD_SCENARIOS_H_
#define KYMO_TESTS_RELIABILITY_THREAD_SCENARIOS_H_

#include "tests/reliability/scenarios.h"

namespace kymo::reliability {

// A thousand threads, eight at a time, three ranges each.
Expected ShortLivedThreads();
// Threads that end while a range of theirs is open.
Expected ThreadsEndInsideRanges();
// Threads that are cancelled inside of two ranges, which unwinding ends.
Expected CancelledThreads();
// Exceptions that leave three ranges.
Expected Exceptions();
// Jumps out of a range, which never ends.
Expected Jumps();
// Coroutines that begin a range on one thread and end it on another.
Expected Coroutines();
// Annotated libraries that are loaded, called and unloaded, again and again.
// KYMO_LIBRARIES has their paths, separated by spaces.
Expected UnloadedLibraries();

}  // namespace kymo::reliability

#endif  // KYMO_TESTS_RELIABILITY_THREAD_SCENARIOS_H_
