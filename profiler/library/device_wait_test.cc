#include "profiler/library/device_wait.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

namespace kymo::internal {
namespace {

void* Load(const std::string& name) {
  void* const library =
      dlopen(("profiler/library/libtest_" + name + ".so").c_str(), RTLD_NOW);
  EXPECT_NE(library, nullptr) << dlerror();
  return library;
}

template <typename T>
T& In(void* library, const char* name) {
  return *static_cast<T*>(dlsym(library, name));
}

// The order matters: what is loaded stays.
TEST(DeviceWaitTest, WaitsForADeviceThatIsInUse) {
  WaitForDevice();  // without any library there is nothing to do
  void* const driver = Load("driver");
  ASSERT_NE(driver, nullptr);
  int& waits = In<int>(driver, "test_driver_waits");
  const auto waits_with = [&](void* context, int error, int active,
                              int primary_error) {
    In<void*>(driver, "test_context") = context;
    In<int>(driver, "test_current_error") = error;
    In<int>(driver, "test_primary_active") = active;
    In<int>(driver, "test_primary_error") = primary_error;
    const int before = waits;
    WaitForDevice();
    return waits - before;
  };
  int context = 0;
  EXPECT_EQ(waits_with(nullptr, 0, 0, 0), 0);
  EXPECT_EQ(In<int>(driver, "test_primary_device"), 0);
  EXPECT_EQ(waits_with(&context, 0, 0, 0), 1);
  EXPECT_EQ(waits_with(nullptr, 0, 1, 0), 1);
  EXPECT_EQ(waits_with(nullptr, 0, 1, 3), 0) << "the driver does not say";
  EXPECT_EQ(waits_with(&context, 3, 1, 0), 0) << "the driver is not ready";
  EXPECT_EQ(waits_with(nullptr, 3, 1, 0), 0);
  // The runtime waits for all of the program's work, so it goes first.
  for (const char* const name : {"runtime_11", "runtime_12", "runtime_13"}) {
    void* const runtime = Load(name);
    ASSERT_NE(runtime, nullptr);
    const int& runtime_waits = In<int>(runtime, "test_runtime_waits");
    EXPECT_EQ(waits_with(&context, 0, 0, 0), 0) << name;
    EXPECT_EQ(runtime_waits, 1) << name;
    EXPECT_EQ(waits_with(nullptr, 0, 0, 0), 0) << name;
    EXPECT_EQ(runtime_waits, 1) << name;
  }
}

}  // namespace
}  // namespace kymo::internal
