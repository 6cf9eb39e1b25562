// metadata.h - ITT's metadata: arguments of the task, region or frame with that
// id, or of the thread's innermost task of the domain.
//
// Of an array of numbers the first is kept.
//
// The functions are ITT's own, of the same names. Threads: any.
#ifndef KYMO_BACKENDS_ITT_TARGET_METADATA_H_
#define KYMO_BACKENDS_ITT_TARGET_METADATA_H_

#include <cstddef>

#include "backends/itt/target/itt_abi.h"

namespace kymo::itt {

void MetadataAdd(const Domain* domain, Id id, StringHandle* key, int type,
                 size_t count, void* data) noexcept;
// `size` 0: up to the NUL.
void MetadataStrAdd(const Domain* domain, Id id, StringHandle* key,
                    const char* text, size_t size) noexcept;

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_TARGET_METADATA_H_
