// test_backend_conformance.h - tests that every backend has to pass: the
// contract of activity_backend.h. One line runs them on a backend:
//
//   #include "profiler/plugin/test_backend_conformance.h"
//
//   KYMO_TEST_BACKEND(Mine, {.make = NewMyBackend, .record = UseMySource});
//
// and one target builds them; main() comes with the library:
//
//   cc_test(
//       name = "conformance_test",
//       srcs = ["conformance_test.cc"],
//       deps = [":my_backend", "@kymo//profiler/plugin:backend_conformance"],
//   )
//
// The tests make sessions of this process, or, if options.target is
// kChildProcess, of a child that the tests fork and that uses CPU time. They
// check that
//
// - the backend describes itself, its settings and its availability, and says
//   the same each time,
// - any order of calls is safe, and so is the end of a session in any state,
// - it can be started and stopped a thousand times, and stopped while threads
//   record,
// - a fork during a session disturbs neither parent nor child,
// - a second session at the same time works, or is refused with a reason,
// - what a full buffer cannot take is counted in the ledger,
// - all times are inside of the session, and normalise to a valid trace,
// - nothing is left behind: no descriptor, thread, child process or file,
// - a session for which descriptors run out leaves nothing enabled.
//
// Tests that repeat something stop after `time_per_test`, but not before the
// third time, and print how often they did it. Where the backend is not
// available, everything except its description is skipped, with the reason.
//
// Threads: the tests run one at a time, in a process that has nothing else to
// do: they count its descriptors and threads, and limit its descriptors.
#ifndef KYMO_PROFILER_PLUGIN_TEST_BACKEND_CONFORMANCE_H_
#define KYMO_PROFILER_PLUGIN_TEST_BACKEND_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>

#include "profiler/base/parallel.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/backend_controller.h"

namespace kymo {

struct BackendUnderTest {
  // Makes the backend; called once for each test.
  std::function<std::unique_ptr<ActivityBackend>()> make;

  // The options of its sessions. Where they are empty, scratch_dir is a new
  // folder, and for a child target_path is this program.
  SessionOptions options = {};

  // Makes the backend record one thing or more. Several threads may call it at
  // the same time, and also while no session is live. A child calls it, too,
  // where the target is a child. Null: the tests cannot make it record.
  std::function<void()> record = nullptr;

  // False: the backend keeps nothing, so no shard has a record of it. It only
  // hands on what happens.
  bool keeps_records = true;

  // True: it also records the processes that the target starts.
  bool follows_children = false;

  // Settings with which the buffers are as small as can be, and how many calls
  // of `record` are sure to overflow them. Empty: it has no bounded buffer.
  SettingMap small_buffers = {};
  int64_t overflow_calls = 100'000;

  std::chrono::milliseconds time_per_test = std::chrono::seconds(2);
};

// For messages of GoogleTest, which would print bytes.
inline void PrintTo(const BackendUnderTest&, std::ostream* out) {
  *out << "a backend";
}

class BackendConformance : public ::testing::TestWithParam<BackendUnderTest> {
 protected:
  BackendConformance();
  ~BackendConformance() override;

  // A session that is made. Null, and an error of the test, if it cannot be.
  std::unique_ptr<BackendController> NewSession(
      const SettingMap& settings = {});
  // The same, prepared and started. The target works from now on.
  std::unique_ptr<BackendController> NewLiveSession(
      const SettingMap& settings = {});
  // Takes the next call of its life. False: it has had the last one.
  bool Advance(BackendController& session, int* state);
  void Record() const;
  // A session that records works from start to end: nothing disturbs it.
  void ExpectThatItWorks();

  bool is_local() const { return options_.target == TargetKind::kThisProcess; }
  // Whether each call of Record() has to be in a live session's shard.
  bool is_recorded() const {
    return is_local() && GetParam().record && GetParam().keeps_records;
  }

  SessionOptions options_;
  std::unique_ptr<ActivityBackend> backend_;
  // Its worker threads would look as if the backend had left them.
  const ParallelismLimit no_workers_{1};
  pid_t target_ = 0;
};

// Tests that need a session: where the backend is available.
class SessionConformance : public BackendConformance {
 protected:
  void SetUp() override;
};

}  // namespace kymo

// `name` begins the names of the tests. The other argument is a
// BackendUnderTest in braces.
#define KYMO_TEST_BACKEND(name, ...)                            \
  using ::kymo::BackendConformance;                             \
  using ::kymo::SessionConformance;                             \
  INSTANTIATE_TEST_SUITE_P(                                     \
      name, BackendConformance,                                 \
      ::testing::Values(::kymo::BackendUnderTest __VA_ARGS__)); \
  INSTANTIATE_TEST_SUITE_P(                                     \
      name, SessionConformance,                                 \
      ::testing::Values(::kymo::BackendUnderTest __VA_ARGS__))

#endif  // KYMO_PROFILER_PLUGIN_TEST_BACKEND_CONFORMANCE_H_
