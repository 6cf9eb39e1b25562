// runtime_files.h - where the files of Kymo's runtime are.
//
//   const std::string path = FindRuntimeFile(self, "libkymo_runtime.so");
//   KYMO_ASSIGN_OR_RETURN(std::string preloaded,
//                         PreloadPath(path, LinkPlaces()));
//
// The loader splits LD_PRELOAD at spaces and colons, and expands `$`. A path
// with one of them is replaced by one through a link to the library's folder.
// The link stands in a folder that only this user can write to, such as
// /var/tmp/kymo-1000. It stays there: programs that outlive the command may
// start others, which preload the runtime by the same path. Some systems remove
// files from these folders after a month or so. To record a program for longer,
// install Kymo in a path without these characters.
//
// Threads: any; also several processes at a time.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_START_RUNTIME_FILES_H_
#define KYMO_TOOLS_PROFILE_COMMAND_START_RUNTIME_FILES_H_

#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace kymo::tools {

// This program's file, which `link` leads to. kFailedPrecondition where it
// cannot be read, as without /proc.
absl::StatusOr<std::string> OwnPath(const std::string& link = "/proc/self/exe");

// The path of the runtime's file `name`; empty if it is missing. `self` is the
// program that needs it, as an absolute path: installed (bin/kymo, with
// lib/kymo beside bin), beside the file, in Bazel's output tree, or with
// runfiles.
std::string FindRuntimeFile(const std::string& self, const std::string& name);

// The folders in which links may stand, best first.
std::span<const std::string> LinkPlaces();

// A path of the library `path` that the loader can preload.
// kFailedPrecondition if no link can be made in any of `places`.
absl::StatusOr<std::string> PreloadPath(const std::string& path,
                                        std::span<const std::string> places);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_START_RUNTIME_FILES_H_
