// output_file.h - a text file, written through a stream.
//
//   return WriteOutputFile(path, [&](std::ostream& out) { out << "text\n"; });
#ifndef KYMO_PROFILER_EVENTS_OUTPUT_FILE_H_
#define KYMO_PROFILER_EVENTS_OUTPUT_FILE_H_

#include <functional>
#include <ostream>
#include <string>

#include "absl/status/status.h"

namespace kymo {

// Replaces the file. kUnavailable, with the path and the system's reason, if
// it cannot be opened or written; what is there then is incomplete.
absl::Status WriteOutputFile(const std::string& path,
                             const std::function<void(std::ostream&)>& write);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_OUTPUT_FILE_H_
