// two_sessions.cc - a program that records itself, twice, with work of the
// device in flight when a recording ends.
//
//   two_sessions FOLDER
//
// writes FOLDER/1/trace.json and FOLDER/2/trace.json, and says how many kernels
// each has to have. CUDA is used through the driver alone, so that no toolkit
// is needed to build it. Exit 77: there is no device.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "kymo/profile.h"
#include "kymo/record_function.h"

namespace {

// Takes about `cycles` of the device's clock.
constexpr char kSpin[] = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry spin(.param .u64 cycles)
{
  .reg .u64 %wanted, %begin, %now, %taken;
  .reg .pred %again;
  ld.param.u64 %wanted, [cycles];
  mov.u64 %begin, %clock64;
LOOP:
  mov.u64 %now, %clock64;
  sub.u64 %taken, %now, %begin;
  setp.lt.u64 %again, %taken, %wanted;
  @%again bra LOOP;
  ret;
}
)";

constexpr int kLaunches = 200;
constexpr uint64_t kCycles = 200'000;  // 0.1 ms, so that 20 ms are in flight

void* Driver() {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver;
}

template <typename... Args>
void Call(const char* name, Args... args) {
  auto* const function =
      reinterpret_cast<int (*)(Args...)>(dlsym(Driver(), name));
  const int status = function == nullptr ? -1 : function(args...);
  if (status == 0) return;
  fprintf(stderr, "%s: %d\n", name, status);
  exit(1);
}

bool HasDevice() {
  if (Driver() == nullptr) return false;
  const auto init =
      reinterpret_cast<int (*)(unsigned)>(dlsym(Driver(), "cuInit"));
  return init != nullptr && init(0) == 0;
}

// The device's primary context, and a function of it.
void* LoadSpin() {
  int device = 0;
  void *context = nullptr, *module = nullptr, *function = nullptr;
  Call("cuDeviceGet", &device, 0);
  Call("cuDevicePrimaryCtxRetain", &context, device);
  Call("cuCtxSetCurrent", context);
  Call("cuModuleLoadData", &module, static_cast<const void*>(kSpin));
  Call("cuModuleGetFunction", &function, module, "spin");
  return function;
}

void Launch(void* function) {
  const kymo::RecordFunction op("spin_op");
  uint64_t cycles = kCycles;
  void* parameters[] = {&cycles};
  void* const no_stream = nullptr;
  void** const no_extra = nullptr;
  Call("cuLaunchKernel", function, 1u, 1u, 1u, 32u, 1u, 1u, 0u, no_stream,
       &parameters[0], no_extra);
}

absl::Status Record(void* function, const std::string& folder) {
  std::filesystem::create_directories(folder);
  kymo::Profile profile({.activities = {"cpu", "cuda"}});
  absl::Status status = profile.Start();
  if (!status.ok()) return status;
  for (int i = 0; i < kLaunches; ++i) Launch(function);
  status = profile.Stop();
  for (const char* const exporter : {"chrome", "summary"}) {
    status.Update(profile.Export(exporter, folder).status());
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (!HasDevice()) {
    fprintf(stderr, "no CUDA device\n");
    return 77;
  }
  void* const function = LoadSpin();
  for (const char* const part : {"/1", "/2"}) {
    const absl::Status status = Record(function, std::string(argv[1]) + part);
    if (status.ok()) continue;
    fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  printf("{\"kernels\": {\"spin\": %d}}\n", kLaunches);
  return 0;
}
