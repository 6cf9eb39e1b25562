// python_stacks.h - puts Python's functions into unwound stacks.
//
//   PythonStacks python(&modules, &unwinder);
//   unwinder.Unwind(..., &stack);
//   if (python.LookAtModules(stack)) unwinder.Unwind(..., &stack);  // again
//   python.Expand(pid, space, copy, state, &frames, &stack);
//
// Stacks of other programs cost a look at each new module.
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_STACKS_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/sampling/python/interpreter_module.h"
#include "backends/sampling/python/python_process.h"
#include "backends/sampling/python/thread_name.h"
#include "backends/sampling/unwind/stack_copy.h"
#include "backends/sampling/unwind/unwinder.h"
#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/elf_module.h"

namespace kymo::sampling {

// What is known of one process, until its end or its next exec.
struct PythonState {
  std::unique_ptr<PythonProcess> process;  // null: its stacks stay as they are
};

class PythonStacks {
 public:
  enum class Result {
    kNone,  // no Python in this stack
    kWhole,
    kTorn,
    kUnread,
  };

  // Both are borrowed.
  PythonStacks(symbolize::ModuleTable* modules, Unwinder* unwinder)
      : modules_(*modules), unwinder_(*unwinder) {}

  // Has interpreters watched whose module is in a stack for the first time.
  // Whether there was one.
  bool LookAtModules(const UnwoundStack& stack);

  // `state` is the process's; it is made here.
  Result Expand(int64_t pid, const symbolize::AddressSpace& space,
                const StackCopy& copy, std::shared_ptr<PythonState>& state,
                FrameMemory* frames, UnwoundStack* stack);

  // What the program calls the thread of the last Expand, if that had this
  // state.
  static std::optional<ProgramThread> ReadThreadName(const PythonState& state);

  // Whether any process runs Python that can be read.
  bool has_python() const noexcept { return has_python_; }
  // Why functions of some processes are not known.
  std::vector<std::string> Remarks() const;

 private:
  struct Interpreter {
    InterpreterModule module;
    LearnedLoop learned;
  };

  absl::StatusOr<std::unique_ptr<PythonProcess>> Open(
      int64_t pid, const Interpreter& interpreter, uint64_t delta);

  symbolize::ModuleTable& modules_;
  Unwinder& unwinder_;
  std::vector<bool> looked_at_;  // by module
  std::map<symbolize::ModuleId, Interpreter> interpreters_;
  bool has_python_ = false;
  std::set<std::string> refusals_;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_STACKS_H_
