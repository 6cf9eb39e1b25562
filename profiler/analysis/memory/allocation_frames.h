// allocation_frames.h - which frames of an allocation's stack say who asked for
// memory, and which only say how the allocator was reached.
//
//   IsAllocationFunction("operator new(unsigned long)");          // true
//   IsAllocationFunction("std::_Vector_base<int>::_M_allocate()");  // true
//   IsAllocationFunction("std::vector<int>::push_back(int&&)");   // false
//
//   AllocationFrames frames(trace);
//   frames.Caller(record.stack);     // ends at std::vector<int>::push_back
//   frames.OwnCaller(record.stack);  // ends at the caller of push_back
//   frames.ProgramCaller(stack);     // not at std::__invoke_impl either
//
// A function is known by its demangled name. The rules:
//
// - the malloc family, operator new, and the functions of jemalloc, tcmalloc
//   and mimalloc that allocate
// - of C++'s standard library: `allocate` and its like, and what the library
//   has for itself alone, whose names begin with an underscore
//   ([lex.name] of the standard reserves them). If such a function calls one
//   of the program, as std::thread's _M_run does, it does not count, because
//   the compiler may have inlined the program's function there.
// - of Rust: __rust_alloc and its like, alloc::alloc and alloc::raw_vec
//
// A program's own malloc, such as xmalloc or g_malloc0, asks on behalf of its
// callers. It counts as the program's only if no caller of it is known.
//
// Threads: none.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_ALLOCATION_FRAMES_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_ALLOCATION_FRAMES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/model/trace.h"

namespace kymo::analysis {

// Whether `function` belongs to an allocator. It is demangled. Names of C++ may
// lack the parameters, but then reserved names do not count.
bool IsAllocationFunction(std::string_view function);

// Whether `function` is a program's own malloc, calloc, realloc or strdup:
// "my_malloc", "ber_memcalloc_x", "PyMem_RawMalloc", "av_mallocz".
bool IsAllocationWrapper(std::string_view function);

// Whether `function` belongs to the standard library of C++ or Rust and calls
// no function of the program.
bool IsLibraryFunction(std::string_view function);

// Whether `function` belongs to the standard library of C++ and calls one of
// the program, as std::__invoke_impl does.
bool IsInvokerFunction(std::string_view function);

class AllocationFrames {
 public:
  // `trace` must outlive this object.
  explicit AllocationFrames(const model::Trace& trace);

  // The stack without the allocation functions at its inner end. If it has no
  // other function, the stack itself.
  model::StackId Caller(model::StackId stack);

  // The stack without all functions at its inner end that are not the program's
  // own: allocators, the standard library, files of the C and C++ runtime, the
  // program's own malloc. If none is left, the program's own malloc or else
  // Caller(stack).
  model::StackId OwnCaller(model::StackId stack);
  // The function in which that ends. kEmptyName of the empty stack.
  model::NameId OwnFunction(model::StackId stack);

  // The same without the library's functions that call the program's. For a
  // stack that called a function of the program, which is then not inlined
  // there. The empty stack if none is the program's own.
  model::StackId ProgramCaller(model::StackId stack);

 private:
  enum class Kind : uint8_t {
    kUnknown,
    kAllocator,
    kLibrary,
    kInvoker,  // the library's, and calls the program
    kWrapper,  // the program's own malloc
    kOwn
  };

  Kind KindOf(model::FrameId frame);
  // The stack without the functions of the library at its inner end.
  model::StackId WithoutLibrary(model::StackId stack);

  const model::Trace& trace_;
  std::vector<Kind> kinds_;  // by FrameId
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_ALLOCATION_FRAMES_H_
