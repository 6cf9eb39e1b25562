// counters.h - ITT's counters, named "domain::name".
//
// Increments are added up here, starting with 0 at the counter's first use.
// Setting a counter replaces its value.
//
// The functions have the names of ITT's own. Threads: any.
#ifndef KYMO_BACKENDS_ITT_TARGET_COUNTERS_H_
#define KYMO_BACKENDS_ITT_TARGET_COUNTERS_H_

#include <cstdint>

#include "backends/itt/target/itt_abi.h"

namespace kymo::itt {

// Handles of counters; null when memory is short.
void* CounterCreate(const char* name, const char* domain) noexcept;
// `type`: a MetadataType.
void* CounterCreateTyped(const char* name, const char* domain,
                         int type) noexcept;
void CounterSetValue(void* handle, void* value) noexcept;
void CounterInc(void* handle) noexcept;
void CounterIncDelta(void* handle, uint64_t delta) noexcept;
void CounterDec(void* handle) noexcept;
void CounterDecDelta(void* handle, uint64_t delta) noexcept;

// Version 3: a counter is a domain and a name.
void CounterIncV3(const Domain* domain, StringHandle* name) noexcept;
void CounterIncDeltaV3(const Domain* domain, StringHandle* name,
                       uint64_t delta) noexcept;
void CounterDecV3(const Domain* domain, StringHandle* name) noexcept;
void CounterDecDeltaV3(const Domain* domain, StringHandle* name,
                       uint64_t delta) noexcept;

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_TARGET_COUNTERS_H_
