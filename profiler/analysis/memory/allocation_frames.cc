#include "profiler/analysis/memory/allocation_frames.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "profiler/analysis/memory/runtime_memory.h"

namespace kymo::analysis {
namespace {

constexpr std::string_view kCFunctions[] = {
    "aligned_alloc", "calloc",  "malloc",       "memalign",
    "mmap",          "mmap64",  "mremap",       "posix_memalign",
    "pvalloc",       "realloc", "reallocarray", "valloc"};
// What glibc, jemalloc, Rust's jemalloc, mimalloc and gperftools put before
// their names of these functions.
constexpr std::string_view kCPrefixes[] = {
    "__libc_", "je_", "_rjem_je_", "_rjem_", "_mi_", "mi_", "tc_"};
constexpr std::string_view kCSuffixes[] = {"_aligned", "_at",      "_generic",
                                           "_n",       "_nothrow", "_small"};
// What some of these have besides.
constexpr std::string_view kCVariants[] = {
    "alloc_new", "mallocn",  "mallocx",  "new",      "newarray", "new_realloc",
    "rallocx",   "reallocf", "reallocn", "recalloc", "rezalloc", "zalloc"};
constexpr std::string_view kAllocatorFiles[] = {"libjemalloc", "libmimalloc",
                                                "libtcmalloc"};
constexpr std::string_view kRustFunctions[] = {"__rust_alloc", "__rust_realloc",
                                               "__rdl_", "__rg_"};
constexpr std::string_view kRustAllocators[] = {
    "alloc::alloc::",    "<alloc::alloc::", "alloc::raw_vec::",
    "<alloc::raw_vec::", "std::alloc::",    "<std::alloc::",
    "std::sys::alloc::"};

constexpr std::string_view kCxxSpaces[] = {
    "std::", "__gnu_cxx::", "__cxxabiv1::"};
constexpr std::string_view kRustSpaces[] = {
    "alloc::", "core::", "hashbrown::", "std::"};
// Public functions of the standard library that allocate.
constexpr std::string_view kAllocate[] = {"allocate", "allocate_at_least",
                                          "allocate_bytes", "do_allocate"};
// Inline namespaces, which begin with an underscore as well.
constexpr std::string_view kInlineSpaces[] = {
    "_V2",     "__1",      "__cxx11",   "__cxx1998",
    "__debug", "__detail", "__gnu_cxx", "__ndk1"};
// Functions of the standard library that call the program's.
constexpr std::string_view kCallers[] = {
    "_M_do_set", "_M_invoke", "_M_run", "__call", "__once_proxy", "operator()"};
constexpr std::string_view kCallerPrefixes[] = {"__invoke", "__thread_execute",
                                                "__thread_proxy"};

template <size_t n>
bool IsOneOf(const std::string_view (&names)[n], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

template <size_t n>
bool BeginsWithOneOf(const std::string_view (&begins)[n],
                     std::string_view name) {
  return std::any_of(
      std::begin(begins), std::end(begins),
      [name](std::string_view begin) { return name.starts_with(begin); });
}

// A demangled name, taken apart. Of
//   "void std::__1::vector<f(int)>::push_back[abi:v1](int)"
// the path is "std::__1::vector<f(int)>::push_back[abi:v1]" and the last name
// "push_back".
struct FunctionName {
  std::string_view path;
  std::string_view last;
  bool has_parameters = false;
  bool is_reserved = false;  // a part of the path begins with an underscore
};

class NameReader {
 public:
  explicit NameReader(std::string_view text) : text_(text) {}

  FunctionName Read() {
    while (at_ < text_.size() && !name_.has_parameters) Step();
    EndPart();
    name_.path = text_.substr(begin_, at_ - begin_);
    return name_;
  }

 private:
  bool Sees(std::string_view text) const {
    return text_.substr(at_).starts_with(text);
  }

  void Step() {
    if (at_ == part_ && Sees("operator") && !IsWordAt(at_ + 8)) {
      // Brackets and spaces of an operator's name are no others.
      at_ = text_.find('(', at_ + (Sees("operator()") ? 10 : 8));
      at_ = std::min(at_, text_.size());
      name_.has_parameters = true;
    } else if (Sees("(")) {
      Parenthesis();
    } else if (Sees("<") || Sees("[") || Sees("{")) {
      at_ = AfterBracket(at_);
    } else if (Sees(" ")) {  // the end of a return type
      begin_ = part_ = ++at_;
      name_.is_reserved = false;
    } else if (Sees("::<")) {  // Rust's f::<i32>
      at_ += 2;
    } else if (Sees("::")) {
      EndPart();
      at_ += 2;
      part_ = at_;
    } else {
      ++at_;
    }
  }

  // Begins the parameters, unless a further part follows, as behind "(anonymous
  // namespace)" and behind the function that a lambda is in.
  void Parenthesis() {
    size_t after = AfterBracket(at_);
    for (const std::string_view word : {" const", " volatile", " &&", " &"}) {
      if (text_.substr(after).starts_with(word)) after += word.size();
    }
    const bool is_name = text_.substr(after).starts_with("::");
    if (is_name || at_ == begin_) {
      at_ = after;
    } else {
      name_.has_parameters = true;
    }
  }

  bool IsWordAt(size_t i) const {
    if (i >= text_.size()) return false;
    const char c = text_[i];
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z');
  }

  // Where the bracket at `i` has been closed.
  size_t AfterBracket(size_t i) const {
    int depth = 0;
    for (; i < text_.size(); ++i) {
      const char c = text_[i];
      const bool is_arrow = c == '>' && text_[i - 1] == '-';
      if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
      if ((c == '>' && !is_arrow) || c == ')' || c == ']' || c == '}') --depth;
      if (depth == 0) return i + 1;
    }
    return i;
  }

  void EndPart() {
    std::string_view part = text_.substr(part_, at_ - part_);
    if (!part.starts_with("operator")) {
      part = part.substr(0, part.find_first_of("<[("));
    }
    if (part.ends_with("::")) part.remove_suffix(2);
    name_.last = part;
    name_.is_reserved |= part.starts_with('_') && !IsOneOf(kInlineSpaces, part);
  }

  const std::string_view text_;
  FunctionName name_;
  size_t at_ = 0;
  size_t begin_ = 0;  // of the path
  size_t part_ = 0;   // of the part that is being read
};

// Whether an allocator has the name besides the standard's, like
// "mi_heap_malloc_aligned_at". `name` has lost the allocator's prefix.
bool IsVariant(std::string_view name) {
  if (name.starts_with("heap_")) name.remove_prefix(5);
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (const std::string_view suffix : kCSuffixes) {
      if (!name.ends_with(suffix)) continue;
      name.remove_suffix(suffix.size());
      is_changed = true;
    }
  }
  return IsOneOf(kCFunctions, name) || IsOneOf(kCVariants, name);
}

bool IsAllocatorsC(std::string_view name) {
  if (IsOneOf(kCFunctions, name)) return true;
  return std::any_of(std::begin(kCPrefixes), std::end(kCPrefixes),
                     [name](std::string_view prefix) {
                       return name.starts_with(prefix) &&
                              IsVariant(name.substr(prefix.size()));
                     });
}

// What a program's own functions that allocate are called at their end.
constexpr std::string_view kWrapperEnds[] = {
    "alloc_aligned", "calloc",  "malloc",  "mallocz", "memalign",
    "reallocarray",  "realloc", "strndup", "strdup",  "zalloc"};

// Without what tells functions of one kind apart: "g_malloc0_n",
// "ber_memalloc_x", "xmalloc2", and GCC's "xcalloc.constprop.0".
std::string_view WithoutVariant(std::string_view name) {
  name = name.substr(0, name.find('.'));
  const auto end = name.find_last_not_of("0123456789");
  name = name.substr(0, end + 1);  // npos + 1 == 0
  const size_t last = name.rfind('_');
  if (last == name.npos || name.size() - last > 2) return name;
  name = name.substr(0, last);
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

bool IsWrapper(const FunctionName& name) {
  if (name.path != name.last) return false;
  std::string lower(WithoutVariant(name.path));
  absl::AsciiStrToLower(&lower);
  return std::any_of(
      std::begin(kWrapperEnds), std::end(kWrapperEnds),
      [&lower](std::string_view end) { return lower.ends_with(end); });
}

bool CallsTheProgram(const FunctionName& name) {
  return IsOneOf(kCallers, name.last) ||
         BeginsWithOneOf(kCallerPrefixes, name.last);
}

bool IsAllocation(const FunctionName& name) {
  if (BeginsWithOneOf(kRustFunctions, name.last)) return true;
  if (name.path == name.last) {
    return IsAllocatorsC(name.path) || name.path == "operator new" ||
           name.path == "operator new[]" ||
           name.path.starts_with("TCMallocInternal");
  }
  if (name.path.starts_with("tcmalloc::")) return true;
  // Names of Rust have no parameters.
  if (!name.has_parameters && BeginsWithOneOf(kRustAllocators, name.path)) {
    return true;
  }
  if (!BeginsWithOneOf(kCxxSpaces, name.path)) return false;
  if (IsOneOf(kAllocate, name.last) || name.last.starts_with("_M_allocate")) {
    return true;
  }
  return name.has_parameters && name.is_reserved && !CallsTheProgram(name);
}

// In "<A as B>::f", code of the library is only what the library says of its
// own types, and of those without a path ("u8").
bool IsRustLibrary(std::string_view path) {
  if (!path.starts_with('<')) return BeginsWithOneOf(kRustSpaces, path);
  path.remove_prefix(1);
  const size_t as = path.find(" as ");
  const std::string_view type = path.substr(0, as);
  if (as == path.npos) return BeginsWithOneOf(kRustSpaces, type);
  return BeginsWithOneOf(kRustSpaces, path.substr(as + 4)) &&
         (type.find("::") == type.npos || BeginsWithOneOf(kRustSpaces, type));
}

// A function of C++'s standard library that calls the program's.
bool IsInvoker(const FunctionName& name) {
  return BeginsWithOneOf(kCxxSpaces, name.path) && CallsTheProgram(name);
}

bool IsLibrary(const FunctionName& name) {
  if (BeginsWithOneOf(kCxxSpaces, name.path) && !CallsTheProgram(name)) {
    return true;
  }
  // libstdc++'s own calls of pthread_..., where nothing is inlined.
  if (name.last.starts_with("__gthread_")) return true;
  return !name.has_parameters && IsRustLibrary(name.path);
}

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 == 0
}

}  // namespace

bool IsAllocationFunction(std::string_view function) {
  return IsAllocation(NameReader(function).Read());
}

bool IsAllocationWrapper(std::string_view function) {
  return IsWrapper(NameReader(function).Read());
}

bool IsLibraryFunction(std::string_view function) {
  return IsLibrary(NameReader(function).Read());
}

bool IsInvokerFunction(std::string_view function) {
  return IsInvoker(NameReader(function).Read());
}

AllocationFrames::AllocationFrames(const model::Trace& trace)
    : trace_(trace), kinds_(trace.stacks().frame_count()) {}

AllocationFrames::Kind AllocationFrames::KindOf(model::FrameId id) {
  Kind& kind = kinds_[Index(id)];
  if (kind != Kind::kUnknown) return kind;
  const model::Frame& frame = trace_.stacks().frame(id);
  const std::string_view text = trace_.Name(frame.function);
  const std::string_view file = trace_.Name(frame.module);
  const FunctionName name = NameReader(text).Read();
  if (IsAllocation(name) || BeginsWithOneOf(kAllocatorFiles, BaseName(file))) {
    kind = Kind::kAllocator;
  } else if (IsLibrary(name) || IsRuntimeFile(file) || text == "_start") {
    kind = Kind::kLibrary;
  } else if (IsInvoker(name)) {
    kind = Kind::kInvoker;
  } else {
    kind = IsWrapper(name) ? Kind::kWrapper : Kind::kOwn;
  }
  return kind;
}

model::StackId AllocationFrames::Caller(model::StackId stack) {
  const model::StackTable& stacks = trace_.stacks();
  model::StackId at = stack;
  while (at != model::kEmptyStack &&
         KindOf(stacks.leaf(at)) == Kind::kAllocator) {
    at = stacks.parent(at);
  }
  return at != model::kEmptyStack ? at : stack;
}

model::StackId AllocationFrames::WithoutLibrary(model::StackId stack) {
  const model::StackTable& stacks = trace_.stacks();
  while (stack != model::kEmptyStack &&
         KindOf(stacks.leaf(stack)) < Kind::kInvoker) {
    stack = stacks.parent(stack);
  }
  return stack;
}

model::StackId AllocationFrames::OwnCaller(model::StackId stack) {
  const model::StackTable& stacks = trace_.stacks();
  model::StackId at = WithoutLibrary(stack);
  if (at == model::kEmptyStack) return Caller(stack);
  model::StackId caller = at;
  while (caller != model::kEmptyStack &&
         KindOf(stacks.leaf(caller)) == Kind::kWrapper) {
    caller = WithoutLibrary(stacks.parent(caller));
  }
  if (caller == model::kEmptyStack) return at;
  // "[truncated]" and its like are no callers.
  const model::Frame& frame = stacks.frame(stacks.leaf(caller));
  return trace_.Name(frame.function).starts_with('[') ? at : caller;
}

model::NameId AllocationFrames::OwnFunction(model::StackId stack) {
  if (stack == model::kEmptyStack) return model::kEmptyName;
  const model::StackTable& stacks = trace_.stacks();
  return stacks.frame(stacks.leaf(OwnCaller(stack))).function;
}

model::StackId AllocationFrames::ProgramCaller(model::StackId stack) {
  const model::StackTable& stacks = trace_.stacks();
  // An inlined lambda is called operator() and nothing else, whichever it is.
  const auto is_lambda = [&](model::FrameId frame) {
    return trace_.Name(stacks.frame(frame).function) == "operator()";
  };
  while (stack != model::kEmptyStack &&
         (KindOf(stacks.leaf(stack)) < Kind::kWrapper ||
          is_lambda(stacks.leaf(stack)))) {
    stack = stacks.parent(stack);
  }
  return stack;
}

}  // namespace kymo::analysis
