// cupti_configure.h - what can be set of CUPTI, in either of its ways.
//
//   Configure(functions, client, ApiSetting::kLatency, true);
//
// `client`: one among several, of which alone it is set; null: the library's.
//
// Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_CUPTI_CONFIGURE_H_
#define KYMO_BACKENDS_CUPTI_TARGET_CUPTI_CONFIGURE_H_

#include <cstdint>

#include "backends/cupti/target/cupti_api.h"
#include "backends/cupti/target/cupti_functions.h"

namespace kymo::cupti {

// As CuptiApi::configure.
ApiStatus Configure(const CuptiFunctions& cupti, void* client,
                    ApiSetting setting, bool on) noexcept;

// Whether times of kernels survive a client's clock. From CUDA 12.6 Update 2 on
// some have none then (release notes of 13.1; the version does not tell updates
// of 12.6 apart); up to 13.3 those of contexts that are older than the client
// may be in CUPTI's own clock all the same.
bool TakesClocks(uint32_t version) noexcept;

// CUPTI's clock becomes `now`.
ApiStatus ConfigureClock(const CuptiFunctions& cupti, void* client,
                         uint64_t (*now)()) noexcept;

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CUPTI_CONFIGURE_H_
