// sink.h - where an exporter's bytes go.
//
//   OutputDirectory out("profile");
//   KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, out.Open("a.json"));
//   KYMO_RETURN_IF_ERROR(sink->Append("{}"));
//   return sink->Commit();                     // now a.json exists, complete
//
// A file appears under its name only when it is complete: bytes go to a
// temporary name beside it, Commit flushes and renames. A sink that is
// destroyed without Commit leaves nothing.
//
// Errors:  a full disk is kResourceExhausted, everything else the errno's
//          canonical code; the message names the file. After an error every
//          further call returns it again.
// Threads: one at a time per sink.
#ifndef KYMO_PROFILER_PLUGIN_SINK_H_
#define KYMO_PROFILER_PLUGIN_SINK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kymo {

class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  virtual absl::Status Append(std::string_view bytes) = 0;
  // Makes what was appended visible. At most once, last.
  virtual absl::Status Commit() = 0;
};

// Appends to a string that the caller owns.
std::unique_ptr<ByteSink> NewStringSink(std::string* out);

// A file, created on Commit; replaces an existing regular file. Anything else
// of that name (a folder, a device) is kFailedPrecondition.
absl::StatusOr<std::unique_ptr<ByteSink>> NewFileSink(const std::string& path);

// Compresses into `base`, which it owns and commits: gzip of one member that
// carries no time, so that equal input gives equal bytes. About 2 GB/s.
std::unique_ptr<ByteSink> NewGzipSink(std::unique_ptr<ByteSink> base);

// A folder that exporters write files into; made on the first Open.
class OutputDirectory {
 public:
  explicit OutputDirectory(std::string path) : path_(std::move(path)) {}
  virtual ~OutputDirectory() = default;

  // `name` is relative and may hold slashes; its folders are made.
  virtual absl::StatusOr<std::unique_ptr<ByteSink>> Open(std::string_view name);

  // Takes a file away that was committed, for exporters of several files that
  // cannot write the next one. No error where there is none.
  virtual void Remove(std::string_view name) noexcept;

  // Makes the folder now and proves that files can be made in it.
  absl::Status CheckWritable();

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_SINK_H_
