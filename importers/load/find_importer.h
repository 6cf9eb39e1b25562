// find_importer.h - finds the importer of a file by the file's first bytes.
//
//   KYMO_ASSIGN_OR_RETURN(const TraceImporter* importer,
//                         FindImporter("trace.json.gz", registry));
//
// The name of a file proves nothing: a trace.json.gz may be plain JSON.
//
// Errors: kNotFound, kPermissionDenied and the like: the file cannot be read.
//         kInvalidArgument: no importer knows it; the message has the first
//         bytes and the names of the importers.
#ifndef KYMO_IMPORTERS_LOAD_FIND_IMPORTER_H_
#define KYMO_IMPORTERS_LOAD_FIND_IMPORTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "profiler/plugin/registry.h"

namespace kymo {

// Up to 64 KiB of the file's beginning, unpacked if it is gzip.
absl::StatusOr<std::string> ReadFileHead(const std::string& path);

// The first importer, by name, that recognizes the file.
absl::StatusOr<const TraceImporter*> FindImporter(
    const std::string& path, const ImporterRegistry& importers);

}  // namespace kymo

#endif  // KYMO_IMPORTERS_LOAD_FIND_IMPORTER_H_
