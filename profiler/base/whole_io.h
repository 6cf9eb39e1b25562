// whole_io.h - reads and writes all of a range of a file, or says why not.
//
//   if (!WriteWhole(fd, at, data, bytes)) {
//     return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
//   }
//
// pread and pwrite may move fewer bytes than requested, and signals interrupt
// them. These two functions repeat the call until all bytes are moved.
//
// Errors:  false; errno says why. EIO: the file ends before the range does, or
//   takes no more. Part of the range may have been read or written.
// Threads: any; the file's own position is neither used nor moved.
// Standard library: nothing that needs linking.
#ifndef KYMO_PROFILER_BASE_WHOLE_IO_H_
#define KYMO_PROFILER_BASE_WHOLE_IO_H_

#include <cstdint>

namespace kymo {

[[nodiscard]] bool ReadWhole(int fd, uint64_t at, void* to,
                             uint64_t bytes) noexcept;
[[nodiscard]] bool WriteWhole(int fd, uint64_t at, const void* from,
                              uint64_t bytes) noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_WHOLE_IO_H_
