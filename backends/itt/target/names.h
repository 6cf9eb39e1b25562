// names.h - domains and strings of ITT.
//
//   record::RecordCapturedInstant(In(domain, NameOf(string)));
//
// Both are objects that the collector makes and the program keeps; their texts
// stay, so that they are names by their content (record/foreign_names.h). The
// same text gives the same object. Where another tool was configured, it makes
// them.
//
// Threads: any. REQUIRES, where a name is asked for: IsCapturing().
#ifndef KYMO_BACKENDS_ITT_TARGET_NAMES_H_
#define KYMO_BACKENDS_ITT_TARGET_NAMES_H_

#include <cstdint>

#include "backends/itt/target/itt_abi.h"
#include "profiler/record/captured.h"
#include "profiler/record/host.h"

namespace kymo::itt {

inline bool IsCapturing() noexcept {
  return (record::GateBits() & record::kGateItt) != 0;
}

// Null when memory is short.
Domain* DomainCreate(const char* name) noexcept;
StringHandle* StringHandleCreate(const char* text) noexcept;

// As an argument's key; kNameLost where there is no room for it.
uint32_t IdOf(const char* text) noexcept;
record::ForeignName NameOf(const StringHandle* handle) noexcept;

// What is recorded under the name, without arguments.
record::Captured In(const Domain* domain, record::ForeignName name) noexcept;

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_TARGET_NAMES_H_
