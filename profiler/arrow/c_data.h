// c_data.h - Arrow's C data interface: how programs hand each other columns.
//
//   void Take(kymo::arrow::Stream* stream) {
//     kymo::arrow::Array batch;
//     if (stream->get_next(stream, &batch) == 0 && batch.release != nullptr) {
//       Print(batch.length);
//       batch.release(&batch);
//     }
//     stream->release(stream);
//   }
//
// These are the structures ArrowSchema, ArrowArray and ArrowArrayStream of
// https://arrow.apache.org/docs/format/CDataInterface.html and
// CStreamInterface.html. Their layout is an ABI that never changes, so no
// library of Arrow is needed to make them.
//
// Ownership: whoever holds a structure calls its `release` once. A structure is
//   moved by copying its bytes and setting the old one's `release` to null.
//   Children may be moved away; a parent's `release` releases those that are
//   left.
// Threads: one at a time for each structure, not always the same one.
#ifndef KYMO_PROFILER_ARROW_C_DATA_H_
#define KYMO_PROFILER_ARROW_C_DATA_H_

#include <cstdint>

namespace kymo::arrow {

// Flags of a Schema: the column may have nulls.
inline constexpr int64_t kNullable = 2;

// The type of a column.
struct Schema {
  const char* format;    // "l": int64, "+s": a struct of the children, ...
  const char* name;      // null: ""
  const char* metadata;  // keys and values, each with its size before it
  int64_t flags;
  int64_t n_children;
  Schema** children;
  Schema* dictionary;
  void (*release)(Schema* self);  // null: released or moved away
  void* private_data;
};

// Values of a column.
struct Array {
  int64_t length;
  int64_t null_count;
  int64_t offset;  // where the values begin in the buffers
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;  // validity first, if the type has it; may be null
  Array** children;
  Array* dictionary;
  void (*release)(Array* self);
  void* private_data;
};

// Batches of rows. Functions return 0 or a number of errno.
struct Stream {
  int (*get_schema)(Stream* self, Schema* out);
  // At the end, `out->release` is null.
  int (*get_next)(Stream* self, Array* out);
  // About the last call that did not return 0; valid until the next call.
  const char* (*get_last_error)(Stream* self);
  void (*release)(Stream* self);
  void* private_data;
};

}  // namespace kymo::arrow

#endif  // KYMO_PROFILER_ARROW_C_DATA_H_
