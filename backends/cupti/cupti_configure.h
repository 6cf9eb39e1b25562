// cupti_configure.h - what can be set of CUPTI, in either of its ways.
//
//   Configure(functions, client, ApiSetting::kLatency, true);
//
// `client`: one among several, of which alone it is set; null: the library's.
//
// Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_CUPTI_CONFIGURE_H_
#define KYMO_BACKENDS_CUPTI_CUPTI_CONFIGURE_H_

#include <cstdint>

#include "backends/cupti/cupti_api.h"
#include "backends/cupti/cupti_functions.h"

namespace kymo::cupti {

// As CuptiApi::configure.
ApiStatus Configure(const CuptiFunctions& cupti, void* client,
                    ApiSetting setting, bool on) noexcept;

// CUPTI's clock becomes `now`.
ApiStatus ConfigureClock(const CuptiFunctions& cupti, void* client,
                         uint64_t (*now)()) noexcept;

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_CUPTI_CONFIGURE_H_
