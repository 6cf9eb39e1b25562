// thread_name.h - the name that a Python program gave one of its threads.
//
//   threading.Thread(target=serve, name="server")
//
//   if (auto name = ReadThreadName(frame, layout, memory)) ...  // "server"
//
// Such a thread runs Thread._bootstrap(self) as long as it lives. So the
// object stands in the frame of that function, and its attribute `_name` has
// the name. Up to CPython 3.13 the kernel does not know it.
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

// `frame` is that function's. Nothing if the layout says not how, or something
// there is not what it should be.
std::optional<std::string> ReadThreadName(uint64_t frame,
                                          const PythonLayout& layout,
                                          TargetMemory& memory);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_THREAD_NAME_H_
