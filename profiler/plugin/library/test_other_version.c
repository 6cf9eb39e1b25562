/* A backend library of a version that there is not yet. */
#include <stdlib.h>

#include "kymo/backend_plugin.h"

const KymoBackendPlugin* kymo_backend_plugin(uint32_t host_version) {
  static const KymoBackendPlugin plugin = {.struct_size = sizeof(plugin),
                                           .version = 2u << 16 | 3};
  (void)host_version;
  return &plugin;
}
