// payload.h - extended payloads of NVTX events, as arguments.
//
//   EventArgs args;
//   ForeignName message;                  // set where an entry is the message
//   AddPayloads(domain, data, count, args, &message);
//
// An entry becomes an argument under its name: integers and doubles as such,
// texts, enums by their names, arrays as "[1, 2, 3]", addresses as "0x...".
// Entries of nested schemas are called outer.inner. What has a layout that is
// not understood here (unions, 128-bit numbers, arrays whose length stands
// elsewhere) is "(not shown)" and nothing behind it is read.
//
// Trust: the blob is the program's; nothing is read beyond the size that it
//   gave. Pointers to texts are followed, as the interface has it.
#ifndef KYMO_BACKENDS_NVTX_TARGET_PAYLOAD_H_
#define KYMO_BACKENDS_NVTX_TARGET_PAYLOAD_H_

#include <cstddef>

#include "backends/nvtx/target/domain.h"
#include "backends/nvtx/target/event_args.h"
#include "backends/nvtx/target/nvtx_abi.h"

namespace kymo::nvtx {

// `message` keeps its value where no entry is one. REQUIRES: this process
// records.
void AddPayloads(const Domain& domain, const PayloadData* data, size_t count,
                 EventArgs& args, record::ForeignName* message) noexcept;

// The text behind a registered string's handle; null if it is none.
record::ForeignText* TextOf(Handle handle) noexcept;

}  // namespace kymo::nvtx

#endif  // KYMO_BACKENDS_NVTX_TARGET_PAYLOAD_H_
