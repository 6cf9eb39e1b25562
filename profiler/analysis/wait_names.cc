#include "profiler/analysis/wait_names.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace kymo::analysis {

using model::StackId;
using model::Trace;
using model::WaitKind;

namespace {

// A stripped program has names of some functions only.
constexpr int kMostNameless = 4;

// Whether the symbols of its module have no name for the function:
// "redis-server+0x64da0".
bool HasNoName(std::string_view function) {
  return function.empty() || function.find("+0x") != std::string_view::npos;
}

// Of the C library, which a program may have in its own file, and of what C++'s
// headers put there. Two underscores are reserved for them. Compilers have such
// names for parts of a function, too.
bool IsOfRuntime(std::string_view function) {
  if (function.find("omp_outlined") != std::string_view::npos) return false;
  constexpr std::string_view kBegins[] = {"__", "pthread_", "sem_", "futex_"};
  constexpr std::string_view kNames[] = {
      "accept",      "accept4",    "clock_nanosleep", "connect",
      "epoll_pwait", "epoll_wait", "fcntl",           "fdatasync",
      "flock",       "fsync",      "nanosleep",       "pause",
      "poll",        "ppoll",      "pread",           "pread64",
      "pselect",     "pwrite",     "pwrite64",        "read",
      "readv",       "recv",       "recvfrom",        "recvmsg",
      "select",      "send",       "sendfile",        "sendmsg",
      "sendto",      "sigsuspend", "sigtimedwait",    "sleep",
      "syscall",     "usleep",     "vfork",           "wait",
      "wait3",       "wait4",      "waitid",          "waitpid",
      "write",       "writev"};
  return std::ranges::any_of(
             kBegins,
             [&](auto begin) { return function.starts_with(begin); }) ||
         std::ranges::count(kNames, function) > 0;
}

// Where a stack has functions of Python, these stand in the place of the
// interpreter's loop. Their module is their file.
bool IsOfPython(const model::Frame& frame) {
  return frame.module != model::kEmptyName && frame.module == frame.file;
}

// Python's interpreter, or the part of its library that is written in C.
bool IsOfInterpreter(std::string_view module) {
  const std::string_view name = module.substr(module.rfind('/') + 1);
  return name.starts_with("python") || name.starts_with("libpython") ||
         module.find("/lib-dynload/") != std::string_view::npos;
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

std::string WaitPlaces::Of(StackId stack) {
  StackId of_user = WithoutKernel(stack);
  // A thread of the kernel has no other functions.
  if (of_user == model::kEmptyStack) of_user = stack;
  if (of_user == model::kEmptyStack) return "[no stack]";
  const model::StackTable& stacks = trace_.stacks();
  const StackId own = frames_.OwnCaller(of_user);
  StackId place = own;
  while (IsOfRuntime(trace_.Name(stacks.frame(stacks.leaf(place)).function))) {
    place = stacks.parent(place);
    if (place == model::kEmptyStack) break;
    place = frames_.OwnCaller(place);
  }
  if (place == model::kEmptyStack) place = own;
  const StackId python = PythonCaller(place);
  if (python != model::kEmptyStack) return InnermostFunction(trace_, python);
  const std::string name = InnermostFunction(trace_, NamedCaller(place));
  return name == "operator()" ? LambdaAt(place) : name;
}

// An inlined lambda is called that, whichever it is. What calls it in C++'s
// library has its type as an argument:
//   std::thread::_State_impl<...<std::tuple<main::{lambda()#3}> > >::_M_run()
std::string WaitPlaces::LambdaAt(StackId place) const {
  constexpr int kMostCallers = 8;
  constexpr std::string_view kLambda = "{lambda(";
  const model::StackTable& stacks = trace_.stacks();
  const std::string fallback = InnermostFunction(trace_, place);
  for (int i = 0; i < kMostCallers; ++i) {
    place = stacks.parent(place);
    if (place == model::kEmptyStack) break;
    const std::string_view name =
        trace_.Name(stacks.frame(stacks.leaf(place)).function);
    const size_t lambda = name.find(kLambda);
    // What was inlined has no namespace.
    const bool is_library = name.find("std::") != std::string_view::npos ||
                            name.starts_with('_') || name == "operator()";
    if (!is_library) break;
    if (lambda == std::string_view::npos) continue;
    const size_t end = name.find('}', lambda);
    size_t begin = lambda;
    for (int depth = 0; begin > 0; --begin) {
      const char c = name[begin - 1];
      if (c == ')') ++depth;
      if (c == '(') --depth;
      if (depth < 0 || (depth == 0 && (c == '<' || c == ',' || c == ' ')))
        break;
    }
    if (end == std::string_view::npos) break;
    return std::string(name.substr(begin, end + 1 - begin));
  }
  return fallback;
}

bool WaitPlaces::IsInInterpreter(StackId stack) {
  const model::StackTable& stacks = trace_.stacks();
  const StackId place = frames_.OwnCaller(WithoutKernel(stack));
  return place != model::kEmptyStack &&
         IsOfInterpreter(
             trace_.Name(stacks.frame(stacks.leaf(place)).module)) &&
         PythonCaller(place) == model::kEmptyStack;
}

StackId WaitPlaces::PythonCaller(StackId place) const {
  const model::StackTable& stacks = trace_.stacks();
  for (; place != model::kEmptyStack; place = stacks.parent(place)) {
    const model::Frame& frame = stacks.frame(stacks.leaf(place));
    if (IsOfPython(frame)) return place;
    if (!IsOfInterpreter(trace_.Name(frame.module))) break;
  }
  return model::kEmptyStack;
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
  const model::StackTable& stacks = trace_.stacks();
  return std::string(
      trace_.Name(stacks.frame(stacks.leaf(NamedCaller(caller))).function));
}

std::string WaitPlaces::OfOther(StackId stack) {
  if (stack == model::kEmptyStack || IsInInterpreter(stack)) return "[unknown]";
  return Of(stack);
}

std::string ObjectName(const Trace& trace, WaitKind kind, uint64_t object,
                       model::NameId name) {
  const std::string text(trace.Name(name));
  if (object == 0) return text;
  const bool is_address =
      kind == WaitKind::kLock || kind == WaitKind::kCondition;
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

}  // namespace kymo::analysis
