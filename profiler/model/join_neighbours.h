// join_neighbours.h - makes one of neighbours that have the same key.
//
//   std::ranges::sort(sums, {}, key_of);
//   JoinNeighbours(sums, key_of, [](const Sum& from, Sum& into) {
//     into.count += from.count;
//   });
#ifndef KYMO_PROFILER_MODEL_JOIN_NEIGHBOURS_H_
#define KYMO_PROFILER_MODEL_JOIN_NEIGHBOURS_H_

#include <cstddef>
#include <iterator>
#include <vector>

namespace kymo::model {

// Calls add(value, first) for each value but the first of one key.
template <typename Value, typename KeyOf, typename Add>
void JoinNeighbours(std::vector<Value>& values, const KeyOf& key_of,
                    const Add& add) {
  size_t kept = 0;
  for (const Value& value : values) {
    if (kept != 0 && key_of(values[kept - 1]) == key_of(value)) {
      add(value, values[kept - 1]);
    } else {
      values[kept++] = value;
    }
  }
  values.erase(std::next(values.begin(), static_cast<ptrdiff_t>(kept)),
               values.end());
}

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_JOIN_NEIGHBOURS_H_
