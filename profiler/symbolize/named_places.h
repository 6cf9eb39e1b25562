// named_places.h - places in code that have their names already.
//
//   NamedPlaces& places = modules.named_places();
//   const uint64_t place = places.Intern({.function = "train (loop.py:12)",
//                                         .file = "/src/loop.py",
//                                         .line = 14});
//   frames.push_back({ModuleTable::kNamed, place});
//
// An interpreter's functions have no addresses that a symbol table knows. Who
// reads them from the program gives them a number here, and uses that as the
// address. Equal places have one number. A place takes 16 bytes, and each
// function its texts once.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_NAMED_PLACES_H_
#define KYMO_PROFILER_SYMBOLIZE_NAMED_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace kymo::symbolize {

struct NamedPlace {
  std::string_view function;
  std::string_view file;  // stands for the module, too
  uint32_t line = 0;      // 0 = not known
};

class NamedPlaces {
 public:
  uint64_t Intern(const NamedPlace& place);
  // Valid until the next Intern. REQUIRES: Intern returned `number`.
  NamedPlace place(uint64_t number) const;
  size_t size() const noexcept { return places_.size(); }

 private:
  struct Texts {
    std::string function;
    std::string file;
  };
  struct Place {
    uint32_t texts;
    uint32_t line;
  };

  std::vector<Texts> texts_;
  std::vector<Place> places_;
  // By both texts with a zero byte in between.
  absl::flat_hash_map<std::string, uint32_t> text_numbers_;
  absl::flat_hash_map<uint64_t, uint64_t> place_numbers_;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_NAMED_PLACES_H_
