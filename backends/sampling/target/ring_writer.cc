#include "backends/sampling/target/ring_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "profiler/base/descriptor.h"

namespace kymo::sampling {
namespace {

constexpr uint32_t kProbes = 16;

}  // namespace

int64_t NowNs() noexcept {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool RingWriter::Map(const char* path) noexcept {
  const int fd = AboveStandardStreams(open(path, O_RDWR | O_CLOEXEC));
  if (fd < 0) return false;
  struct stat status;
  RingHeader* ring = nullptr;
  size_t size = 0;
  if (fstat(fd, &status) == 0 &&
      status.st_size >= static_cast<off_t>(sizeof(RingHeader))) {
    size = static_cast<size_t>(status.st_size);
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED) ring = static_cast<RingHeader*>(memory);
  }
  close(fd);
  if (ring == nullptr) return false;
  const bool fits = ring->magic == kRingMagic &&
                    ring->version == kRingVersion && ring->cell_count > 0 &&
                    ring->period_ns > 0 &&
                    ring->stack_bytes >= kLeastCellBytes &&
                    RingBytes(ring->cell_count, ring->stack_bytes) <= size;
  if (!fits) {
    munmap(ring, size);
    return false;
  }
  header_ = ring;
  cell_count_ = ring->cell_count;
  stack_bytes_ = ring->stack_bytes;
  image_ns_ = NowNs();
  return true;
}

void RingWriter::EnterProcess() noexcept {
  pid_ = static_cast<int32_t>(getpid());
  parent_pid_ = static_cast<int32_t>(getppid());
}

CellHeader* RingWriter::Take(int32_t tid, CellStates** state) const noexcept {
  CellStates* const states = StatesOf(header_);
  const uint32_t first =
      header_->next_cell.fetch_add(1, std::memory_order_relaxed);
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    const uint32_t index = (first + probe) % cell_count_;
    uint32_t expected = kCellFree;
    // Acquire: the collector read the cell before it freed it.
    if (states[index].compare_exchange_strong(expected, kCellWriting,
                                              std::memory_order_acquire,
                                              std::memory_order_relaxed)) {
      *state = &states[index];
      CellHeader* const cell =
          CellOf(header_, index, cell_count_, stack_bytes_);
      cell->image_ns = image_ns_;
      cell->pid = pid_;
      cell->tid = tid;
      cell->parent_pid = parent_pid_;
      cell->tick_count = 1;
      cell->is_cut = 0;
      prctl(PR_GET_NAME, cell->thread_name);
      return cell;
    }
  }
  return nullptr;
}

void RingWriter::Publish(CellHeader* cell, CellStates* state) noexcept {
  cell->time_ns = NowNs();
  // Release: publishes the cell (I1).
  state->store(kCellReady, std::memory_order_release);
}

}  // namespace kymo::sampling
