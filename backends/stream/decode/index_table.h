// index_table.h - finds the elements of an array by their hashes.
//
//   IndexTable table;
//   uint32_t& place = table.PlaceOf(
//       hash, [&](uint32_t i) { return sums[i].key == key; });
//   if (place == IndexTable::kNone) {
//     place = static_cast<uint32_t>(sums.size());
//     sums.push_back({key});
//     table.Grow(sums.size(), [&](uint32_t i) { return HashOf(sums[i].key); });
//   }
//
// The elements stay in their array, so the table takes 6 to 13 bytes for each:
// a hash map of millions of them took four times that.
//
// Threads: none. Cost: open addressing with linear probing, so the lower bits
//   of the hashes must be mixed.
#ifndef KYMO_BACKENDS_STREAM_DECODE_INDEX_TABLE_H_
#define KYMO_BACKENDS_STREAM_DECODE_INDEX_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kymo::stream {

class IndexTable {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // The entry that has the element for which is(index) is true, or kNone where
  // it belongs. Valid until the table grows.
  template <typename Is>
  uint32_t& PlaceOf(uint64_t hash, const Is& is) {
    const size_t mask = places_.size() - 1;
    size_t place = hash & mask;
    while (places_[place] != kNone && !is(places_[place])) {
      place = (place + 1) & mask;
    }
    return places_[place];
  }

  // The processor loads what PlaceOf(hash) will look at first. Tables of
  // millions are not in its caches.
  void Prefetch(uint64_t hash) const {
    __builtin_prefetch(&places_[hash & (places_.size() - 1)]);
  }
  // The element that PlaceOf(hash) asks for first; kNone: there is none.
  uint32_t First(uint64_t hash) const {
    return places_[hash & (places_.size() - 1)];
  }

  // Keeps three eighths of the entries free: where few are, a search looks at
  // many elements. `count` is the number of elements, and hash_of(index) the
  // hash of one.
  template <typename HashOf>
  void Grow(size_t count, const HashOf& hash_of) {
    if (count * 8 <= places_.size() * 5) return;
    // The old entries go first.
    const size_t size = places_.size() * 2;
    places_ = std::vector<uint32_t>();
    places_.resize(size, kNone);
    for (uint32_t i = 0; i < count; ++i) {
      PlaceOf(hash_of(i), [](uint32_t) { return false; }) = i;
    }
  }

 private:
  static constexpr size_t kFirstSize = 16;

  std::vector<uint32_t> places_ = std::vector<uint32_t>(kFirstSize, kNone);
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_INDEX_TABLE_H_
