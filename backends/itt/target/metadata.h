// metadata.h - ITT's metadata: arguments of the task, region or frame with a
// given id or, without an id, of the thread's innermost task of the domain.
//
// Only the first number of an array is kept.
//
// The functions have the names of ITT's own. Threads: any.
#ifndef KYMO_BACKENDS_ITT_TARGET_METADATA_H_
#define KYMO_BACKENDS_ITT_TARGET_METADATA_H_

#include <cstddef>

#include "backends/itt/target/itt_abi.h"

namespace kymo::itt {

void MetadataAdd(const Domain* domain, Id id, StringHandle* key, int type,
                 size_t count, void* data) noexcept;
// `size` 0: the text ends at its NUL.
void MetadataStrAdd(const Domain* domain, Id id, StringHandle* key,
                    const char* text, size_t size) noexcept;

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_TARGET_METADATA_H_
