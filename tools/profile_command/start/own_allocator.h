// own_allocator.h - whether a program brings a malloc of its own.
//
// A malloc that is linked into the program itself comes before every preloaded
// library, so hooks never see it. (A malloc in a shared library, or a preloaded
// one, is no problem.)
#ifndef KYMO_TOOLS_PROFILE_COMMAND_START_OWN_ALLOCATOR_H_
#define KYMO_TOOLS_PROFILE_COMMAND_START_OWN_ALLOCATOR_H_

#include <string>

namespace kymo::tools {

// Reads the dynamic symbols of an ELF file; false for anything else, and for
// programs whose malloc is Kymo's hooks (//:memory_hooks).
bool BringsMalloc(const std::string& path);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_START_OWN_ALLOCATOR_H_
