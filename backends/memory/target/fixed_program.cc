#include "backends/memory/target/fixed_program.h"

#include <stdlib.h>

namespace kymo::memory {

Labs AddressOfLabs() { return &labs; }

}  // namespace kymo::memory
