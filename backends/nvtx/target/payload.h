// payload.h - turns extended payloads of NVTX events into arguments.
//
//   EventArgs args;
//   ForeignName message;                  // set if an entry is the message
//   AddPayloads(domain, data, count, args, &message);
//
// Each entry becomes an argument with its name. Integers, doubles and texts
// stay what they are. Enums become their names, arrays become "[1, 2, 3]",
// addresses "0x...". An entry of a nested schema is called outer.inner. Some
// layouts are not understood here: unions, 128-bit numbers, arrays whose length
// is outside of the payload. Such an entry becomes "(not shown)", and nothing
// behind it is read.
//
// Trust: the blob is the program's, so nothing is read beyond the size that it
//   gave. Pointers to texts are followed, as the interface demands.
#ifndef KYMO_BACKENDS_NVTX_TARGET_PAYLOAD_H_
#define KYMO_BACKENDS_NVTX_TARGET_PAYLOAD_H_

#include <cstddef>

#include "backends/nvtx/target/domain.h"
#include "backends/nvtx/target/event_args.h"
#include "backends/nvtx/target/nvtx_abi.h"

namespace kymo::nvtx {

// `message` keeps its value if no entry is a message. REQUIRES: this process
// records.
void AddPayloads(const Domain& domain, const PayloadData* data, size_t count,
                 EventArgs& args, record::ForeignName* message) noexcept;

// The text of a registered string; null if the handle is of no such string.
record::ForeignText* TextOf(Handle handle) noexcept;

}  // namespace kymo::nvtx

#endif  // KYMO_BACKENDS_NVTX_TARGET_PAYLOAD_H_
