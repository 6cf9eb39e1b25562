// A program that exports its names (-rdynamic), as programs with plugins do.
// The linker gives them to a library that holds a copy of Kymo of its own.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kymo/callbacks.h"
#include "kymo/record_function.h"

namespace kymo {
namespace {

TEST(ExportedNames, AProgramWithALibraryThatHoldsKymoForks) {
  void* const library =
      dlopen("profiler/callbacks/libtest_exported_names.so", RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto annotated =
      reinterpret_cast<void (*)()>(dlsym(library, "Annotated"));
  ASSERT_NE(annotated, nullptr);
  int calls = 0;
  const CallbackHandle handle =
      AddThreadLocalCallback(RecordFunctionCallback([&](const OperationView&) {
        ++calls;
        return nullptr;
      }));
  annotated();
  EXPECT_EQ(calls, 1) << "the library has the program's names";

  alarm(60);  // where the fork waits for itself
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    annotated();
    RemoveCallback(handle);
    _exit(calls);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  alarm(0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  RemoveCallback(handle);
  annotated();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace kymo
