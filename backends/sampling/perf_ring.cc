#include "backends/sampling/perf_ring.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace kymo::sampling {
namespace {

uint64_t HeadOf(const perf_event_mmap_page& page) noexcept {
  // Acquire: pairs with the kernel's barrier before it publishes data_head.
  return __atomic_load_n(&page.data_head, __ATOMIC_ACQUIRE);
}

// Copies what begins at position `from`, and may go on at the ring's beginning.
void CopyFrom(std::span<const std::byte> ring, uint64_t from,
              std::span<std::byte> into) noexcept {
  const size_t at = from & (ring.size() - 1);
  const size_t first = std::min(into.size(), ring.size() - at);
  std::memcpy(into.data(), ring.data() + at, first);
  std::memcpy(into.data() + first, ring.data(), into.size() - first);
}

// Whether a record of that size may be the first of so many bytes.
bool IsSound(const RecordHeader& header, uint64_t pending) noexcept {
  return header.size >= sizeof(header) && header.size % 8 == 0 &&
         header.size <= pending;
}

}  // namespace

PerfRing::PerfRing(perf_event_mmap_page* page, const std::byte* data,
                   size_t size_bytes)
    : page_(page), data_(data), size_bytes_(size_bytes) {
  tail_ = head_ = page->data_tail;
}

void PerfRing::Refresh() noexcept { head_ = HeadOf(*page_); }

std::optional<RecordBytes> PerfRing::Front() {
  const uint64_t pending = head_ - tail_;
  if (pending == 0) return std::nullopt;
  const size_t at = tail_ & (size_bytes_ - 1);
  RecordHeader header;
  // Records are multiples of 8 bytes: a header never crosses the end.
  std::memcpy(&header, data_ + at, sizeof(header));
  if (!IsSound(header, pending)) {
    ++corrupt_count_;
    tail_ = head_;
    return std::nullopt;
  }
  front_size_ = header.size;
  if (at + header.size <= size_bytes_) {
    return RecordBytes(data_ + at, header.size);
  }
  wrapped_.resize(header.size);
  CopyFrom({data_, size_bytes_}, tail_, wrapped_);
  return RecordBytes(wrapped_);
}

void PerfRing::Release() noexcept {
  // Release: our reads are done before the kernel may overwrite.
  __atomic_store_n(&page_->data_tail, tail_, __ATOMIC_RELEASE);
}

RingFollower::RingFollower(const PerfRing& ring)
    : page_(ring.page_),
      data_(ring.data_, ring.size_bytes_),
      at_(HeadOf(*page_)) {}

void RingFollower::Look(const std::function<void(const SampleBegin&)>& visit) {
  const uint64_t head = HeadOf(*page_);
  if (head - at_ > data_.size()) at_ = head;  // what was there is gone
  while (at_ != head) {
    RecordHeader header;
    CopyFrom(data_, at_, std::as_writable_bytes(std::span(&header, 1)));
    if (!IsSound(header, head - at_)) {
      at_ = head;
      return;
    }
    if (header.type == PERF_RECORD_SAMPLE && header.size >= kSampleBeginBytes) {
      std::array<std::byte, kSampleBeginBytes> bytes;
      CopyFrom(data_, at_, bytes);
      visit(DecodeSampleBegin(bytes));
    }
    at_ += header.size;
  }
}

namespace {

struct Head {
  uint64_t time_ns;
  size_t ring;
};

// Orders a heap with the earliest record on top; ties go to the lower CPU.
bool Later(const Head& a, const Head& b) noexcept {
  return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.ring > b.ring;
}

}  // namespace

void MergeByTime(std::span<PerfRing> rings, uint64_t until_ns,
                 const std::function<void(RecordBytes)>& visit) {
  std::vector<PerfRing*> all;
  for (PerfRing& ring : rings) all.push_back(&ring);
  MergeByTime(all, until_ns,
              [&](RecordBytes bytes, size_t /*ring*/) { visit(bytes); });
}

void MergeByTime(std::span<PerfRing* const> rings, uint64_t until_ns,
                 const std::function<void(RecordBytes, size_t ring)>& visit) {
  std::vector<Head> heap;
  const auto push = [&](size_t ring) {
    const auto record = rings[ring]->Front();
    if (!record) return;
    heap.push_back({DecodeTime(*record).value_or(0), ring});
    std::push_heap(heap.begin(), heap.end(), Later);
  };
  for (size_t i = 0; i < rings.size(); ++i) push(i);
  while (!heap.empty() && heap.front().time_ns <= until_ns) {
    std::pop_heap(heap.begin(), heap.end(), Later);
    const size_t ring = heap.back().ring;
    heap.pop_back();
    visit(*rings[ring]->Front(), ring);
    rings[ring]->Pop();
    push(ring);
  }
  for (PerfRing* const ring : rings) ring->Release();
}

}  // namespace kymo::sampling
