// shared_objects.h - tells locks in memory that several processes share.
//
//   if (IsShared(trace.Name(wait.object_name))) ...   // "shared memory+0x40"
//
// Such a lock has the same name in all of them, and perhaps other addresses.
#ifndef KYMO_PROFILER_MODEL_SHARED_OBJECTS_H_
#define KYMO_PROFILER_MODEL_SHARED_OBJECTS_H_

#include <string_view>

namespace kymo::model {

// What the names of such objects begin with.
inline constexpr std::string_view kSharedPrefix = "shared ";

// What stands behind that for memory without a name.
inline constexpr std::string_view kSharedMemory = "memory";

// "shared in app" is a variable of that name.
inline bool IsShared(std::string_view object_name) {
  if (!object_name.starts_with(kSharedPrefix)) return false;
  object_name.remove_prefix(kSharedPrefix.size());
  if (object_name.starts_with('/')) return true;  // a file
  if (!object_name.starts_with(kSharedMemory)) return false;
  object_name.remove_prefix(kSharedMemory.size());
  return object_name.starts_with("+0x") || object_name.starts_with(" (inode ");
}

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_SHARED_OBJECTS_H_
