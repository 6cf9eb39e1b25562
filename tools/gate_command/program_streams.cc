#include "tools/gate_command/program_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>

#include "profiler/base/signals_blocked.h"

namespace kymo::tools {
namespace {

absl::Status MakePipe(OwnedDescriptor& read, OwnedDescriptor& write) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "could not make a pipe");
  }
  read = OwnedDescriptor(ends[0]);
  write = OwnedDescriptor(ends[1]);
  return absl::OkStatus();
}

// What nobody reads any more is dropped.
void WriteAll(int fd, const char* text, size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = TEMP_FAILURE_RETRY(write(fd, text, bytes));
    if (done <= 0) return;
    text += done;
    bytes -= static_cast<size_t>(done);
  }
}

}  // namespace

void TakeStreams(const StreamDescriptors& streams) {
  for (int fd = 0; fd < static_cast<int>(streams.size()); ++fd) {
    if (streams[fd] != fd) dup2(streams[fd], fd);
  }
}

absl::Status ProgramStreams::Make() {
  for (size_t i = 0; i < read_.size(); ++i) {
    if (absl::Status made = MakePipe(read_[i], write_[i]); !made.ok()) {
      return made;
    }
    fds_[i + 1] = write_[i].get();
  }
  if (absl::Status made = MakePipe(stop_read_, stop_write_); !made.ok()) {
    return made;
  }
  if (isatty(STDIN_FILENO) != 0) {
    nothing_ = OwnedDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!nothing_.is_open()) {
      return absl::ErrnoToStatus(errno, "cannot open /dev/null");
    }
    fds_[0] = nothing_.get();
  }
  // Signals are for the thread that waits for programs.
  const SignalsBlocked blocked;
  copier_ = std::thread([this] { Copy(); });
  return absl::OkStatus();
}

ProgramStreams::~ProgramStreams() {
  if (!copier_.joinable()) return;
  Drain();
  stop_write_ = OwnedDescriptor();
  copier_.join();
}

void ProgramStreams::Copy() {
  pollfd waited[] = {{read_[0].get(), POLLIN, 0},
                     {read_[1].get(), POLLIN, 0},
                     {stop_read_.get(), POLLIN, 0}};
  char buffer[1 << 16];
  for (;;) {
    if (poll(waited, 3, -1) < 0 && errno != EINTR) return;
    if (waited[2].revents != 0) return;
    const std::lock_guard lock(copying_);
    for (int i = 0; i < 2; ++i) {
      if ((waited[i].revents & POLLIN) == 0) continue;
      const ssize_t got = read(waited[i].fd, buffer, sizeof(buffer));
      if (got > 0) WriteAll(i + 1, buffer, static_cast<size_t>(got));
    }
  }
}

bool ProgramStreams::IsEmpty() const {
  for (const OwnedDescriptor& end : read_) {
    int bytes = 0;
    if (ioctl(end.get(), FIONREAD, &bytes) == 0 && bytes > 0) return false;
  }
  return true;
}

void ProgramStreams::Drain() {
  if (!copier_.joinable()) return;
  for (;;) {
    {
      const std::lock_guard lock(copying_);
      if (IsEmpty()) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace kymo::tools
