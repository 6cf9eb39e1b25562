#include "profiler/plugin/library/library_version.h"

#include "absl/strings/str_cat.h"

namespace kymo {

std::string VersionText(uint32_t version) {
  return absl::StrCat(version >> 16, ".", version & 0xffff);
}

std::string HowToMakeItFit(const LibraryFacts& library) {
  return absl::StrCat("build it again with the ", library.header,
                      " of this Kymo, or use the Kymo that it was built for");
}

absl::Status CheckLibraryVersion(const LibraryFacts& library, uint32_t theirs,
                                 uint32_t ours) {
  if (theirs >> 16 == ours >> 16) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "'", library.path, "' was built for version ", VersionText(theirs),
      " of the ", library.kind, " interface, and this Kymo has version ",
      VersionText(ours), "; ", HowToMakeItFit(library)));
}

}  // namespace kymo
