// enforce_unique.h - an error when a key comes a second time.
//
//   kymo::EnforceUnique keys;
//   absl::Status status = keys.see("train", 7);
//   status = keys.see("train", 7);   // duplicate key: ('train', 7)
//
// A key is a tuple of integers and texts.
//
// Threads: one at a time. Errors: kAlreadyExists for a key that was seen
//   before.
// Cost:    a set of all keys, as texts.
#ifndef KYMO_PROFILER_EVENTS_ENFORCE_UNIQUE_H_
#define KYMO_PROFILER_EVENTS_ENFORCE_UNIQUE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>

#include "absl/status/status.h"

namespace kymo {

class EnforceUnique {
 public:
  using Part = std::variant<int64_t, std::string_view>;

  // Remembers the key. kAlreadyExists if it was seen before.
  template <typename... T>
  absl::Status see(const T&... parts) {
    const Part key[] = {ToPart(parts)...};
    return See(key);
  }

 private:
  static Part ToPart(int64_t part) { return part; }
  static Part ToPart(std::string_view part) { return part; }
  static Part ToPart(const char* part) { return std::string_view(part); }

  absl::Status See(std::span<const Part> key);

  std::unordered_set<std::string> seen_;  // keys as tuple texts
};

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_ENFORCE_UNIQUE_H_
