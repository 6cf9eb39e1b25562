#include "profiler/symbolize/stripped/debuginfod.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <type_traits>

#include "profiler/base/clock.h"
#include "profiler/base/time.h"

namespace kymo::symbolize {
namespace {

constexpr DurationNs kMostNs = 60 * kNsPerSecond;

// What questions took so far, and when the one that is asked now has to end.
DurationNs spent_ns = 0;
int64_t deadline_ns = 0;

struct Client;

// The client asks this often while it waits; other than 0 ends the question.
int IsTooLate(Client* /*client*/, long /*done*/, long /*all*/) {
  return MonotonicNs() > deadline_ns ? 1 : 0;
}

// The functions of libdebuginfod, as its header declares them.
struct Library {
  Library() {
    void* const handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return;
    const auto load = [&](const char* name, auto& function) {
      using Function = std::remove_reference_t<decltype(function)>;
      function = reinterpret_cast<Function>(dlsym(handle, name));
      return function != nullptr;
    };
    is_there = load("debuginfod_begin", begin) && load("debuginfod_end", end) &&
               load("debuginfod_set_progressfn", set_progress) &&
               load("debuginfod_find_debuginfo", find);
  }

  Client* (*begin)() = nullptr;
  void (*end)(Client*) = nullptr;
  void (*set_progress)(Client*, int (*)(Client*, long, long)) = nullptr;
  int (*find)(Client*, const unsigned char*, int, char**) = nullptr;
  bool is_there = false;
};

// No thread waits for another one that looks: see
// profiler/library/first_use_test.sh. The loader counts how often it loads.
const Library& FindLibrary() {
  static constinit std::atomic<const Library*> found{nullptr};
  const Library* library = found;
  if (library == nullptr) found = library = new Library();
  return *library;
}

}  // namespace

OwnedDescriptor FindByDebuginfod(const std::string& build_id) {
  const char* const urls = std::getenv("DEBUGINFOD_URLS");
  if (urls == nullptr || *urls == '\0' || build_id.empty() ||
      spent_ns >= kMostNs) {
    return {};
  }
  const Library& library = FindLibrary();
  Client* const client = library.is_there ? library.begin() : nullptr;
  if (client == nullptr) return {};
  const int64_t begin_ns = MonotonicNs();
  deadline_ns = begin_ns + kMostNs - spent_ns;
  library.set_progress(client, IsTooLate);
  OwnedDescriptor file(library.find(
      client, reinterpret_cast<const unsigned char*>(build_id.data()),
      static_cast<int>(build_id.size()), nullptr));
  library.end(client);
  spent_ns += MonotonicNs() - begin_ns;
  return file;
}

}  // namespace kymo::symbolize
