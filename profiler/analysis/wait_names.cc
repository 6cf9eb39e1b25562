#include "profiler/analysis/wait_names.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/memory/runtime_memory.h"
#include "profiler/analysis/wait_functions.h"
#include "profiler/base/strings.h"

namespace kymo::analysis {

using model::StackId;
using model::Trace;
using model::WaitKind;

bool HasNoName(std::string_view function) {
  return function.empty() || function.find("+0x") != std::string_view::npos;
}

namespace {

// A stripped program has names of some functions only.
constexpr int kMostNameless = 4;

// The lambda that a function of C++'s library has among its parameters: of
// "std::_Invoker<std::tuple<main::{lambda()#3}> >::f()" it is
// "main::{lambda()#3}". Empty if it has none.
std::string_view LambdaIn(std::string_view function) {
  size_t begin = function.find("{lambda(");
  if (begin == std::string_view::npos) return {};
  const size_t end = function.find('}', begin);
  if (end == std::string_view::npos) return {};
  // Back to where its name begins, which may have the function around it.
  for (int depth = 0; begin > 0; --begin) {
    const char c = function[begin - 1];
    if (c == '>' || c == ')') ++depth;
    const bool is_const = function.substr(begin).starts_with("const::");
    if (depth == 0 &&
        (c == '<' || c == '(' || c == ',' || (c == ' ' && !is_const))) {
      break;
    }
    if (c == '<' || c == '(') --depth;
  }
  return function.substr(begin, end + 1 - begin);
}

}  // namespace

std::string InnermostFunction(const Trace& trace, StackId stack) {
  const model::StackTable& stacks = trace.stacks();
  const std::string_view name =
      trace.Name(stacks.frame(stacks.leaf(stack)).function);
  return std::string(name.empty() ? "[unknown]" : name);
}

StackId WaitPlaces::WithoutKernel(StackId stack) const {
  const model::StackTable& stacks = trace_.stacks();
  while (stack != model::kEmptyStack &&
         stacks.frame(stacks.leaf(stack)).is_kernel) {
    stack = stacks.parent(stack);
  }
  return stack;
}

WaitPlace WaitPlaces::At(StackId stack) {
  StackId of_user = WithoutKernel(stack);
  // A thread of the kernel has no other functions.
  if (of_user == model::kEmptyStack) of_user = stack;
  if (of_user == model::kEmptyStack) return {.name = "[no stack]"};
  const model::StackTable& stacks = trace_.stacks();
  const auto module_of = [&](StackId id) {
    return trace_.Name(stacks.frame(stacks.leaf(id)).module);
  };
  WaitPlace at = {.stack = OwnFunction(of_user)};
  const StackId python = PythonCaller(at.stack);
  const StackId compiled = CompiledCaller(at.stack);
  if (python != model::kEmptyStack) {
    at.stack = python;
  } else if (compiled != model::kEmptyStack) {
    at.stack = compiled;
  } else {
    at.is_of_interpreter = IsPythonsFile(module_of(at.stack));
    at.stack = NamedCaller(at.stack);
  }
  at.name = NameOf(at.stack);
  at.module = module_of(at.stack);
  at.module.remove_prefix(at.module.rfind('/') + 1);
  return at;
}

StackId WaitPlaces::OwnFunction(StackId of_user) {
  const model::StackTable& stacks = trace_.stacks();
  const StackId own = frames_.OwnCaller(of_user);
  bool is_static = true;
  for (StackId id = of_user; id != own; id = stacks.parent(id)) {
    is_static &=
        !IsRuntimeFile(trace_.Name(stacks.frame(stacks.leaf(id)).module));
  }
  for (StackId place = own; place != model::kEmptyStack;) {
    const std::string_view function =
        trace_.Name(stacks.frame(stacks.leaf(place)).function);
    if (!IsWaitFunction(function) && !(is_static && IsStaticCall(function))) {
      return place;
    }
    place = stacks.parent(place);
    if (place != model::kEmptyStack) place = frames_.OwnCaller(place);
  }
  return own;
}

// Of an inlined lambda, debug information has no more than "operator()".
// Without it, there is only the function that the lambda is inlined into.
std::string WaitPlaces::NameOf(StackId place) {
  std::string name = InnermostFunction(trace_, place);
  if (IsInvokerFunction(name)) {
    const std::string_view lambda = LambdaIn(name);
    return lambda.empty() ? name : std::string(lambda);
  }
  if (name != "operator()") return name;
  const model::StackTable& stacks = trace_.stacks();
  for (StackId id = stacks.parent(place); id != model::kEmptyStack;
       id = stacks.parent(id)) {
    const model::Frame& caller = stacks.frame(stacks.leaf(id));
    const std::string_view function = trace_.Name(caller.function);
    // Inlined functions of C++'s library have no namespace.
    const bool is_library = function.starts_with('_') || function == name ||
                            function.find("std::") != function.npos ||
                            function == "start_thread" ||
                            IsRuntimeFile(trace_.Name(caller.module));
    if (!is_library) return InnermostFunction(trace_, id);
    const std::string_view lambda = LambdaIn(function);
    if (!lambda.empty()) return std::string(lambda);
  }
  const model::Frame& frame = stacks.frame(stacks.leaf(place));
  std::string_view file = trace_.Name(frame.file);
  file.remove_prefix(file.rfind('/') + 1);
  if (file.empty()) return name;
  return absl::StrCat(name, " (", ToAbsl(file), ":", frame.line, ")");
}

StackId WaitPlaces::PythonCaller(StackId place) const {
  const model::StackTable& stacks = trace_.stacks();
  for (; place != model::kEmptyStack; place = stacks.parent(place)) {
    const model::Frame& frame = stacks.frame(stacks.leaf(place));
    if (frame.is_of_python()) return place;
    if (!IsPythonsFile(trace_.Name(frame.module))) break;
  }
  return model::kEmptyStack;
}

StackId WaitPlaces::CompiledCaller(StackId place) const {
  const model::StackTable& stacks = trace_.stacks();
  const auto module_of = [&](StackId id) {
    return trace_.Name(stacks.frame(stacks.leaf(id)).module);
  };
  if (!IsVirtualMachine(module_of(place))) return model::kEmptyStack;
  StackId of_library = model::kEmptyStack;
  for (; place != model::kEmptyStack; place = stacks.parent(place)) {
    const std::string_view function =
        trace_.Name(stacks.frame(stacks.leaf(place)).function);
    if (module_of(place) != "[jit]") {
      const bool is_machine = of_library == model::kEmptyStack &&
                              !IsV8sInterpreter(function) &&
                              IsVirtualMachine(module_of(place));
      if (!is_machine) break;
      continue;
    }
    const JitFunction kind = KindOfJitFunction(function);
    if (kind == JitFunction::kProgram) return place;
    if (kind == JitFunction::kInterpreter) break;
    if (kind == JitFunction::kLibrary && of_library == model::kEmptyStack) {
      of_library = place;
    }
  }
  return of_library;
}

StackId WaitPlaces::NamedCaller(StackId place) const {
  const model::StackTable& stacks = trace_.stacks();
  const model::NameId module = stacks.frame(stacks.leaf(place)).module;
  StackId caller = place;
  for (int i = 0; i < kMostNameless && caller != model::kEmptyStack; ++i) {
    const model::Frame& frame = stacks.frame(stacks.leaf(caller));
    if (frame.module != module) break;
    if (!HasNoName(trace_.Name(frame.function))) return caller;
    caller = stacks.parent(caller);
  }
  return place;
}

std::string WaitPlaces::OfCaller(StackId stack) {
  const StackId caller = frames_.ProgramCaller(WithoutKernel(stack));
  if (caller == model::kEmptyStack) return "";
  const StackId python = PythonCaller(caller);
  const StackId named =
      python == model::kEmptyStack ? NamedCaller(caller) : python;
  const model::StackTable& stacks = trace_.stacks();
  return std::string(trace_.Name(stacks.frame(stacks.leaf(named)).function));
}

std::vector<HolderPlace> HoldersByPlace(const Trace& trace, WaitPlaces& places,
                                        const LockWaits& lock) {
  const model::StackTable& stacks = trace.stacks();
  // A function has a frame for each of its lines.
  using Path = std::vector<model::NameId>;
  std::map<std::pair<std::string, Path>, HolderPlace> sums;
  for (const WaitGroup& group : lock.holders) {
    WaitPlace place = {.name = "[unknown]"};
    if (group.stack != model::kEmptyStack) place = places.At(group.stack);
    if (group.stack == model::kEmptyStack || place.is_of_interpreter) {
      place = {.name = "[unknown]"};
      if (group.track != model::kNoTrack) {
        const model::Track& track = trace.tracks()[group.track];
        const std::string_view name = trace.Name(track.name);
        place.name = name.empty() ? absl::StrCat("thread ", track.id)
                                  : absl::StrCat("thread ", ToAbsl(name));
      }
    }
    Path path;
    for (StackId id = place.stack; id != model::kEmptyStack;
         id = stacks.parent(id)) {
      path.push_back(stacks.frame(stacks.leaf(id)).function);
    }
    HolderPlace& sum = sums[{place.name, std::move(path)}];
    if (sum.count == 0) sum = {.name = place.name, .stack = place.stack};
    sum.count += group.count;
    sum.duration_ns += group.duration_ns;
    sum.longest_ns = std::max(sum.longest_ns, group.longest_ns);
  }
  std::vector<HolderPlace> sorted;
  for (auto& [key, sum] : sums) sorted.push_back(std::move(sum));
  std::ranges::stable_sort(
      sorted, [](const HolderPlace& a, const HolderPlace& b) {
        return std::tuple(-a.duration_ns, std::string_view(a.name)) <
               std::tuple(-b.duration_ns, std::string_view(b.name));
      });
  return sorted;
}

std::string ObjectName(const Trace& trace, WaitKind kind, uint64_t object,
                       model::NameId name) {
  const std::string text(trace.Name(name));
  if (object == 0) return text;
  // flock(2) and fcntl(2) lock descriptors.
  constexpr uint64_t kLeastAddress = 4096;
  const bool is_file = object < kLeastAddress && text.starts_with('/');
  const bool is_address =
      !is_file && (kind == WaitKind::kLock || kind == WaitKind::kCondition);
  const std::string number =
      is_address ? absl::StrCat("0x", absl::Hex(object)) : absl::StrCat(object);
  return absl::StrCat(number, text.empty() ? "" : " ", text);
}

std::string ObjectsText(const Trace& trace, const WaitGroup& group) {
  std::string text =
      ObjectName(trace, group.kind, group.object, group.object_name);
  if (text.empty() || group.object_count < 2) return text;
  const uint64_t others = group.object_count - 1;
  absl::StrAppend(&text, " and ", others, others == 1 ? " other" : " others");
  return text;
}

std::string OriginText(WaitPlaces& places, const LockWaits& lock) {
  switch (lock.origin) {
    case LockOrigin::kUnknown:
      return "";
    case LockOrigin::kAllocated:
      return "made in " + places.Of(lock.origin_stack);
    case LockOrigin::kFirstWait:
      break;
  }
  return "first seen waiting at " + places.Of(lock.origin_stack);
}

std::string LockText(const Trace& trace, WaitPlaces& places,
                     const LockWaits& lock) {
  const std::string origin = OriginText(places, lock);
  return absl::StrCat(LockName(trace, lock.object, lock.name),
                      origin.empty() ? "" : ", ", origin);
}

std::string LockName(const Trace& trace, uint64_t object, model::NameId name) {
  const std::string text = ObjectName(trace, WaitKind::kLock, object, name);
  return text.empty() ? "[unknown]" : text;
}

std::string CpusText(double cpus) {
  const double rounded = std::round(cpus * 1000) / 1000;
  return absl::StrCat(rounded, rounded == 1 ? " CPU" : " CPUs");
}

std::string StoppedText(const model::CpuLimit& limit) {
  if (limit.throttled_periods == 0) return "stopped no thread";
  return absl::StrCat("stopped threads in ", limit.throttled_periods, " of ",
                      limit.periods,
                      limit.periods == 1 ? " period" : " periods", " of ",
                      static_cast<double>(limit.period_ns) / kNsPerMs, " ms");
}

}  // namespace kymo::analysis
