// Replays a case of the reference data:
//
//   ./bazelw run //tests/conformance:replay -- CASE_DIR OUT_DIR
//
// CASE_DIR holds input.json, events.json or schedule.json; everything that can
// be computed from it is written into OUT_DIR, under the names of the reference
// data. Relative paths start where the command was called.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "profiler/base/status_macros.h"
#include "tests/conformance/files.h"
#include "tests/conformance/replay.h"

namespace kymo::conformance {
namespace {

// Bazel runs programs elsewhere and says where it was called.
std::string FromCaller(const std::string& path) {
  const char* const caller = std::getenv("BUILD_WORKING_DIRECTORY");
  if (caller == nullptr) return path;
  return std::filesystem::path(caller) / path;
}

absl::Status Run(const std::string& from, const std::string& to) {
  KYMO_ASSIGN_OR_RETURN(const Files input, ReadFolder(FromCaller(from)));
  KYMO_ASSIGN_OR_RETURN(const Files results, Replay(input));
  return WriteFolder(FromCaller(to), results);
}

}  // namespace
}  // namespace kymo::conformance

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: replay CASE_DIR OUT_DIR\n";
    return 2;
  }
  const absl::Status status = kymo::conformance::Run(argv[1], argv[2]);
  if (!status.ok()) std::cerr << "replay: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
