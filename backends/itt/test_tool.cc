// A tool of ITT that has all functions which Kymo replaces. Each writes its
// name and its arguments to a log, and returns something of the tool's own.
#include <cstdint>
#include <deque>
#include <string>
#include <type_traits>
#include <utility>

#include "backends/itt/target/itt_abi.h"

namespace {

using namespace kymo::itt;  // NOLINT: what this is about

std::string log;
uint64_t last_id = 0x9000;

std::string TextOf(const char* text) { return text == nullptr ? "null" : text; }
std::string TextOf(const Domain* domain) {
  return domain == nullptr ? "null" : domain->name;
}
std::string TextOf(const StringHandle* text) { return text->text; }
std::string TextOf(Id id) { return std::to_string(id.d1); }
std::string TextOf(const Id* id) { return id == nullptr ? "null" : "id"; }
std::string TextOf(void (*)()) { return "function"; }
std::string TextOf(void* pointer) {
  return pointer == nullptr ? "null" : "pointer";
}
template <typename T>
requires std::is_arithmetic_v<T> std::string TextOf(T number) {
  return std::to_string(number);
}

template <int kName, typename Result, typename... Arguments>
struct Function {
  static inline const char* name = nullptr;

  static Result Call(Arguments... arguments) {
    log += name;
    ((log += " " + TextOf(arguments)), ...);
    log += "\n";
    if constexpr (std::is_pointer_v<Result>) {
      return reinterpret_cast<Result>(++last_id);
    } else if constexpr (!std::is_void_v<Result>) {
      return static_cast<Result>(++last_id);
    }
  }
};

// Makes real ones, as a program reads them. They stay as long as the program.
template <typename Thing>
Thing* New(const char* text) {
  static auto& all = *new std::deque<std::pair<Thing, std::string>>;
  auto& [thing, kept] = all.emplace_back(Thing{}, text);
  if constexpr (std::is_same_v<Thing, Domain>) {
    thing.flags = 1;
    thing.name = kept.data();
  } else {
    thing.text = kept.data();
  }
  return &thing;
}
Domain* DomainCreate(const char* name) {
  log += std::string("domain_create ") + name + "\n";
  return New<Domain>(name);
}
StringHandle* StringHandleCreate(const char* text) {
  log += std::string("string_handle_create ") + text + "\n";
  return New<StringHandle>(text);
}

class Setter {
 public:
  explicit Setter(Global* global) : global_(global) {}

  template <typename F>
  void Set(const char* name, F* function) const {
    for (const ApiEntry* entry = global_->api_list; entry->name != nullptr;
         ++entry) {
      if (entry->name != std::string("__itt_") + name) continue;
      *entry->function = reinterpret_cast<void*>(function);
    }
  }
  template <int kName, typename Result, typename... Arguments>
  void Log(const char* name) const {
    using Logged = Function<kName, Result, Arguments...>;
    Logged::name = name;
    Set(name, Logged::Call);
  }

 private:
  Global* const global_;
};

}  // namespace

// Takes what was written.
extern "C" const char* TakeToolLog() {
  static std::string taken;
  taken = std::exchange(log, "");
  return taken.c_str();
}

// Kymo's, which a library that the tool brings, such as oneTBB, calls at the
// tool's start.
extern "C" void (*init_of_kymo)(Global* global, int groups);
void (*init_of_kymo)(Global* global, int groups) = nullptr;

// The table of that library.
extern "C" void* function_within_tool;
void* function_within_tool = nullptr;

namespace {

void UseIttWithin() {
  if (init_of_kymo == nullptr) return;
  static char null_function = 0;
  ApiEntry entries[] = {
      {"__itt_task_end", &function_within_tool, nullptr, &null_function, 0},
      {}};
  Global global = {};
  global.api_list = entries;
  init_of_kymo(&global, 77);
  if (function_within_tool == &null_function) function_within_tool = nullptr;
}

}  // namespace

extern "C" void __itt_api_init(Global* global, int groups) {
  UseIttWithin();
  log += "init " + std::to_string(groups) + "\n";
  const Setter to(global);
  using D = const Domain*;
  using S = StringHandle*;
  to.Set("domain_create", DomainCreate);
  to.Set("string_handle_create", StringHandleCreate);
  to.Log<0, void, D, Id, Id, S>("task_begin");
  to.Log<1, void, D, Id, Id, void (*)()>("task_begin_fn");
  to.Log<2, void, D>("task_end");
  to.Log<3, void, D, Id, Id, S>("task_begin_overlapped");
  to.Log<4, void, D, Id>("task_end_overlapped");
  to.Log<5, void, D, Id, Id, S>("region_begin");
  to.Log<6, void, D, Id>("region_end");
  to.Log<7, void, D, const Id*>("frame_begin_v3");
  to.Log<8, void, D, const Id*>("frame_end_v3");
  to.Log<9, void, D, Id, S, int>("marker");
  to.Log<10, void, D, Id, S, int, size_t, void*>("metadata_add");
  to.Log<11, void, D, Id, S, const char*, size_t>("metadata_str_add");
  to.Log<12, void*, const char*, const char*>("counter_create");
  to.Log<13, void*, const char*, const char*, int>("counter_create_typed");
  to.Log<14, void, void*, void*>("counter_set_value");
  to.Log<15, void, void*>("counter_inc");
  to.Log<16, void, void*, uint64_t>("counter_inc_delta");
  to.Log<17, void, void*>("counter_dec");
  to.Log<18, void, void*, uint64_t>("counter_dec_delta");
  to.Log<19, void, D, S>("counter_inc_v3");
  to.Log<20, void, D, S, uint64_t>("counter_inc_delta_v3");
  to.Log<21, void, D, S>("counter_dec_v3");
  to.Log<22, void, D, S, uint64_t>("counter_dec_delta_v3");
  to.Log<23, void, const char*>("thread_set_name");
  to.Log<24, void*>("stack_caller_create");
  to.Log<25, void, void*>("stack_callee_enter");
  to.Log<26, void, void*>("stack_callee_leave");
  to.Log<27, uint64_t>("get_timestamp");
}
