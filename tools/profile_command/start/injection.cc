#include "tools/profile_command/start/injection.h"

#include <stdlib.h>

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"

namespace kymo::tools {
namespace {

absl::StatusOr<std::string> PathOf(const std::string& file,
                                   const FindLibrary& find) {
  std::string path = find(file);
  if (!path.empty()) return path;
  return absl::NotFoundError(
      absl::StrCat(file,
                   " is missing: it is neither in ../lib/kymo nor beside this "
                   "command; install Kymo again, or run it through Bazel"));
}

// A library stands before malloc only if the heap is to be watched.
absl::StatusOr<std::string> RuntimeOf(const TargetSetup& setup,
                                      const FindLibrary& find,
                                      std::span<const std::string> places) {
  KYMO_ASSIGN_OR_RETURN(const std::string runtime,
                        PathOf(setup.watches_heap ? "libkymo_runtime_memory.so"
                                                  : "libkymo_runtime.so",
                               find));
  return PreloadPath(runtime, places);
}

// The user's value of a variable.
std::string_view Given(const std::string& variable) {
  const char* const value = getenv(variable.c_str());
  return value == nullptr ? std::string_view() : value;
}

// Puts `option` before the user's options of a sanitizer, which win.
void AddOption(const std::string& variable, const std::string& option,
               Environment& environment) {
  const std::string others(Given(variable));
  environment[variable] =
      others.empty() ? option : absl::StrCat(option, ":", others);
}

// GCC's AddressSanitizer refuses to start if its library is not the first.
// ThreadSanitizer does not see how the runtime synchronises, because that is
// not instrumented. Programs without sanitizers do not read these variables.
void MakeRoomForSanitizers(const FindLibrary& find, Environment& environment) {
  AddOption("ASAN_OPTIONS", "verify_asan_link_order=0", environment);
  const std::string suppressions = find("tsan_suppressions.txt");
  if (suppressions.empty()) return;
  // In quotes, because blanks, commas and colons part options.
  AddOption("TSAN_OPTIONS", absl::StrCat("suppressions=\"", suppressions, "\""),
            environment);
}

}  // namespace

absl::StatusOr<Environment> EnvironmentFor(
    const TargetSetup& setup, const FindLibrary& find,
    std::span<const std::string> places) {
  Environment environment = setup.environment;
  KYMO_ASSIGN_OR_RETURN(const std::string runtime,
                        RuntimeOf(setup, find, places));
  std::string& preloads = environment[kPreloadVariable];
  preloads = runtime;
  std::vector<std::string> libraries = setup.preloads;
  for (const InjectedLibrary& library : setup.libraries) {
    if (library.variable != kPreloadVariable) continue;
    KYMO_ASSIGN_OR_RETURN(const std::string path, PathOf(library.file, find));
    libraries.push_back(path);
  }
  for (const std::string& library : libraries) {
    KYMO_ASSIGN_OR_RETURN(const std::string path, PreloadPath(library, places));
    absl::StrAppend(&preloads, ":", path);
  }
  const std::string others(Given(kPreloadVariable));
  if (!others.empty()) absl::StrAppend(&preloads, ":", others);
  MakeRoomForSanitizers(find, environment);
  for (const InjectedLibrary& library : setup.libraries) {
    if (library.variable == kPreloadVariable) continue;
    std::string path = runtime;
    if (!library.file.empty()) {
      KYMO_ASSIGN_OR_RETURN(path, PathOf(library.file, find));
    }
    const std::string_view other = Given(library.variable);
    if (!library.next_variable.empty() && !other.empty() && other != path) {
      environment[library.next_variable] = other;
    }
    environment[library.variable] = path;
  }
  return environment;
}

}  // namespace kymo::tools
