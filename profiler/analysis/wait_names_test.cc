#include "profiler/analysis/wait_names.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::WaitKind;

TEST(WaitNamesTest, ThePlaceIsInTheProgram) {
  TestTrace t;
  const auto in = [&](const char* name, const char* module, bool is_kernel,
                      model::StackId parent) {
    return t.data().stacks.Push(
        parent, t.data().stacks.AddFrame({.function = t.Intern(name),
                                          .module = t.Intern(module),
                                          .is_kernel = is_kernel}));
  };
  const auto put = in("Put", "/bin/app", false, model::kEmptyStack);
  const auto libc = in("pthread_mutex_lock", "/usr/lib/libc.so.6", false, put);
  const auto futex = in("futex_wait", "[kernel]", true, libc);
  const auto clock = in("__vdso_clock_gettime", "[vdso]", false, put);
  const auto kernel = in("schedule", "[kernel]", true, model::kEmptyStack);
  const model::Trace trace = std::move(t).Build();
  WaitPlaces places(trace);
  EXPECT_EQ(places.Of(futex), "Put");
  EXPECT_EQ(places.Of(clock), "Put");
  EXPECT_EQ(places.Of(libc), "Put");
  EXPECT_EQ(places.Of(kernel), "schedule");
  EXPECT_EQ(places.Of(model::kEmptyStack), "[no stack]");
}

// Of a static program, and of what C++'s headers put into any program.
TEST(WaitNamesTest, ThePlaceIsNotOfTheRuntimeInTheProgramsFile) {
  TestTrace t;
  const auto stack_of = [&](std::initializer_list<const char*> functions) {
    model::StackId stack = model::kEmptyStack;
    for (const char* const function : functions) {
      stack = t.data().stacks.Push(
          stack, t.data().stacks.AddFrame({.function = t.Intern(function),
                                           .module = t.Intern("/bin/static")}));
    }
    return stack;
  };
  const auto lock =
      stack_of({"main", "Want", "__pthread_mutex_lock", "__lll_lock_wait"});
  const auto sleep = stack_of({"main", "usleep", "__clock_nanosleep"});
  const auto shared = stack_of({"Read()", "std::shared_mutex::lock_shared()",
                                "__glibcxx_rwlock_rdlock"});
  const auto yield = stack_of({"Spin()", "std::__detail::__thread_yield()"});
  const auto part = stack_of({"main", "__omp_outlined__", "__read"});
  const auto none = stack_of({"__libc_start_main", "__poll"});
  const auto plain = stack_of({"main", "WaitEpoll", "epoll_wait"});
  const model::Trace trace = std::move(t).Build();
  WaitPlaces places(trace);
  EXPECT_EQ(places.Of(lock), "Want");
  EXPECT_EQ(places.Of(sleep), "main");
  EXPECT_EQ(places.Of(shared), "Read()");
  EXPECT_EQ(places.Of(yield), "Spin()");
  EXPECT_EQ(places.Of(part), "__omp_outlined__");
  EXPECT_EQ(places.Of(none), "__poll");
  EXPECT_EQ(places.Of(plain), "WaitEpoll");
}

// An inlined lambda has no name of its own, but its caller's has it.
TEST(WaitNamesTest, LambdasAreToldApart) {
  TestTrace t;
  const auto thread_of = [&](const std::string& invoker) {
    const auto push = [&](model::StackId parent, std::string_view name) {
      return t.data().stacks.Push(
          parent, t.data().stacks.AddFrame({.function = t.Intern(name),
                                            .module = t.Intern("/bin/app")}));
    };
    auto stack = push(model::kEmptyStack, invoker);
    stack = push(stack, "_M_invoke<0>");
    stack = push(stack, "void std::__invoke_impl<void, F>(F&&)");
    return push(push(stack, "operator()"), "usleep");
  };
  const std::string run =
      "std::thread::_State_impl<std::thread::_Invoker<std::tuple<";
  const auto first = thread_of(run + "main::{lambda()#1}> > >::_M_run()");
  const auto other =
      thread_of(run +
                "(anonymous namespace)::Pool::Run(int, A<B>)::{lambda(int)#2}, "
                "int> > >::_M_run()");
  const auto own = thread_of("Call(main::{lambda()#1})");
  const model::Trace trace = std::move(t).Build();
  WaitPlaces places(trace);
  EXPECT_EQ(places.Of(first), "main::{lambda()#1}");
  EXPECT_EQ(places.Of(other),
            "(anonymous namespace)::Pool::Run(int, A<B>)::{lambda(int)#2}");
  EXPECT_EQ(places.Of(own), "operator()");
}

// As of Debian's programs, which have names of exported functions only.
TEST(WaitNamesTest, AFunctionWithoutANameIsItsCallers) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  t.SetThreadTimes({{.track = main, .wall_ns = 100}});
  TimeNs begin_ns = 0;
  const auto add = [&](std::initializer_list<std::string_view> frames) {
    t.AddWait({.track = main,
               .kind = WaitKind::kSleep,
               .begin_ns = begin_ns += 10,
               .duration_ns = 1},
              frames);
  };
  add({"aeMain", "redis+0x2", "redis+0x1"});
  add({"app+0x3", "app+0x2", "app+0x1"});
  add({"f", "a+0x5", "a+0x4", "a+0x3", "a+0x2"});
  const model::Trace trace = std::move(t).Build();
  WaitPlaces places(trace);
  std::vector<std::string> names;
  for (const model::Wait& wait : trace.thread_states()->waits) {
    names.push_back(places.Of(wait.stack));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"aeMain", "app+0x1", "a+0x2"}));
}

TEST(WaitNamesTest, OfTheInterpretersFunctionsTheOneOfPythonCounts) {
  TestTrace t;
  const auto in = [&](const char* name, const char* module,
                      model::StackId parent, const char* file = "") {
    return t.data().stacks.Push(
        parent, t.data().stacks.AddFrame({.function = t.Intern(name),
                                          .file = t.Intern(file),
                                          .module = t.Intern(module)}));
  };
  constexpr char kPython[] = "/usr/bin/python3.11";
  constexpr char kC[] = "/usr/lib/python3.11/lib-dynload/_queue.so";
  const auto loop = in("Py_RunMain", kPython, model::kEmptyStack);
  const auto share = in("share (a.py:8)", "/srv/a.py", loop, "/srv/a.py");
  const auto call = in("PyObject_Vectorcall", kPython, share);
  const auto lock = in("pthread_mutex_lock", "/lib/libc.so.6",
                       in("PyThread_acquire_lock_timed", kPython, call));
  const auto queue = in("sem_wait", "/lib/libc.so.6", in("get", kC, call));
  const auto blas = in("Solve", "/lib/libblas.so", call);
  const model::Trace trace = std::move(t).Build();
  WaitPlaces places(trace);
  EXPECT_EQ(places.Of(lock), "share (a.py:8)");
  EXPECT_EQ(places.Of(queue), "share (a.py:8)");
  EXPECT_EQ(places.Of(share), "share (a.py:8)");
  EXPECT_EQ(places.Of(blas), "Solve");
  EXPECT_EQ(places.Of(loop), "Py_RunMain");
  EXPECT_EQ(places.OfOther(loop), "[unknown]");
  EXPECT_EQ(places.OfOther(lock), "share (a.py:8)");
}

TEST(WaitNamesTest, ObjectsHaveTheNumbersThatUsersKnow) {
  TestTrace t;
  const model::NameId name = t.Intern("x");
  const model::Trace trace = std::move(t).Build();
  const auto text = [&](WaitKind kind, uint64_t object, model::NameId of) {
    return ObjectName(trace, kind, object, of);
  };
  EXPECT_EQ(text(WaitKind::kLock, 31, name), "0x1f x");
  EXPECT_EQ(text(WaitKind::kCondition, 31, model::kEmptyName), "0x1f");
  EXPECT_EQ(text(WaitKind::kRead, 31, name), "31 x");
  EXPECT_EQ(text(WaitKind::kOther, 0, name), "x");
  EXPECT_EQ(LockName(trace, 0, model::kEmptyName), "[unknown]");
}

}  // namespace
}  // namespace kymo::analysis
