// freed_memory.h - lets the system have the memory that a command frees.
//
//   kymo::tools::GiveFreedMemoryBack();   // first in main
//
// glibc maps a large block and unmaps it when it is freed. But each such free
// makes it keep larger ones in its heap, up to 32 MiB, where holes stay: the
// command that answers a profile of memory had 50 MiB of them.
#ifndef KYMO_TOOLS_COMMAND_LINE_FREED_MEMORY_H_
#define KYMO_TOOLS_COMMAND_LINE_FREED_MEMORY_H_

namespace kymo::tools {

// From now on, what was allocated with 1 MiB or more is unmapped when it is
// freed. To be called before there are threads.
void GiveFreedMemoryBack();

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_COMMAND_LINE_FREED_MEMORY_H_
