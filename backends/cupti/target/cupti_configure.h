// cupti_configure.h - changes CUPTI's settings, in either of CUPTI's ways.
//
//   Configure(functions, client, ApiSetting::kLatency, true);
//
// `client`: the one client whose setting changes; null: the whole library's.
//
// Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_CUPTI_CONFIGURE_H_
#define KYMO_BACKENDS_CUPTI_TARGET_CUPTI_CONFIGURE_H_

#include <cstdint>

#include "backends/cupti/target/cupti_api.h"
#include "backends/cupti/target/cupti_functions.h"

namespace kymo::cupti {

// Does the same as CuptiApi::configure.
ApiStatus Configure(const CuptiFunctions& cupti, void* client,
                    ApiSetting setting, bool on) noexcept;

// Whether kernels keep their times if a client sets the clock. From CUDA 12.6
// Update 2 on some lose them (release notes of 13.1; versions do not tell the
// updates of 12.6 apart). Up to CUDA 13.3, kernels in contexts older than the
// client may have times of CUPTI's own clock all the same.
bool TakesClocks(uint32_t version) noexcept;

// Sets CUPTI's clock to `now`.
ApiStatus ConfigureClock(const CuptiFunctions& cupti, void* client,
                         uint64_t (*now)()) noexcept;

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CUPTI_CONFIGURE_H_
