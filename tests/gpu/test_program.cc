// test_program.cc - a program with operations that launch on a device which
// backends/cupti/test_libcupti.cc plays.
//
//   test_program guest             loads the library that is to be injected, as
//                                  libcuda does
//   test_program host FOLDER SAVED records itself; tables and traces go to
//                                  FOLDER, what CUPTI said to SAVED
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "kymo/profile.h"
#include "kymo/record_function.h"

namespace {

// A function of the libcupti that Kymo has loaded; null if there is none.
template <typename F>
F* Scripted(const char* name) {
  void* const cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (cupti == nullptr) return nullptr;
  return reinterpret_cast<F*>(dlsym(cupti, name));
}

void MatMul(int launches) {
  const kymo::RecordFunction op("aten::mm");
  const auto launch = Scripted<void(const char*)>("kymo_test_launch");
  for (int i = 0; i < launches; ++i) launch("_Z6matmulPKfS0_Pf");
}

bool Work() {
  if (Scripted<void()>("kymo_test_launch") == nullptr) return false;
  for (int step = 0; step < 3; ++step) {
    const kymo::RecordFunction annotation("step",
                                          kymo::RecordScope::kUserScope);
    {
      const kymo::RecordFunction op("aten::copy_");
      Scripted<void(uint64_t)>("kymo_test_copy")(4096);
    }
    {
      const kymo::RecordFunction op("aten::linear");
      MatMul(2);
    }
    Scripted<void()>("kymo_test_wait")();
  }
  std::thread([] { MatMul(1); }).join();
  return true;
}

int RunAsGuest() {
  void* const library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
  if (library == nullptr) return 3;
  const auto initialize =
      reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize == nullptr || initialize() != 1) return 4;
  return Work() ? 0 : 5;
}

int RunAsHost(const std::string& folder, const std::string& saved) {
  kymo::Profile profile(
      {.activities = {"cpu", "cuda"},
       .experimental_config = {.profile_all_threads = true},
       .settings = {{"cuda_device_check", "0"}, {"cuda_save", saved}}});
  absl::Status status = profile.Start();
  if (status.ok() && !Work()) return 5;
  status.Update(profile.Stop());
  if (status.ok()) {
    std::ofstream(folder + "/key_averages.txt")
        << profile.key_averages().table();
    for (const char* const exporter : {"chrome", "summary", "tensorboard"}) {
      status.Update(profile.Export(exporter, folder).status());
    }
  }
  if (!status.ok()) fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "guest") == 0) return RunAsGuest();
  if (argc == 4 && strcmp(argv[1], "host") == 0) {
    return RunAsHost(argv[2], argv[3]);
  }
  return 2;
}
