#include "profiler/base/whole_io.h"

#include <errno.h>
#include <unistd.h>

namespace kymo {
namespace {

// move(done) moves some of the bytes behind `done`, and returns how many.
template <typename Move>
bool MoveWhole(uint64_t bytes, Move move) noexcept {
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t got = move(done);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) return false;
    done += static_cast<uint64_t>(got);
  }
  return true;
}

}  // namespace

bool ReadWhole(int fd, uint64_t at, void* to, uint64_t bytes) noexcept {
  return MoveWhole(bytes, [&](uint64_t done) {
    return pread(fd, static_cast<char*>(to) + done, bytes - done,
                 static_cast<off_t>(at + done));
  });
}

bool WriteWhole(int fd, uint64_t at, const void* from,
                uint64_t bytes) noexcept {
  return MoveWhole(bytes, [&](uint64_t done) {
    return pwrite(fd, static_cast<const char*>(from) + done, bytes - done,
                  static_cast<off_t>(at + done));
  });
}

}  // namespace kymo
