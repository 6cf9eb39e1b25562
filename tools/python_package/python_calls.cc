#include "tools/python_package/python_calls.h"

namespace kymo::python {
namespace {

constexpr auto kBetweenChecks = std::chrono::milliseconds(50);

PythonFunctions functions_of_python = {};

}  // namespace

void SetPythonFunctions(const PythonFunctions& functions) {
  functions_of_python = functions;
}

const PythonFunctions& Python() { return functions_of_python; }

bool WithoutLock::MustStop() {
  if (must_stop_) return true;
  const Clock::time_point now = Clock::now();
  if (now - checked_ < kBetweenChecks) return false;
  Python().restore_thread(thread_);
  must_stop_ = Python().check_signals() != 0;
  thread_ = Python().save_thread();
  checked_ = now;
  return must_stop_;
}

}  // namespace kymo::python
