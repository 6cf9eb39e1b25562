// target_setup.h - what a child needs before its exec.
//
//   kymo::TargetSetup setup;
//   setup.environment["KYMO_CUDA_LOG"] = "/tmp/log";
//   setup.libraries.push_back(
//       {.variable = "CUDA_INJECTION64_PATH", .file = "libkymo_cuda.so"});
//
// Sessions add to it in Prepare. The code that starts the child finds the
// libraries and sets the variables. Kymo's runtime is preloaded into every
// child; no session has to ask for it.
#ifndef KYMO_PROFILER_PLUGIN_TARGET_SETUP_H_
#define KYMO_PROFILER_PLUGIN_TARGET_SETUP_H_

#include <map>
#include <string>
#include <vector>

namespace kymo {

// Environment variables by name.
using Environment = std::map<std::string, std::string>;

// The variable by which the loader loads libraries at a program's start.
inline constexpr char kPreloadVariable[] = "LD_PRELOAD";

// A library of Kymo's that some code in the child loads, because a variable
// names its path. With kPreloadVariable the loader does, behind the runtime.
struct InjectedLibrary {
  std::string variable;
  std::string file;  // its name, without a folder; empty: the runtime
  // Gets the library that the user had named in `variable`; ours then calls it.
  // Empty: ours replaces it.
  std::string next_variable = {};
};

struct TargetSetup {
  Environment environment;
  std::vector<InjectedLibrary> libraries;
  // Absolute paths of libraries that the child also loads at its start. They
  // stand behind the runtime, and before what the user preloads.
  std::vector<std::string> preloads;
  // The runtime must also come before the child's allocator.
  bool watches_heap = false;
  // Why the child does not load the runtime ("is statically linked"), as words
  // that follow its name. Empty: it does.
  std::string obstacle;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_TARGET_SETUP_H_
