// frame_entry.h - reads entries of .eh_frame, and the table that finds them.
//
//   const uint8_t* entry = FindEntry(frame_header, module_end, pc);
//   if (entry != nullptr) rule = RuleOfEntry(entry, module_end, pc);
//
// The linker puts a sorted table of functions into .eh_frame_hdr (LSB, "DWARF
// Extensions"). Each row leads to the function's entry (FDE) in .eh_frame. The
// entry leads to the part that it shares with others (CIE).
//
// Threads: any; reads only memory that the loader mapped and that never
//   changes. No allocation, no lock. Reads nothing outside of [frame_header or
//   .eh_frame, module_end).
#ifndef KYMO_PROFILER_UNWIND_FRAME_ENTRY_H_
#define KYMO_PROFILER_UNWIND_FRAME_ENTRY_H_

#include <cstdint>

#include "profiler/unwind/unwind_rule.h"

namespace kymo::unwind {

// The entry of the last function that begins at or before `pc`. Null if there
// is none, or if the table is not in the format that linkers write.
const uint8_t* FindEntry(const uint8_t* frame_header, const uint8_t* module_end,
                         uint64_t pc) noexcept;

// The rule for `pc`: kMissing if the entry does not cover `pc`; kUnsupported if
// it does, but none of our rules can express it. About 150 ns.
UnwindRule RuleOfEntry(const uint8_t* entry, const uint8_t* module_end,
                       uint64_t pc) noexcept;

}  // namespace kymo::unwind

#endif  // KYMO_PROFILER_UNWIND_FRAME_ENTRY_H_
