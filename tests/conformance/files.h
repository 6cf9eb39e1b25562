// files.h - the files of a case: a folder, or an archive of one.
//
//   KYMO_ASSIGN_OR_RETURN(const Files files, ReadFolder("case"));
//   files.at("input.json") ...
#ifndef KYMO_TESTS_CONFORMANCE_FILES_H_
#define KYMO_TESTS_CONFORMANCE_FILES_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kymo::conformance {

using Files = std::map<std::string, std::string>;  // name -> content

// The files that stand directly in the folder.
absl::StatusOr<Files> ReadFolder(const std::string& path);

// Makes the folder if there is none.
absl::Status WriteFolder(const std::string& path, const Files& files);

// A .tar.gz of plain files (ustar), as in testdata/.
absl::StatusOr<Files> ReadArchive(const std::string& path);

}  // namespace kymo::conformance

#endif  // KYMO_TESTS_CONFORMANCE_FILES_H_
