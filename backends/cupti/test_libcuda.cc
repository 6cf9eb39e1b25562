// test_libcuda.cc - a driver of two devices, the second with a primary context.
// It writes down its calls, one word for each.
#include <string>

namespace {

constexpr int kNotInitialized = 3;
bool is_initialized = false;
std::string said;
char primary, own;  // contexts are their addresses
void* current = nullptr;

int Say(const char* word) {
  said += said.empty() ? "" : " ";
  said += word;
  return 0;
}

}  // namespace

extern "C" {

const char* kymo_test_said() {
  static std::string last;
  last = said;
  said.clear();
  return last.c_str();
}
void kymo_test_make_current() { current = &own; }

int cuInit(unsigned) {
  is_initialized = true;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return is_initialized ? 0 : kNotInitialized;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal + 10;
  return 0;
}
int cuDevicePrimaryCtxGetState(int device, unsigned*, int* active) {
  *active = device == 11;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &primary;
  return Say("retain");
}
int cuDevicePrimaryCtxRelease_v2(int) { return Say("release"); }
int cuCtxGetCurrent(void** context) {
  *context = current;
  return 0;
}
int cuCtxPushCurrent_v2(void* context) {
  current = context;
  return Say("push");
}
int cuCtxPopCurrent_v2(void** context) {
  *context = current;
  current = nullptr;
  return Say("pop");
}
int cuCtxSynchronize() {
  return Say(current == &primary ? "wait(primary)" : "wait(own)");
}
int cuThreadExchangeStreamCaptureMode(int* mode) {
  static int set = 0;
  const int before = set;
  set = *mode;
  *mode = before;
  return Say(set == 2 ? "relaxed" : "global");
}

}  // extern "C"
