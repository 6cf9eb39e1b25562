// A driver and a runtime of CUDA that the test loads under their names, and
// tells what to answer. With TEST_RUNTIME it is the runtime.
extern "C" {

#ifdef TEST_RUNTIME
int test_runtime_waits = 0;
int cudaDeviceSynchronize() {
  ++test_runtime_waits;
  return 0;
}
#else
int test_current_error = 0;
void* test_context = nullptr;
int test_primary_error = 0;
int test_primary_active = 0;
int test_primary_device = -1;
int test_driver_waits = 0;

int cuCtxGetCurrent(void** context) {
  *context = test_context;
  return test_current_error;
}
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  test_primary_device = device;
  *flags = 0;
  *active = test_primary_active;
  return test_primary_error;
}
int cuCtxSynchronize() {
  ++test_driver_waits;
  return 0;
}
#endif
}
