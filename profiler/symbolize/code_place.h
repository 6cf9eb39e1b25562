// code_place.h - a place in code, by module.
//
//   const CodePlace place = PlaceOf(space, return_address - 1);
//
// The same in every process that has loaded the module, wherever it lies there.
#ifndef KYMO_PROFILER_SYMBOLIZE_CODE_PLACE_H_
#define KYMO_PROFILER_SYMBOLIZE_CODE_PLACE_H_

#include <cstdint>
#include <utility>

#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/elf_module.h"

namespace kymo::symbolize {

// To be named: for callers the byte before the return address, which belongs to
// the call.
struct CodePlace {
  ModuleId module = ModuleTable::kUnknown;
  uint64_t address = 0;  // relative to the module

  friend bool operator==(const CodePlace&, const CodePlace&) = default;
  template <typename H>
  friend H AbslHashValue(H hash, const CodePlace& place) {
    return H::combine(std::move(hash), place.module, place.address);
  }
};

// Outside of all mappings: the address itself, of no module.
inline CodePlace PlaceOf(const AddressSpace& space, uint64_t address) {
  const Mapping* const mapping = space.Find(address);
  if (mapping == nullptr) return {ModuleTable::kUnknown, address};
  return {mapping->module, address + mapping->delta};
}

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_CODE_PLACE_H_
