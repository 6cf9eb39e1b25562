// copies.h - the copies of this library in a process, and the host they share.
//
//   const HostApi* host = HostOfCopies();
//   if (host == nullptr) host = OfferHost(OwnHost());
//   host = SetHost(host);
//
// The dynamic linker does not show one copy to another: all names of
// libkymo-annotate.a are local, a program does not export its names, and a
// library may be opened with RTLD_LOCAL. So each copy has a note in its file,
// beside that of layout_note.h, which tells where the copy keeps its host. The
// loader knows where each file's notes are.
//
// Versions: copies share a host if they have the same kHostVersion and the same
//   functions in HostApi. Others are left alone.
// Threads: any. Functions that look at other copies take the loader's lock, as
//   dlsym does. None allocates.
#ifndef KYMO_PROFILER_RECORD_HOST_COPIES_H_
#define KYMO_PROFILER_RECORD_HOST_COPIES_H_

#include <cstddef>

#include "profiler/record/host/host_api.h"

namespace kymo::record {

// The host that a copy in this process has chosen; null if none has.
const HostApi* HostOfCopies() noexcept;

// Offers a host to all copies. Returns it, or the one that another thread has
// offered meanwhile.
const HostApi* OfferHost(const HostApi* host) noexcept;

// Sets this copy's host, unless it has one. Returns the one that it has.
const HostApi* SetHost(const HostApi* host) noexcept;

// Whether a copy of another version is in use in this process. Stores the path
// of its file, which is empty for the program itself.
bool FindOtherVersion(char* file, size_t bytes) noexcept;

// This copy's host; null before it has one.
const HostApi* ChosenHost() noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_COPIES_H_
