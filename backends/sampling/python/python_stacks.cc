#include "backends/sampling/python/python_stacks.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/sampling/python/python_layout.h"
#include "backends/sampling/python/target_memory.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo::sampling {
namespace {

constexpr size_t kMostRemarks = 5;

}  // namespace

bool PythonStacks::LookAtModules(const UnwoundStack& stack) {
  bool found_one = false;
  for (const symbolize::CodePlace& place : stack.frames) {
    if (place.module >= looked_at_.size()) looked_at_.resize(place.module + 1);
    if (looked_at_[place.module]) continue;
    looked_at_[place.module] = true;
    // The layouts that are known are those of 64-bit interpreters.
    if (modules_.module(place.module).is_386()) continue;
    auto interpreter = FindInterpreter(modules_.module(place.module).image());
    if (!interpreter) continue;
    for (const auto& code : interpreter->loop) {
      unwinder_.Watch(place.module, code.begin, code.end);
    }
    interpreters_[place.module].module = *std::move(interpreter);
    found_one = true;
  }
  return found_one;
}

absl::StatusOr<std::unique_ptr<PythonProcess>> PythonStacks::Open(
    int64_t pid, const Interpreter& interpreter, uint64_t delta) {
  const InterpreterModule& module = interpreter.module;
  if (module.version == 0 || module.code_type == 0) {
    return absl::UnimplementedError(
        "it is older than Python 3.11; those from 3.11 to 3.14 are known");
  }
  auto memory = std::make_unique<ProcessMemory>(pid);
  const auto version = memory->ReadValue<uint64_t>(module.version - delta);
  if (!version) {
    return memory->was_refused()
               ? absl::PermissionDeniedError(
                     "the kernel does not let this user read its memory; run "
                     "the command as root, or as the program's user")
               : absl::UnavailableError("its memory cannot be read");
  }
  KYMO_ASSIGN_OR_RETURN(const PythonLayout layout,
                        FindLayout(*version, module.runtime - delta, *memory));
  return std::make_unique<PythonProcess>(std::move(memory), layout,
                                         module.code_type - delta,
                                         &modules_.named_places());
}

PythonStacks::Result PythonStacks::Expand(int64_t pid,
                                          const symbolize::AddressSpace& space,
                                          const StackCopy& copy,
                                          std::shared_ptr<PythonState>& state,
                                          FrameMemory* frames,
                                          UnwoundStack* stack) {
  if (stack->watched.empty()) return Result::kNone;
  const WatchedFrame& inner = stack->watched.front();
  const symbolize::ModuleId id = stack->frames[inner.index].module;
  const auto interpreter = interpreters_.find(id);
  if (interpreter == interpreters_.end()) return Result::kNone;
  if (state == nullptr) {
    // A caller's address is behind its call, which may end the function.
    const auto* const mapping = space.Find(inner.registers[kRip] - 1);
    if (mapping == nullptr || mapping->module != id) return Result::kUnread;
    state = std::make_shared<PythonState>();
    auto process = Open(pid, interpreter->second, mapping->delta);
    if (process.ok()) {
      state->process = *std::move(process);
      has_python_ = true;
    } else if (process.status().code() != absl::StatusCode::kUnavailable) {
      refusals_.insert(absl::StrCat(ToAbsl(modules_.module(id).path()), ": ",
                                    process.status().message()));
    }
  }
  if (state->process == nullptr) return Result::kUnread;
  switch (state->process->Expand(copy, interpreter->second.learned,
                                 MonotonicNs(), frames, stack)) {
    case PythonProcess::Result::kWhole:
      return Result::kWhole;
    case PythonProcess::Result::kTorn:
      return Result::kTorn;
    case PythonProcess::Result::kUnread:
      return Result::kUnread;
  }
  return Result::kUnread;
}

std::optional<ProgramThread> PythonStacks::ReadThreadName(
    const PythonState& state) {
  if (state.process == nullptr) return std::nullopt;
  return state.process->ReadThreadName();
}

std::vector<std::string> PythonStacks::Remarks() const {
  std::vector<std::string> remarks;
  for (const std::string& refusal : refusals_) {
    if (remarks.size() == kMostRemarks) break;
    remarks.push_back(absl::StrCat(
        "sampling: stacks of ", refusal,
        ". They show the interpreter's functions instead of Python's"));
  }
  return remarks;
}

}  // namespace kymo::sampling
