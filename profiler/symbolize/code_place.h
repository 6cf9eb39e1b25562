// code_place.h - a place in code: a module and an address in it.
//
//   const CodePlace place = PlaceOf(space, return_address - 1);
//
// A place is the same in every process that has loaded the module, wherever the
// module lies there.
#ifndef KYMO_PROFILER_SYMBOLIZE_CODE_PLACE_H_
#define KYMO_PROFILER_SYMBOLIZE_CODE_PLACE_H_

#include <cstdint>
#include <utility>

#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/elf_module.h"

namespace kymo::symbolize {

// The place to find a name for. For a caller that is the byte before the return
// address, since that byte belongs to the call.
struct CodePlace {
  ModuleId module = ModuleTable::kUnknown;
  uint64_t address = 0;  // relative to the module

  friend bool operator==(const CodePlace&, const CodePlace&) = default;
  template <typename H>
  friend H AbslHashValue(H hash, const CodePlace& place) {
    return H::combine(std::move(hash), place.module, place.address);
  }
};

// An address outside of all mappings keeps its value and has no module.
inline CodePlace PlaceOf(const AddressSpace& space, uint64_t address) {
  const Mapping* const mapping = space.Find(address);
  if (mapping == nullptr) return {ModuleTable::kUnknown, address};
  return {mapping->module, address + mapping->delta};
}

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_CODE_PLACE_H_
