#include "backends/cupti/cuda_driver.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

namespace kymo::cupti {
namespace {

// One test for all cases, since the driver gets loaded in the course of them.
TEST(CudaDriverTest, WaitsInContextsThatThereAreAndMakesNone) {
  const CudaDriver& driver = LoadedCudaDriver();
  EXPECT_FALSE(driver.is_up()) << "there is none";
  driver.wait();

  void* const library = dlopen(getenv("KYMO_TEST_CUDA"), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto said =
      reinterpret_cast<const char* (*)()>(dlsym(library, "kymo_test_said"));
  EXPECT_FALSE(driver.is_up()) << "nobody has called cuInit";
  driver.wait();
  EXPECT_STREQ(said(), "");

  reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"))(0);
  EXPECT_TRUE(driver.is_up());
  driver.wait();
  EXPECT_STREQ(said(), "relaxed retain push wait(primary) pop release global");

  reinterpret_cast<void (*)()>(dlsym(library, "kymo_test_make_current"))();
  driver.wait();
  EXPECT_STREQ(said(),
               "relaxed wait(own) retain push wait(primary) pop release "
               "global");
}

}  // namespace
}  // namespace kymo::cupti
