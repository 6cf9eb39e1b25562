#include "profiler/analysis/wait_functions.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "profiler/model/string_table.h"

namespace kymo::analysis {
namespace {

TEST(WaitFunctionsTest, LocksConditionsAndSystemCallsAre) {
  for (const std::string_view function :
       {"pthread_mutex_lock",
        "__poll",
        "sem_wait",
        "clock_nanosleep",
        "uv_mutex_lock",
        "uv_cond_wait",
        "uv_sem_post",
        "caml_mutex_lock",
        "ethr_event_twait",
        "g_cond_wait_until",
        "QMutex::lock()",
        "QWaitCondition::wait(QMutex*, QDeadlineTimer)",
        "v8::base::ConditionVariable::Wait(v8::base::Mutex*)",
        "absl::lts_20220623::Mutex::Lock()",
        "os::PlatformEvent::park(long)",
        "void (anonymous namespace)::Mutex::Lock((anonymous namespace)::Why)",
        "bool boost::timed_mutex::lock()",
        "ObjectMonitor::EnterI(JavaThread*)",
        "LinuxWaitBarrier::wait(int)",
        "syscall.Syscall6",
        "internal/poll.(*FD).Fsync.func1",
        "os.(*File).Sync",
        "runtime.futexsleep",
        "runtime.notetsleep_internal"}) {
    EXPECT_TRUE(IsWaitFunction(function)) << function;
  }
}

TEST(WaitFunctionsTest, OthersOfTheProgramAreNot) {
  for (const std::string_view function :
       {"main", "Lock()", "Cache::Lock()", "Mutex::Mutex()", "lock",
        "mutex_owner", "Pool::Wait(std::mutex&)", "cond_wait_count",
        "(anonymous namespace)::Lock()", "Wait(ns::Mutex::lock)",
        "app::Monitor::Report()", "main.wait", "runtime.findRunnable",
        "posix.Run()"}) {
    EXPECT_FALSE(IsWaitFunction(function)) << function;
  }
}

TEST(WaitFunctionsTest, VirtualMachinesAreKnownByTheirFiles) {
  EXPECT_TRUE(IsVirtualMachine("/usr/lib/jvm/java-17/lib/server/libjvm.so"));
  EXPECT_TRUE(IsVirtualMachine("/usr/bin/node"));
  EXPECT_TRUE(IsVirtualMachine("/usr/lib/libnode.so.108"));
  EXPECT_FALSE(IsVirtualMachine("/usr/bin/nodemon"));
  EXPECT_FALSE(IsVirtualMachine("/usr/lib/jvm/java-17/lib/libjava.so"));
}

TEST(WaitFunctionsTest, NodeJsIsKnownByItsFunctions) {
  for (const auto& [function, is_node_js] :
       {std::pair("node::Start(int, char**)", false),
        {"v8::Isolate::Enter()", true},
        {"Builtins_JSEntry", true},
        {"kv8::Enter()", false},
        {"Node::Start()", false}}) {
    model::StringTable names;
    names.Intern("main");
    names.Intern(function);
    EXPECT_EQ(HasNodeJs(names), is_node_js) << function;
  }
}

TEST(WaitFunctionsTest, PythonIsKnownByItsFiles) {
  EXPECT_TRUE(IsPythonsFile("/usr/bin/python3.11"));
  EXPECT_TRUE(IsPythonsFile("/usr/lib/libpython3.11.so.1.0"));
  EXPECT_TRUE(IsPythonsFile("/usr/lib/python3.11/lib-dynload/_queue.so"));
  EXPECT_FALSE(IsPythonsFile("/srv/a.py"));
}

TEST(WaitFunctionsTest, JitFunctionsAreToldApartByTheirNames) {
  EXPECT_EQ(KindOfJitFunction("long T.fib(int)"), JitFunction::kProgram);
  EXPECT_EQ(KindOfJitFunction("handleRequest"), JitFunction::kProgram);
  EXPECT_EQ(KindOfJitFunction("void java.lang.Thread.sleep(long)"),
            JitFunction::kLibrary);
  EXPECT_EQ(KindOfJitFunction("void jdk.internal.misc.Unsafe.park(boolean)"),
            JitFunction::kLibrary);
  EXPECT_EQ(KindOfJitFunction("get size"), JitFunction::kProgram);
  EXPECT_EQ(KindOfJitFunction("_complete_monitor_locking_Java"),
            JitFunction::kStub);
  EXPECT_EQ(KindOfJitFunction("StubRoutines (1)"), JitFunction::kStub);
  EXPECT_EQ(KindOfJitFunction("vtable stub"), JitFunction::kStub);
  EXPECT_EQ(KindOfJitFunction("SafepointBlob"), JitFunction::kStub);
  EXPECT_EQ(KindOfJitFunction("Interpreter"), JitFunction::kInterpreter);
  EXPECT_EQ(KindOfJitFunction("[anon]"), JitFunction::kInterpreter);
}

}  // namespace
}  // namespace kymo::analysis
