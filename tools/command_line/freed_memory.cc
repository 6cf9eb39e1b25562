#include "tools/command_line/freed_memory.h"

#include <malloc.h>

namespace kymo::tools {

void GiveFreedMemoryBack() {
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

}  // namespace kymo::tools
