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
  EXPECT_EQ(places.Of(own), "Call(main::{lambda()#1})");
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
  EXPECT_TRUE(places.At(loop).is_of_interpreter);
  EXPECT_EQ(places.OfCaller(call), "share (a.py:8)");
  EXPECT_EQ(places.OfCaller(loop), "Py_RunMain");
  EXPECT_EQ(places.OfCaller(blas), "Solve");
  EXPECT_FALSE(places.At(lock).is_of_interpreter);
}

// Each takes its locks in one function, which says nothing.
TEST(WaitNamesTest, LocksOfLibrariesAreNotThePlace) {
  TestTrace t;
  const auto node =
      t.Stack({"clone3", "PlatformWorkerThread(void*)", "uv_cond_wait"});
  const auto qt = t.Stack({"Load()", "QMutex::lock()"});
  const auto go = t.Stack({"main.main", "os.(*File).Sync", "syscall.Fsync",
                           "runtime/internal/syscall.Syscall6"});
  const auto alone = t.Stack({"uv_mutex_lock"});
  const model::Trace trace = std::move(t).Build();
  WaitPlaces places(trace);
  EXPECT_EQ(places.Of(node), "PlatformWorkerThread(void*)");
  EXPECT_EQ(places.Of(qt), "Load()");
  EXPECT_EQ(places.Of(go), "main.main");
  EXPECT_EQ(places.Of(alone), "uv_mutex_lock");
}

TEST(WaitNamesTest, OfAVirtualMachineTheFunctionThatItCompiledCounts) {
  TestTrace t;
  const auto in = [&](model::StackId parent, const char* module,
                      std::initializer_list<const char*> functions) {
    for (const char* const function : functions) {
      parent = t.data().stacks.Push(
          parent, t.data().stacks.AddFrame({.function = t.Intern(function),
                                            .module = t.Intern(module)}));
    }
    return parent;
  };
  constexpr char kJava[] = "/usr/lib/jvm/java-17/lib/server/libjvm.so";
  constexpr char kNode[] = "/usr/bin/node";
  constexpr char kJit[] = "[jit]";
  const auto run = in(model::kEmptyStack, kJava, {"JavaCalls::call()"});
  const auto shared = in(run, kJit, {"StubRoutines (1)", "void T.share()"});
  const auto monitor =
      in(shared, kJava,
         {"SharedRuntime::monitor_enter_helper()", "ObjectMonitor::EnterI()",
          "os::PlatformEvent::park()"});
  const auto queue = in(in(shared, kJit,
                           {"void java.util.concurrent.locks.Lock.park()",
                            "void jdk.internal.misc.Unsafe.park()"}),
                        kJava, {"Unsafe_Park", "Parker::park()"});
  const auto of_library =
      in(in(run, kJit, {"Interpreter", "void jdk.internal.misc.Unsafe.park()"}),
         kJava, {"Unsafe_Park"});
  const auto interpreted =
      in(in(shared, kJit, {"Interpreter"}), kJava,
         {"InterpreterRuntime::monitorenter()", "ObjectMonitor::EnterI()"});
  const auto script = in(in(model::kEmptyStack, kJit, {"locked"}), kNode,
                         {"v8::internal::Runtime::Wait()"});
  const auto unknown = in(in(model::kEmptyStack, kJit, {"main"}), kNode,
                          {"Builtins_InterpreterEntryTrampoline", "Wait()"});
  const auto library = in(shared, "/usr/lib/libsqlite3.so", {"Step"});
  const model::Trace trace = std::move(t).Build();
  WaitPlaces places(trace);
  EXPECT_EQ(places.Of(monitor), "void T.share()");
  EXPECT_EQ(places.At(monitor).module, "[jit]");
  EXPECT_EQ(places.Of(queue), "void T.share()");
  EXPECT_EQ(places.Of(of_library), "void jdk.internal.misc.Unsafe.park()");
  EXPECT_EQ(places.Of(interpreted), "InterpreterRuntime::monitorenter()");
  EXPECT_EQ(places.Of(script), "locked");
  EXPECT_EQ(places.Of(unknown), "Wait()");
  EXPECT_EQ(places.Of(library), "Step");
}

TEST(WaitNamesTest, TheKernelsPartOfTheCLibraryIsNotTheProgram) {
  TestTrace t;
  const auto burn = t.Stack({"main", "Burn()"});
  const auto clock = t.data().stacks.Push(
      burn, t.data().stacks.AddFrame({.function = t.Intern("vdso_clock"),
                                      .module = t.Intern("[vdso]")}));
  const model::Trace trace = std::move(t).Build();
  EXPECT_EQ(WaitPlaces(trace).Of(clock), "Burn()");
}

// A dynamic program may have functions of its own with these names.
TEST(WaitNamesTest, CallsOfAStaticLibraryAreNotTheProgram) {
  TestTrace t;
  const auto wait = t.Stack({"main", "WaitEpoll()", "epoll_wait"});
  const auto lock = t.Stack({"main", "Lock()", "flock"});
  const auto read =
      t.Stack({"main", "Load()", "fread", "_IO_file_xsgetn", "__read"});
  const auto own = t.data().stacks.Push(
      t.Stack({"main", "send"}),
      t.data().stacks.AddFrame({.function = t.Intern("send"),
                                .module = t.Intern("/usr/lib/libc.so.6")}));
  const model::Trace trace = std::move(t).Build();
  WaitPlaces places(trace);
  EXPECT_EQ(places.Of(wait), "WaitEpoll()");
  EXPECT_EQ(places.Of(lock), "Lock()");
  EXPECT_EQ(places.Of(read), "Load()");
  EXPECT_EQ(places.Of(own), "send");
}

TEST(WaitNamesTest, LambdasHaveTheNamesOfTheirThreadsOrCallers) {
  TestTrace t;
  const auto run = [](const std::string& of) {
    return "std::thread::_State_impl<std::thread::_Invoker<std::tuple<" + of +
           "> > >::_M_run()";
  };
  const auto thread = t.Stack({run("main::{lambda()#3}"), "operator()"});
  const auto nested =
      t.Stack({run("ns::Pool<int>::Start(int) const::{lambda(int)#2}, int"),
               "void std::__invoke_impl<void, int>(int)", "operator()"});
  const auto without_debug_information = t.Stack({run("main::{lambda()#1}")});
  const auto function = t.Stack({run("void (*)()")});
  const auto called = t.Stack({"main", "Retry()", "operator()"});
  const auto at_line = t.data().stacks.Push(
      model::kEmptyStack,
      t.data().stacks.AddFrame({.function = t.Intern("operator()"),
                                .file = t.Intern("/src/locks.cc"),
                                .line = 41}));
  const auto bare = t.Stack({"operator()"});
  const model::Trace trace = std::move(t).Build();
  WaitPlaces places(trace);
  EXPECT_EQ(places.Of(thread), "main::{lambda()#3}");
  EXPECT_EQ(places.Of(nested),
            "ns::Pool<int>::Start(int) const::{lambda(int)#2}");
  EXPECT_EQ(places.Of(without_debug_information), "main::{lambda()#1}");
  EXPECT_EQ(places.Of(function), run("void (*)()"));
  EXPECT_EQ(places.Of(called), "Retry()");
  EXPECT_EQ(places.Of(at_line), "operator() (locks.cc:41)");
  EXPECT_EQ(places.Of(bare), "operator()");
}

TEST(WaitNamesTest, APlaceHasItsModule) {
  TestTrace t;
  const auto a = t.Stack({"main", "Serve()"}, "/srv/a");
  const auto b = t.Stack({"main", "Serve()"}, "/srv/b");
  const model::Trace trace = std::move(t).Build();
  WaitPlaces places(trace);
  EXPECT_EQ(places.At(a).module, "a");
  EXPECT_EQ(places.At(b).module, "b");
  EXPECT_EQ(places.At(b).name, "Serve()");
}

// Samples hit many lines and functions below the one that has the lock.
TEST(WaitNamesTest, AHolderIsOneRow) {
  TestTrace t;
  const auto main = t.AddThread(7, 7, "main");
  const auto worker = t.AddThread(7, 8, "worker");
  t.SetThreadTimes({{.track = main, .wall_ns = 1000}});
  const auto in = [&](model::StackId parent, const char* function,
                      const char* module, uint32_t line) {
    return t.data().stacks.Push(
        parent, t.data().stacks.AddFrame({.function = t.Intern(function),
                                          .module = t.Intern(module),
                                          .line = line}));
  };
  const auto add = [&](TimeNs begin_ns, model::TrackIndex holder,
                       model::StackId stack) {
    t.AddWait({.track = main,
               .kind = WaitKind::kLock,
               .begin_ns = begin_ns,
               .duration_ns = 10,
               .object = 31,
               .holder = holder,
               .holder_stack = stack});
  };
  const auto holder = t.Stack({"LongHolder()"});
  for (uint32_t line = 1; line < 5; ++line) {
    const auto burn = in(holder, "Burn()", "/bin/app", line);
    add(20 * line, worker,
        line < 3 ? burn : in(burn, "clock_gettime", "/lib/libc.so.6", line));
  }
  add(200, worker, t.Stack({"Other()", "Burn()"}));
  add(300, worker, model::kEmptyStack);
  // Nobody knows the function of Python.
  add(400, worker,
      in(model::kEmptyStack, "PyThread_release_lock", "/usr/bin/python3.11",
         1));
  add(500, model::kNoTrack, model::kEmptyStack);
  const model::Trace trace = std::move(t).Build();
  WaitPlaces places(trace);
  std::vector<std::string> rows;
  for (const HolderPlace& row :
       HoldersByPlace(trace, places, WaitsByLock(trace)[0])) {
    rows.push_back(row.name + ": " + std::to_string(row.count) + " of " +
                   std::to_string(row.duration_ns));
  }
  EXPECT_EQ(rows, (std::vector<std::string>{
                      "Burn(): 4 of 40", "thread worker: 2 of 20",
                      "Burn(): 1 of 10", "[unknown]: 1 of 10"}));
}

TEST(WaitNamesTest, ObjectsHaveTheNumbersThatUsersKnow) {
  TestTrace t;
  const model::NameId name = t.Intern("x");
  const model::NameId file = t.Intern("/run/lock");
  const model::Trace trace = std::move(t).Build();
  const auto text = [&](WaitKind kind, uint64_t object, model::NameId of) {
    return ObjectName(trace, kind, object, of);
  };
  EXPECT_EQ(text(WaitKind::kLock, 31, name), "0x1f x");
  EXPECT_EQ(text(WaitKind::kCondition, 31, model::kEmptyName), "0x1f");
  EXPECT_EQ(text(WaitKind::kLock, 31, file), "31 /run/lock");
  EXPECT_EQ(text(WaitKind::kRead, 31, name), "31 x");
  EXPECT_EQ(text(WaitKind::kOther, 0, name), "x");
  EXPECT_EQ(LockName(trace, 0, model::kEmptyName), "[unknown]");
}

}  // namespace
}  // namespace kymo::analysis
