#include "backends/sampling/python/frame_copies.h"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "profiler/base/time.h"

namespace kymo::sampling {
namespace {

// Threads that are known at a time, those that ended unseen among them.
constexpr size_t kMostThreads = 100'000;
constexpr size_t kMostSpare = 64;
// A process of so many threads that whoever has the lock of its mappings waits
// so long for a CPU is left alone for a while.
constexpr int64_t kLongNs = 50 * kNsPerMs;
constexpr int64_t kAloneNs = kNsPerSecond;
// A page in which no frame was for so many stacks is left out.
constexpr uint32_t kMostUnused = 200;
// How often it is tried to read behind pages that are gone.
constexpr size_t kMostGaps = 8;

}  // namespace

bool FrameCopy::Read(uint64_t address, std::span<std::byte> into) const {
  while (!into.empty()) {
    const uint64_t page = address / kFramePageBytes * kFramePageBytes;
    const auto end = pages.begin() + static_cast<ptrdiff_t>(page_count);
    const auto at = std::find(pages.begin(), end, page);
    if (at == end) return false;
    const uint64_t offset = address - page;
    const size_t size =
        std::min<uint64_t>(into.size(), kFramePageBytes - offset);
    const auto index = static_cast<size_t>(at - pages.begin());
    std::memcpy(into.data(), bytes.data() + index * kFramePageBytes + offset,
                size);
    into = into.subspan(size);
    address += size;
  }
  return true;
}

size_t FrameCopies::ReadProcess(int64_t pid, std::span<const uint64_t> pages,
                                std::span<std::byte> into) {
  // The kernel takes the lock of the process's mappings for each piece.
  std::array<iovec, kMostFramePages> pieces;
  size_t piece_count = 0;
  const size_t count = std::min(pages.size(), pieces.size());
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && pages[i] == pages[i - 1] + kFramePageBytes) {
      pieces[piece_count - 1].iov_len += kFramePageBytes;
    } else {
      pieces[piece_count++] = {reinterpret_cast<void*>(pages[i]),
                               kFramePageBytes};
    }
  }
  const iovec to = {into.data(), count * kFramePageBytes};
  const ssize_t size = process_vm_readv(
      static_cast<pid_t>(pid), &to, 1, pieces.data(), piece_count, /*flags=*/0);
  return size < 0 ? 0 : static_cast<size_t>(size) / kFramePageBytes;
}

void FrameCopies::Learn(int64_t pid, int64_t tid,
                        std::span<const uint64_t> pages, bool was_late) {
  const std::scoped_lock lock(mutex_);
  if (threads_.size() >= kMostThreads) {
    threads_.clear();
    processes_.clear();
    alone_until_ns_.clear();
    copied_bytes_ = 0;
  }
  processes_.insert(pid);
  Thread& thread = threads_[tid];
  if (thread.pid != pid) thread.page_count = 0;
  thread.pid = pid;
  thread.was_late = was_late;
  if (pages.empty()) return;
  const Thread before = {.pages = thread.pages,
                         .unused = thread.unused,
                         .page_count = thread.page_count};
  thread.page_count = 0;
  const auto add = [&thread](uint64_t page, uint32_t unused) {
    const auto end =
        thread.pages.begin() + static_cast<ptrdiff_t>(thread.page_count);
    if (thread.page_count < kMostFramePages &&
        std::find(thread.pages.begin(), end, page) == end) {
      thread.unused[thread.page_count] = unused;
      thread.pages[thread.page_count++] = page;
    }
  };
  // From the outermost on, which is the least likely to be gone.
  for (size_t i = pages.size(); i-- > 0;) add(pages[i], 0);
  // The frames of functions that are called next lie behind.
  const uint64_t next = pages.front() + kFramePageBytes;
  for (size_t i = 0; i < before.page_count; ++i) {
    if (before.pages[i] != next && before.unused[i] < kMostUnused) {
      add(before.pages[i], before.unused[i] + 1);
    }
  }
  // The last, since it may not be there. It goes before one of the older ones.
  if (thread.page_count == kMostFramePages && pages.size() < kMostFramePages) {
    --thread.page_count;
  }
  add(next, 0);
}

void FrameCopies::Forget(int64_t tid) {
  const std::scoped_lock lock(mutex_);
  const auto at = threads_.find(tid);
  if (at == threads_.end()) return;
  for (auto& copy : at->second.copies) Drop(std::move(copy));
  // The process ends, or runs another program.
  if (at->second.pid == tid) processes_.erase(tid);
  threads_.erase(at);
}

bool FrameCopies::Take(int64_t pid, int64_t tid, uint64_t sample_ns) {
  std::unique_ptr<FrameCopy> copy;
  bool was_late = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto at = threads_.find(tid);
    if (at == threads_.end() || at->second.pid != pid) {
      return !processes_.contains(pid);
    }
    const Thread& thread = at->second;
    if (thread.page_count == 0) return true;
    if (const auto alone = alone_until_ns_.find(pid);
        alone != alone_until_ns_.end() && monotonic_ns_() < alone->second) {
      return false;
    }
    copy = NewCopy(std::span(thread.pages).first(thread.page_count));
    if (copy == nullptr) return false;
    copy->sample_ns = sample_ns;
    was_late = thread.was_late;
  }
  const int64_t begin_ns = monotonic_ns_();
  ReadInto(copy.get(), pid);
  const int64_t end_ns = monotonic_ns_();
  const std::scoped_lock lock(mutex_);
  if (end_ns - begin_ns > kLongNs) alone_until_ns_[pid] = end_ns + kAloneNs;
  const auto at = threads_.find(tid);
  if (at == threads_.end() || at->second.pid != pid) {
    Drop(std::move(copy));
    return false;
  }
  at->second.copies.push_back(std::move(copy));
  return !was_late;
}

// Python gives memory back when the functions that had it returned. So pages of
// deeper stacks may be gone, with those beside them.
void FrameCopies::ReadInto(FrameCopy* copy, int64_t pid) const {
  const std::span<uint64_t> pages = copy->pages;
  size_t count = copy->page_count;
  size_t done = 0;
  for (size_t gaps = 0; done < count && gaps <= kMostGaps; ++gaps) {
    done += read_(pid, pages.subspan(done, count - done),
                  std::span(copy->bytes).subspan(done * kFramePageBytes));
    size_t next = done;
    while (next < count &&
           (next == done || pages[next] == pages[next - 1] + kFramePageBytes)) {
      ++next;
    }
    std::ranges::copy(pages.subspan(next, count - next),
                      pages.begin() + static_cast<ptrdiff_t>(done));
    count -= next - done;
  }
  copy->page_count = done;
}

std::unique_ptr<FrameCopy> FrameCopies::Find(int64_t tid, uint64_t sample_ns) {
  const std::scoped_lock lock(mutex_);
  const auto at = threads_.find(tid);
  if (at == threads_.end()) return nullptr;
  auto& copies = at->second.copies;
  while (!copies.empty() && copies.front()->sample_ns < sample_ns) {
    Drop(std::move(copies.front()));
    copies.pop_front();
  }
  if (copies.empty() || copies.front()->sample_ns != sample_ns) return nullptr;
  std::unique_ptr<FrameCopy> found = std::move(copies.front());
  copies.pop_front();
  return found;
}

void FrameCopies::GiveBack(std::unique_ptr<FrameCopy> copy) {
  if (copy == nullptr) return;
  const std::scoped_lock lock(mutex_);
  Drop(std::move(copy));
}

std::unique_ptr<FrameCopy> FrameCopies::NewCopy(
    std::span<const uint64_t> pages) {
  const size_t size = pages.size() * kFramePageBytes;
  if (copied_bytes_ + size > kMostBytes) return nullptr;
  copied_bytes_ += size;
  std::unique_ptr<FrameCopy> copy;
  if (spare_.empty()) {
    copy = std::make_unique<FrameCopy>();
  } else {
    copy = std::move(spare_.back());
    spare_.pop_back();
  }
  std::ranges::copy(pages, copy->pages.begin());
  copy->page_count = pages.size();
  copy->bytes.resize(size);
  return copy;
}

void FrameCopies::Drop(std::unique_ptr<FrameCopy> copy) {
  copied_bytes_ -= std::min(copied_bytes_, copy->bytes.size());
  if (spare_.size() < kMostSpare) spare_.push_back(std::move(copy));
}

}  // namespace kymo::sampling
