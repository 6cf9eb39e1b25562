#include "kymo/sequence_number.h"

namespace kymo {
namespace {

constinit thread_local int64_t next_number = 0;

}  // namespace

int64_t PeekSequenceNumber() noexcept { return next_number; }

int64_t GetAndIncrementSequenceNumber() noexcept { return next_number++; }

}  // namespace kymo
