// program_streams.h - the standard streams of programs that are measured.
//
//   ProgramStreams streams;
//   KYMO_RETURN_IF_ERROR(streams.Make());
//   ... run a program with streams.fds() ...
//   streams.Drain();   // what it printed is on our own streams
//
// A program allocates and writes differently for a terminal, a file and a pipe.
// So all that are measured get pipes, whatever this command has. A thread
// copies what they print to this command's standard output and error. Instead
// of a terminal they read /dev/null.
//
// The pipes last as long as this object: a process that a program leaves behind
// can go on printing.
//
// Threads: one call at a time.
#ifndef KYMO_TOOLS_GATE_COMMAND_PROGRAM_STREAMS_H_
#define KYMO_TOOLS_GATE_COMMAND_PROGRAM_STREAMS_H_

#include <array>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "profiler/base/owned_descriptor.h"

namespace kymo::tools {

// Standard input, output and error of a child.
using StreamDescriptors = std::array<int, 3>;
inline constexpr StreamDescriptors kOwnStreams = {0, 1, 2};
// What a program prints is not what the command prints.
inline constexpr StreamDescriptors kOutputToError = {0, 2, 2};

// In a child, before its exec.
void TakeStreams(const StreamDescriptors& streams);

class ProgramStreams {
 public:
  ProgramStreams() = default;
  ProgramStreams(const ProgramStreams&) = delete;
  ProgramStreams& operator=(const ProgramStreams&) = delete;
  ~ProgramStreams();

  absl::Status Make();
  const StreamDescriptors& fds() const { return fds_; }

  // Returns when everything that was printed so far is copied.
  void Drain();

 private:
  void Copy();
  bool IsEmpty() const;

  StreamDescriptors fds_ = kOwnStreams;
  OwnedDescriptor nothing_;              // /dev/null
  std::array<OwnedDescriptor, 2> read_;  // ends of pipes: output, error
  std::array<OwnedDescriptor, 2> write_;
  OwnedDescriptor stop_read_, stop_write_;
  std::mutex copying_;
  std::thread copier_;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_GATE_COMMAND_PROGRAM_STREAMS_H_
