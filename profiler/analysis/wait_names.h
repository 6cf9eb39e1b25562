// wait_names.h - names for where threads waited, and for what.
//
//   WaitPlaces places(trace);
//   places.Of(wait.stack)                     // "Cache::Get"
//   LockName(trace, lock.object, lock.name)   // "0x5581 app.cc:40"
//
// Names are texts of the target, as they are. Threads: none.
#ifndef KYMO_PROFILER_ANALYSIS_WAIT_NAMES_H_
#define KYMO_PROFILER_ANALYSIS_WAIT_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/memory/allocation_frames.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/time.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace.h"
#include "profiler/model/waits.h"

namespace kymo::analysis {

// Whether the symbols of its module have no name for the function:
// "redis-server+0x64da0".
bool HasNoName(std::string_view function);

struct WaitPlace {
  std::string name;
  // Without its folder; of Python, the file. Empty: not known.
  std::string_view module;
  model::StackId stack = model::kEmptyStack;  // it ends at that function
  // It is Python's interpreter, and nobody knows the function of Python.
  bool is_of_interpreter = false;
};

class WaitPlaces {
 public:
  // `trace` must outlive this object.
  explicit WaitPlaces(const model::Trace& trace)
      : trace_(trace), frames_(trace) {}

  // The function of the program in which a thread waited: the innermost one
  // that is neither the kernel's nor of the C and C++ runtime, nor a library's
  // around these (IsWaitFunction). If that has no name, the one that called it
  // in the same file. If it is of Python's interpreter, or of a virtual machine
  // of Java or JavaScript, the function of that language, if that is known.
  // "[no stack]" of an empty stack. A lambda without a name has that of the
  // function that called it, or of the thread that runs it.
  WaitPlace At(model::StackId stack);
  std::string Of(model::StackId stack) { return At(stack).name; }
  // The same of a stack that called a function. Helpers of the C++ library
  // such as std::__invoke_impl do not count, nor do those of Python's
  // interpreter if a function of Python is known. Empty if no function of the
  // program is known.
  std::string OfCaller(model::StackId stack);

 private:
  model::StackId WithoutKernel(model::StackId stack) const;
  model::StackId NamedCaller(model::StackId place) const;
  model::StackId PythonCaller(model::StackId place) const;
  model::StackId CompiledCaller(model::StackId place) const;
  model::StackId OwnFunction(model::StackId of_user);
  std::string NameOf(model::StackId place);

  const model::Trace& trace_;
  AllocationFrames frames_;
};

// Where the holders of a lock were, the longest time first; ties by name. The
// times are LockWaits::holders, in which a place has a row for each line that a
// sample hit. If no function is known, the name is that of the thread: "thread
// worker"; "[unknown]" if nobody saw the thread either.
struct HolderPlace {
  std::string name;
  model::StackId stack = model::kEmptyStack;  // it ends at the place
  uint64_t count = 0;
  DurationNs duration_ns = 0;
  DurationNs longest_ns = 0;
};
std::vector<HolderPlace> HoldersByPlace(const model::Trace& trace,
                                        WaitPlaces& places,
                                        const LockWaits& lock);

// The innermost function of a stack; "[unknown]" if it has no name.
// REQUIRES: the stack is not empty.
std::string InnermostFunction(const model::Trace& trace, model::StackId stack);

// What a thread waited for: "0x7ffe10 app.cc:5" of a lock or condition
// variable, "5 /var/log/x" of a descriptor, "4711" of a child. Empty: not
// known.
std::string ObjectName(const model::Trace& trace, model::WaitKind kind,
                       uint64_t object, model::NameId name);

// ObjectName of what a group of waits was mostly for: "5 /run/x and 3 others".
std::string ObjectsText(const model::Trace& trace, const WaitGroup& group);

// "made in Cache::Cache", "first seen waiting at Cache::Get"; empty if nobody
// knows where it comes from.
std::string OriginText(WaitPlaces& places, const LockWaits& lock);
// LockName and OriginText.
std::string LockText(const model::Trace& trace, WaitPlaces& places,
                     const LockWaits& lock);

// ObjectName of a lock; "[unknown]" if it is not known.
std::string LockName(const model::Trace& trace, uint64_t object,
                     model::NameId name);

// "1 CPU", "0.5 CPUs".
std::string CpusText(double cpus);

// What a limit did: "stopped threads in 41 of 80 periods of 100 ms", or
// "stopped no thread".
std::string StoppedText(const model::CpuLimit& limit);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_WAIT_NAMES_H_
