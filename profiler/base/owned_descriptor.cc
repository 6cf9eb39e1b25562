#include "profiler/base/owned_descriptor.h"

#include <fcntl.h>
#include <stdlib.h>

namespace kymo {

OwnedDescriptor MakeUnnamedFile(const std::string& folder) {
  OwnedDescriptor file(
      open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.is_open()) return file;
  // A file system without O_TMPFILE.
  std::string path = folder + "/.kymo-unnamed-XXXXXX";
  file = OwnedDescriptor(mkostemp(path.data(), O_CLOEXEC));
  if (file.is_open()) unlink(path.c_str());
  return file;
}

}  // namespace kymo
