// thread_name.h - the name that a Python program gave one of its threads.
//
//   threading.Thread(target=serve, name="server")
//
//   if (auto thread = ReadThreadName(frame, layout, memory)) {
//     Use(thread->name, thread->number);  // "server", 4711
//   }
//
// Such a thread runs Thread._bootstrap(self) as long as it lives. So the
// object stands in the frame of that function, and its attribute `_name` has
// the name. Up to CPython 3.13 the kernel does not know it, and later it has 15
// bytes of it.
//
// The next thread may get the memory of one that has ended. So the attribute
// `_native_id` tells whose name it is.
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_THREAD_NAME_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_THREAD_NAME_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/sampling/python/python_layout.h"
#include "backends/sampling/python/target_memory.h"

namespace kymo::sampling {

// More characters are left out.
inline constexpr size_t kMostThreadNameCharacters = 64;

// Whether this is the function with which threads begin.
bool BeginsThread(std::string_view function, std::string_view file) noexcept;

struct ProgramThread {
  std::string name;
  int64_t number = 0;  // in the program's own namespace of thread ids
};

// `frame` is that function's. Nothing if something there is not what it
// should be: a thread that has just begun has no number.
std::optional<ProgramThread> ReadThreadName(uint64_t frame,
                                            const PythonLayout& layout,
                                            TargetMemory& memory);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_THREAD_NAME_H_
