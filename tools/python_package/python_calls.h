// python_calls.h - the few functions of Python that the library calls.
//
//   WithoutLock unlocked;                       // others may run Python
//   while (Work()) if (unlocked.MustStop()) break;     // Ctrl-C
//
// The library is not linked with Python, so that one file serves all versions:
// the package hands over the functions' addresses when it loads the library.
// They are in Python's stable interface since 3.2.
//
// Threads: any that holds Python's lock.
#ifndef KYMO_TOOLS_PYTHON_PACKAGE_PYTHON_CALLS_H_
#define KYMO_TOOLS_PYTHON_PACKAGE_PYTHON_CALLS_H_

#include <chrono>

namespace kymo::python {

// In the order of _library.py.
struct PythonFunctions {
  void* (*save_thread)();                // PyEval_SaveThread
  void (*restore_thread)(void* thread);  // PyEval_RestoreThread
  int (*check_signals)();                // PyErr_CheckSignals
  void* (*capsule_pointer)(void* capsule, const char* name);
};

void SetPythonFunctions(const PythonFunctions& functions);
const PythonFunctions& Python();

// Gives Python's lock back while it lives.
class WithoutLock {
 public:
  WithoutLock() : thread_(Python().save_thread()) {}
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;
  ~WithoutLock() { Python().restore_thread(thread_); }

  // Lets Python handle signals, a few times a second. True: a handler raised an
  // exception, as Ctrl-C does. Python raises it once the call has returned. To
  // be called by the thread that made this.
  bool MustStop();

 private:
  using Clock = std::chrono::steady_clock;

  void* thread_;
  Clock::time_point checked_ = Clock::now();
  bool must_stop_ = false;
};

}  // namespace kymo::python

#endif  // KYMO_TOOLS_PYTHON_PACKAGE_PYTHON_CALLS_H_
