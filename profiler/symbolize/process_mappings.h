// process_mappings.h - which files are mapped where in a process, opened for
// reading.
//
//   ModuleTable modules;
//   AddressSpace space;
//   AddOwnMappings(modules, space);                        // this process
//   AddMappings(pid, ParseProcMaps(text), read_ns, modules, space);  // another
//
// A process that has ended can still be added from the text of its
// /proc/<pid>/maps, as long as its files are there. Files that were replaced
// since are noticed and not used (elf_module.h).
//
// Threads: none; `modules` and `space` belong to the caller.
#ifndef KYMO_PROFILER_SYMBOLIZE_PROCESS_MAPPINGS_H_
#define KYMO_PROFILER_SYMBOLIZE_PROCESS_MAPPINGS_H_

#include <cstdint>
#include <span>

#include "profiler/base/time.h"
#include "profiler/symbolize/address_space.h"
#include "profiler/symbolize/elf_module.h"
#include "profiler/symbolize/proc_maps.h"

namespace kymo::symbolize {

// One executable mapping, of a file or of memory.
struct ProcessMapping {
  int64_t pid = 0;
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint64_t file_offset = 0;
  FileIdentity file;
};

// Adds one mapping, which replaces what lay there. Opens the file if it is new.
void AddMapping(const ProcessMapping& mapping, ModuleTable& modules,
                AddressSpace& space);

// Adds all mappings of process `pid`, as they were at `read_ns` (since the
// epoch).
void AddMappings(int64_t pid, std::span<const ProcMapping> mappings,
                 TimeNs read_ns, ModuleTable& modules, AddressSpace& space);

// Adds all current mappings of this process. A repeated call adds what was
// loaded in between; what was unloaded stays until something else lies there.
void AddOwnMappings(ModuleTable& modules, AddressSpace& space);

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_PROCESS_MAPPINGS_H_
