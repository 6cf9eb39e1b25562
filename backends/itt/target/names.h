// names.h - ITT's domains and strings.
//
//   record::RecordCapturedInstant(In(domain, NameOf(string)));
//
// Both are objects that the collector makes and the program keeps. Their texts
// stay, so each is a name by its content (profiler/record/foreign_names.h). The
// same text gives the same object. If another tool was configured, that tool
// makes them.
//
// Threads: any. REQUIRES for functions that return names: IsCapturing().
#ifndef KYMO_BACKENDS_ITT_TARGET_NAMES_H_
#define KYMO_BACKENDS_ITT_TARGET_NAMES_H_

#include <cstdint>

#include "backends/itt/target/itt_abi.h"
#include "profiler/record/captured.h"
#include "profiler/record/host/host.h"

namespace kymo::itt {

inline bool IsCapturing() noexcept {
  return (record::GateBits() & record::kGateItt) != 0;
}

// Null when memory is short.
Domain* DomainCreate(const char* name) noexcept;
StringHandle* StringHandleCreate(const char* text) noexcept;

// The id of a text as an argument's key; kNameLost if there is no room for it.
uint32_t IdOf(const char* text) noexcept;
record::ForeignName NameOf(const StringHandle* handle) noexcept;

// An event of that name and domain, without arguments.
record::Captured In(const Domain* domain, record::ForeignName name) noexcept;

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_TARGET_NAMES_H_
