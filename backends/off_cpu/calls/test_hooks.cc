// test_hooks - the hooks as the preloaded runtime has them: a library of their
// own, without a C++ library.
#include "backends/off_cpu/target/real_calls.h"
#include "backends/off_cpu/target/wait_writer.h"

[[gnu::constructor]] static void Load() {
  kymo::off_cpu::FindRealCalls();
  kymo::off_cpu::JoinWaitRing();
}
