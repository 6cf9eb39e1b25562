#include "profiler/analysis/memory/runtime_memory.h"

#include <initializer_list>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

struct NamedFrame {
  std::string_view function;
  std::string_view module;
};

// The outermost frame first.
bool IsRuntime(std::initializer_list<NamedFrame> frames) {
  TestTrace t;
  model::StackId stack = model::kEmptyStack;
  for (const NamedFrame& frame : frames) {
    stack = t.data().stacks.Push(
        stack, t.data().stacks.AddFrame(
                   {.function = t.data().strings.Intern(frame.function),
                    .module = t.data().strings.Intern(frame.module)}));
  }
  const model::Trace trace = std::move(t).Build();
  return RuntimeMemory(trace).Has(stack);
}

constexpr char kLoader[] = "/usr/lib64/ld-linux-x86-64.so.2";
constexpr char kLibc[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";
constexpr char kCxx[] = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30";

TEST(RuntimeMemoryTest, WhatALibraryOfTheRuntimeTakesAtItsStart) {
  EXPECT_TRUE(IsRuntime(
      {{"_dl_init", kLoader}, {"call_init", kLoader}, {"pool", kCxx}}));
  EXPECT_FALSE(IsRuntime({{"_dl_init", kLoader},
                          {"call_init", kLoader},
                          {"Plugin::Plugin", "/opt/libplugin.so"},
                          {"std::string::_M_create", kCxx}}));
}

TEST(RuntimeMemoryTest, BuffersOfStreamsAndStorageOfThreads) {
  EXPECT_TRUE(IsRuntime(
      {{"main", "/bin/app"}, {"puts", kLibc}, {"_IO_file_doallocate", kLibc}}));
  EXPECT_TRUE(IsRuntime({{"main", "/bin/app"},
                         {"pthread_create", kLibc},
                         {"_dl_allocate_tls", kLoader},
                         {"calloc", kLoader}}));
}

TEST(RuntimeMemoryTest, WhatTheProgramAsksLibcForIsItsOwn) {
  EXPECT_FALSE(IsRuntime({{"main", "/bin/app"}, {"strdup", kLibc}}));
  EXPECT_FALSE(IsRuntime({}));
}

}  // namespace
}  // namespace kymo::analysis
