// translate.h - translates CUPTI's activity records to Kymo's (gpu_record.h).
//
//   TranslateBuffer(functions, buffer, valid_bytes, writer);
//
// CUPTI's structs grow at the end from version to version, and the program's
// library need not be the one whose header Kymo was built with. So the library,
// which steps from one record to the next, tells how long a record is. Fields
// that a shorter record lacks read as 0; extra fields of a longer record are
// ignored. (Fields have kept their places from CUDA 12.0 to 13.5.)
//
// Threads: one at a time.
// Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_TRANSLATE_H_
#define KYMO_BACKENDS_CUPTI_TARGET_TRANSLATE_H_

#include <cstddef>
#include <cstdint>

#include "backends/cupti/log/log_writer.h"

namespace kymo::cupti {

// The library's functions, with void* for its types.
struct RecordFunctions {
  // cuptiActivityGetNextRecord; *record null: gets the first record.
  int (*next_record)(uint8_t* buffer, size_t valid_bytes, void** record);
  // cuptiGetCallbackName.
  int (*callback_name)(int domain, uint32_t cbid, const char** name);
};

void TranslateBuffer(const RecordFunctions& functions, uint8_t* buffer,
                     size_t valid_bytes, LogWriter& writer) noexcept;

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_TRANSLATE_H_
