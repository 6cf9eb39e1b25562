#include <dlfcn.h>
#include <gtest/gtest.h>

#include "backends/sampling/unwind/test_own_stack.h"
#include "backends/sampling/unwind/unwinder.h"
#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/process_mappings.h"

namespace kymo::sampling {
namespace {

void Capture(void* result) {
  *static_cast<OwnStack*>(result) = CaptureOwnStack(size_t{512} << 10);
}

TEST(GreenletTest, AStackEndsWhereAGreenletBegins) {
  void* const library =
      dlopen("backends/sampling/unwind/_greenlet.test.so", RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  using Run = void(void (*)(void*), void*);
  const auto run = reinterpret_cast<Run*>(dlsym(library, "RunInTestGreenlet"));
  ASSERT_NE(run, nullptr);
  OwnStack own;
  run(Capture, &own);

  symbolize::ModuleTable modules;
  symbolize::AddressSpace space;
  symbolize::AddOwnMappings(modules, space);
  UnwoundStack stack;
  Unwinder(&modules).Unwind(space, own.registers, own.copy(),
                            /*copy_was_cut=*/true, &stack);
  EXPECT_EQ(stack.end, StackEnd::kComplete);
  ASSERT_GT(stack.frames.size(), 1u);
  const auto name = [&](size_t i) {
    return modules.module(stack.frames[i].module).short_name();
  };
  EXPECT_EQ(name(stack.frames.size() - 1), "_greenlet.test.so");
  EXPECT_NE(name(stack.frames.size() - 2), "_greenlet.test.so");
}

}  // namespace
}  // namespace kymo::sampling
