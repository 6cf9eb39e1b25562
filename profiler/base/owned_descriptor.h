// owned_descriptor.h - closes a file when its owner ends.
//
//   const OwnedDescriptor file(open(path, O_RDONLY | O_CLOEXEC));
//   if (!file.is_open()) return absl::ErrnoToStatus(errno, "could not open");
//   read(file.get(), ...);
//
// The descriptor is none of the standard streams (descriptor.h).
//
// Errors:  one that is not open, with errno of the caller's open() or of the
//   system's call.
// Threads: one call at a time; get() and is_open() from any.
#ifndef KYMO_PROFILER_BASE_OWNED_DESCRIPTOR_H_
#define KYMO_PROFILER_BASE_OWNED_DESCRIPTOR_H_

#include <unistd.h>

#include <string>
#include <utility>

#include "profiler/base/descriptor.h"

namespace kymo {

class OwnedDescriptor {
 public:
  OwnedDescriptor() = default;
  explicit OwnedDescriptor(int fd) : fd_(AboveStandardStreams(fd)) {}
  OwnedDescriptor(OwnedDescriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~OwnedDescriptor() {
    if (is_open()) close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }  // negative: none

 private:
  int fd_ = -1;
};

// A new file for reading and writing that is in `folder` but has no name there,
// so it is gone when it is closed.
OwnedDescriptor MakeUnnamedFile(const std::string& folder);

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_OWNED_DESCRIPTOR_H_
