// python_layout.h - where CPython keeps what a stack is made of.
//
//   KYMO_ASSIGN_OR_RETURN(const PythonLayout layout,
//                         FindLayout(version, runtime_address, memory));
//
// From 3.13 on, the interpreter tells it at the beginning of its _PyRuntime
// (_Py_DebugOffsets). For 3.11 and 3.12 there is a table. Nothing is guessed: a
// version that is not known, or offsets that make no sense, are an error.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_LAYOUT_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_LAYOUT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "backends/sampling/python/target_memory.h"

namespace kymo::sampling {

// Offsets in bytes.
struct PythonLayout {
  int minor_version = 0;  // 11 = Python 3.11

  struct {
    uint64_t size;
    uint64_t previous;
    uint64_t code;         // a reference to the code object
    uint64_t instruction;  // where it is, or was last
    uint64_t locals;       // its first local variable
    uint64_t owner;        // a byte
    // A byte that says that the interpreter's loop began with this frame.
    // 0: from 3.12 on, a frame on the C stack says that.
    uint64_t is_entry;
    uint64_t tag_bits;  // of references, besides the object's address
  } frame{};
  struct {
    uint64_t filename;
    uint64_t qualified_name;
    uint64_t line_table;
    uint64_t first_line;  // 4 bytes
    uint64_t instructions;
  } code{};
  struct {
    uint64_t type;
    uint64_t size;  // of objects of variable size
  } object{};
  struct {
    uint64_t flags;
    uint64_t basic_size;
    uint64_t cached_keys;  // what attributes its objects have
  } type{};
  // Where objects of Python's classes have their attributes' values.
  enum class Attributes {
    kPointer,        // a pointer before the object says
    kTaggedPointer,  // the same, with a bit that says that these are no dict
    kInline,         // behind the object
  };
  Attributes attributes = Attributes::kPointer;
  // What a positive int of one digit has as its size, and what else may stand
  // there.
  struct {
    uint64_t one_digit;
    uint64_t ignored_bits;
  } number{};
  struct {
    uint64_t size;
    uint64_t data;
  } bytes{};
  struct {
    uint64_t state;   // 4 bytes; kTextKindShift
    uint64_t length;  // in characters
    uint64_t ascii_data;
    uint64_t other_data;
  } text{};
};

// In a text's state: 3 bits of kind, then one each for compact and ASCII.
inline constexpr int kTextKindShift = 2;

// The largest offset that a layout may have.
inline constexpr uint64_t kMostPythonOffset = 1024;

// The minor version in Py_Version (0x030b02f0 is 3.11.2); 0 if that is not
// Python 3.
int MinorVersion(uint64_t version) noexcept;

// `version` is the value of Py_Version, and `runtime` the address of
// _PyRuntime.
absl::StatusOr<PythonLayout> FindLayout(uint64_t version, uint64_t runtime,
                                        TargetMemory& memory);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_PYTHON_LAYOUT_H_
