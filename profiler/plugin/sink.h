// sink.h - write the files of an exporter, each complete or not at all.
//
//   kymo::OutputDirectory out("profile");
//   absl::StatusOr<std::unique_ptr<kymo::ByteSink>> sink = out.Open("a.json");
//   if (!sink.ok()) return sink.status();
//   absl::Status status = (*sink)->Append("{}");
//   if (status.ok()) status = (*sink)->Commit();   // now a.json exists
//   return status;
//
// Bytes go to a temporary file in the same folder. Commit flushes the file and
// gives it its name. A sink that is destroyed without Commit leaves nothing.
//
// Threads: one call at a time on one sink. Any number on a folder.
// Errors:  a full disk is kResourceExhausted; any other error has the code of
//   the errno. The message names the file. After an error every further call
//   returns the same error.
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

// A destination of bytes.
class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  virtual absl::Status Append(std::string_view bytes) = 0;
  // Makes the bytes visible. The last call, at most once.
  virtual absl::Status Commit() = 0;
};

// A sink that appends to a string. The caller owns the string.
std::unique_ptr<ByteSink> NewStringSink(std::string* out);

// A sink that makes a file on Commit, in place of an existing regular file. If
// the name belongs to anything else (a folder, a device), kFailedPrecondition.
absl::StatusOr<std::unique_ptr<ByteSink>> NewFileSink(const std::string& path);

// A sink that compresses with gzip and appends to `base`, at about 2 GB/s. It
// owns `base` and commits it. The output has one member without a time, so
// equal input gives equal bytes.
std::unique_ptr<ByteSink> NewGzipSink(std::unique_ptr<ByteSink> base);

// A folder that exporters write files into. The first Open makes it.
class OutputDirectory {
 public:
  explicit OutputDirectory(std::string path) : path_(std::move(path)) {}
  virtual ~OutputDirectory() = default;

  // Opens a new file. `name` is relative and may have slashes; missing folders
  // are made.
  virtual absl::StatusOr<std::unique_ptr<ByteSink>> Open(std::string_view name);

  // Removes a committed file, for an exporter of several files that cannot
  // write the next one. It is no error if the file does not exist.
  virtual void Remove(std::string_view name) noexcept;

  // Makes the folder now and checks that files can be made in it.
  absl::Status CheckWritable();

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_SINK_H_
