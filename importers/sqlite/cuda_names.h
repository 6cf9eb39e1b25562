// cuda_names.h - names for CUPTI's numbers, in Kineto's words.
//
//   CopyName(1, 1, 3)       // "Memcpy HtoD (Pageable -> Device)"
//   MemsetName(3)           // "Memset (Device)"
//   SyncName(3)             // "Stream Sync"
//   StripApiVersion("cudaLaunchKernel_v7000")   // "cudaLaunchKernel"
//   IsDriverCall("cuLaunchKernel")              // true
//
// The numbers are those of CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind
// and CUpti_ActivitySynchronizationType.
#ifndef KYMO_IMPORTERS_SQLITE_CUDA_NAMES_H_
#define KYMO_IMPORTERS_SQLITE_CUDA_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::sqlite {

std::string CopyName(int64_t copy_kind, int64_t source_kind,
                     int64_t destination_kind);
std::string MemsetName(int64_t memory_kind);
std::string_view SyncName(int64_t sync_type);

// Removes the "_v7000" that CUPTI's tables append, and before it a "_ptsz" or
// "_ptds", which means the default stream of a thread.
std::string_view StripApiVersion(std::string_view name);

// Whether it is a driver call, which begins with "cu" and a capital letter.
bool IsDriverCall(std::string_view name);

}  // namespace kymo::sqlite

#endif  // KYMO_IMPORTERS_SQLITE_CUDA_NAMES_H_
