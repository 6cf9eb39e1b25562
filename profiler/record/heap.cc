#include "profiler/record/heap.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <bit>

#include "profiler/record/caller_stack.h"
#include "profiler/record/host/own_host.h"
#include "profiler/record/payload_writer.h"

namespace kymo::record {

// The model is here, too: GCC would forget it in this file.
constinit thread_local HeapSampling heap_sampling
    __attribute__((tls_model("initial-exec"))) = {};
constinit std::atomic<uint8_t> sampled_filter[size_t{1} << kSampledFilterBits] =
    {};

namespace {

// --- the live sampled blocks: a set of addresses ---

constexpr int kSetBits = 18;
constexpr size_t kSetSize = size_t{1} << kSetBits;
constexpr size_t kMaxProbes = 32;
// A place of the filter has this many in the set; the last of them may put a
// block kMaxProbes - 1 entries further. So the filter's counts do not run over.
constexpr size_t kPlacesOfFilter = size_t{1} << (kSetBits - kSampledFilterBits);
static_assert(kPlacesOfFilter + kMaxProbes - 1 <= UINT8_MAX);

constinit std::atomic<uint64_t> sampled_blocks[kSetSize] = {};

std::atomic<uint64_t>& SetEntry(uint64_t address, size_t probe) noexcept {
  return sampled_blocks[((HashBlock(address) >> (64 - kSetBits)) + probe) %
                        kSetSize];
}

std::atomic<uint8_t>& FilterEntry(uint64_t address) noexcept {
  return sampled_filter[HashBlock(address) >> (64 - kSampledFilterBits)];
}

// False: there is no free entry near its place.
//
// Its address may be there: a block of an earlier recording that did not see
// its free, or one that another thread's realloc is about to report as freed.
// The latter takes its entry with it, so this block needs one of its own. But
// two are enough.
bool AddSampled(uint64_t address) noexcept {
  int known = 0;
  for (size_t probe = 0; probe < kMaxProbes; ++probe) {
    uint64_t there = 0;
    if (SetEntry(address, probe)
            .compare_exchange_strong(there, address,
                                     std::memory_order_relaxed)) {
      FilterEntry(address).fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    if (there == address && ++known == 2) return true;
  }
  return false;
}

bool RemoveSampled(uint64_t address) noexcept {
  for (size_t probe = 0; probe < kMaxProbes; ++probe) {
    uint64_t expected = address;
    if (SetEntry(address, probe)
            .compare_exchange_strong(expected, 0, std::memory_order_relaxed)) {
      FilterEntry(address).fetch_sub(1, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

// --- the distance to the next sample ---

// xorshift64* (Marsaglia, Vigna). A state other than 0 never becomes 0.
uint64_t NextRandom(uint64_t& state) noexcept {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545f4914f6cdd1du;
}

// The natural logarithm of x in (0, 1]; libm is not linked. With x = m 2^e and
// m in [sqrt(1/2), sqrt(2)): ln x = e ln 2 + 2 artanh((m - 1) / (m + 1)), whose
// series in s^2 <= 0.03 is cut where a term is below 1e-12.
double Log(double x) noexcept {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m =
      std::bit_cast<double>((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
  if (m > 1.4142135623730951) {
    m /= 2;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1);
  const double s2 = s * s;
  double sum = 0;
  for (int k = 15; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
  return exponent * 0.6931471805599453 + 2 * s * sum;
}

// Exponentially distributed with mean `interval`, at least 1.
int64_t NextDistance(uint64_t& random, uint64_t interval) noexcept {
  // In (0, 1], on a grid of 2^-53.
  const double uniform =
      static_cast<double>((NextRandom(random) >> 11) + 1) * 0x1p-53;
  const double distance = -Log(uniform) * static_cast<double>(interval);
  return distance < 0x1p62 ? static_cast<int64_t>(distance) + 1
                           : int64_t{1} << 62;
}

uint64_t Seed() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t seed = static_cast<uint64_t>(now.tv_nsec) ^
                  reinterpret_cast<uint64_t>(&heap_sampling) << 20 ^
                  static_cast<uint64_t>(now.tv_sec) << 40;
  // Mixes the seed, so that similar seeds begin differently.
  for (int i = 0; i < 4; ++i) seed = (seed ^ seed >> 29) * 0xbf58476d1ce4e5b9u;
  return seed | 1;
}

uint64_t SampleInterval() noexcept {
  const Arena* const arena = Host().arena();
  const uint64_t interval = arena == nullptr
                                ? 0
                                : arena->header().heap_sample_interval.load(
                                      std::memory_order_relaxed);
  return interval == 0 ? 1 : interval;
}

// Mappings consist of whole pages.
uint64_t WholePages(uint64_t bytes) noexcept {
  constexpr uint64_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

// --- records ---

// Takes slots for a record of a block, and writes all but its begin.
inline Slot* TakeHeapSlots(SlotKind kind, uint64_t address, uint64_t bytes,
                           HeapSource source, uint32_t extra_slots) noexcept {
  Slot* const slot = Take(1 + extra_slots);
  if (slot == nullptr) [[unlikely]]
    return nullptr;
  slot->name = static_cast<uint32_t>(bytes);
  slot->flags = static_cast<uint32_t>(bytes >> 32);
  slot->kind_scope_depth = PackKind(kind, static_cast<uint8_t>(source), 0);
  slot->extra_slots = extra_slots;
  slot->end.store(address, std::memory_order_relaxed);
  return slot;
}

// A function of its own, so that allocations without a stack do not reserve
// room for one on theirs.
__attribute__((noinline)) void RecordWithStack(uint64_t address, uint64_t bytes,
                                               HeapSource source,
                                               const void* frame) noexcept {
  CallerStack stack;
  stack.Capture(frame);
  const uint32_t extra_slots = static_cast<uint32_t>(
      (stack.payload_bytes() + sizeof(Slot) - 1) / sizeof(Slot));
  Slot* const slot =
      TakeHeapSlots(SlotKind::kAllocation, address, bytes, source, extra_slots);
  if (slot == nullptr) return;
  memcpy(static_cast<void*>(slot + 1), stack.payload(), stack.payload_bytes());
  Publish(slot);
}

}  // namespace

void RecordAllocation(uint64_t address, uint64_t bytes, HeapSource source,
                      const void* frame, uint32_t bits) noexcept {
  if (bits & kGateHeapStacks) {
    RecordWithStack(address, bytes, source, frame);
    return;
  }
  Slot* const slot =
      TakeHeapSlots(SlotKind::kAllocation, address, bytes, source, 0);
  if (slot != nullptr) Publish(slot);
}

void RecordFree(uint64_t address, uint64_t bytes, HeapSource source,
                uint64_t ticks) noexcept {
  Slot* const slot = TakeHeapSlots(SlotKind::kFree, address, bytes, source, 0);
  if (slot == nullptr) return;
  if (ticks != 0) {
    PublishAt(slot, ticks);
  } else {
    Publish(slot);
  }
}

void SampleAllocation(uint64_t address, uint64_t bytes, const void* frame,
                      uint32_t bits) noexcept {
  HeapSampling& thread = heap_sampling;
  const uint64_t interval = SampleInterval();
  if (thread.random == 0) {
    // The thread's first allocation; its bytes are in bytes_until_sample.
    thread.random = Seed();
    thread.bytes_until_sample += NextDistance(thread.random, interval);
    if (thread.bytes_until_sample >= 0) return;
  }
  thread.bytes_until_sample = NextDistance(thread.random, interval);
  if (!AddSampled(address)) {
    // Without an entry its free would never be found.
    const Arena* const arena = Host().arena();
    if (arena != nullptr) {
      arena->header().heap_samples_lost.fetch_add(1, std::memory_order_relaxed);
    }
    return;
  }
  RecordAllocation(address, bytes, HeapSource::kHeap, frame, bits);
}

void FreeSampled(uint64_t address, uint64_t ticks) noexcept {
  if (RemoveSampled(address)) {
    RecordFree(address, 0, HeapSource::kHeap, ticks);
  }
}

HeapCounts* HeapCountsSlow() noexcept {
  // Registers the thread, if it is in a recording.
  if (own_thread.busy == 0) (void)Host().take_slots(&thread_stream, 0);
  const ThreadStream* const stream = thread_stream;
  return stream == nullptr ? nullptr : stream->heap_counts;
}

void OnOutOfMemory(uint64_t bytes, const void* frame, uint32_t bits) noexcept {
  // The failed allocation's bytes do not count towards the next sample.
  if ((bits & kGateHeapSampled) != 0 && heap_sampling.random != 0) {
    heap_sampling.bytes_until_sample =
        NextDistance(heap_sampling.random, SampleInterval());
  }
  if ((bits & kGateHeap) == 0) return;
  const int saved_errno = errno;
  RecordAllocation(0, bytes, HeapSource::kHeap, frame, bits);
  errno = saved_errno;
}

uint64_t HeapTicks() noexcept {
  const Arena* const arena = Host().arena();
  return arena == nullptr ? 0 : ReadTicks(arena->clock_source());
}

void OnMap(const void* address, size_t size, const void* frame,
           uint32_t bits) noexcept {
  if (own_thread.busy != 0) return;
  RecordAllocation(reinterpret_cast<uint64_t>(address), WholePages(size),
                   HeapSource::kMapped, frame, bits);
}

void OnUnmap(const void* address, size_t size, uint64_t ticks) noexcept {
  if (own_thread.busy != 0) return;
  RecordFree(reinterpret_cast<uint64_t>(address), WholePages(size),
             HeapSource::kMapped, ticks);
}

void CountHeapNotWatched() noexcept {
  if (const Arena* const arena = Host().arena()) {
    arena->header().heaps_not_watched.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace kymo::record
