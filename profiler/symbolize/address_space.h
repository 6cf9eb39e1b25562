// address_space.h - which module is mapped where in one process.
//
//   space.Map({.start = ..., .end = ..., .module = m, .delta = d});
//   if (const Mapping* mapping = space.Find(pc)) {
//     ... mapping->module, module-relative address pc + mapping->delta
//   }
//
// A new mapping replaces what it covers. The kernel does not tell of unmapping,
// so a mapping stays until another one replaces it.
// Threads: none; even Find updates a cache, of the last hit.
#ifndef KYMO_PROFILER_SYMBOLIZE_ADDRESS_SPACE_H_
#define KYMO_PROFILER_SYMBOLIZE_ADDRESS_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kymo::symbolize {

using ModuleId = uint32_t;

struct Mapping {
  uint64_t start = 0;
  uint64_t end = 0;
  ModuleId module = 0;
  // Module-relative address minus address, modulo 2^64.
  uint64_t delta = 0;
};

class AddressSpace {
 public:
  void Map(const Mapping& mapping);
  void Clear() noexcept;

  // Null if nothing is mapped there. The result is valid until the next Map or
  // Clear.
  const Mapping* Find(uint64_t address) const noexcept;

  // The last mapping that begins there or before, wherever it ends. A module's
  // data lies behind its code. Valid as the result of Find.
  const Mapping* FindBefore(uint64_t address) const noexcept;

  size_t size() const noexcept { return mappings_.size(); }

 private:
  std::vector<Mapping> mappings_;  // disjoint, by start
  mutable size_t last_ = 0;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_ADDRESS_SPACE_H_
