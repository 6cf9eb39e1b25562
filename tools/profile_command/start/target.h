// target.h - from what the user typed to a program that can be started.
//
//   xz                  a program on the PATH
//   ./a.out, bin/x      a path, relative to where the user stood
//   //examples:foo      a Bazel label: built, then its executable
#ifndef KYMO_TOOLS_PROFILE_COMMAND_START_TARGET_H_
#define KYMO_TOOLS_PROFILE_COMMAND_START_TARGET_H_

#include <string>

#include "absl/status/statusor.h"

namespace kymo::tools {

struct Target {
  std::string word;  // argv[0] for it
  std::string path;  // absolute
  std::string name;  // last part of the path
};

// kNotFound (exit 127), kPermissionDenied (exit 126, it is no executable), or
// kFailedPrecondition when a label cannot be built; one line each.
absl::StatusOr<Target> FindTarget(const std::string& word);

// Why the kernel finds no file (ENOENT) when it is to run one that is there.
std::string MissingPart(const std::string& path);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_START_TARGET_H_
