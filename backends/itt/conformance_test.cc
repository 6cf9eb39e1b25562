#include <chrono>

#include "backends/itt/itt_backend.h"
#include "backends/itt/target/itt_abi.h"
#include "profiler/plugin/test_backend_conformance.h"

extern "C" void __itt_api_init(kymo::itt::Global* global, int groups);

namespace kymo {
namespace {

// The part of ITT that is in each program. The collector, which is linked in,
// sets the functions.
struct Program {
  Program() {
    __itt_api_init(&global, 0x7fffffff);
    domain = create_domain("test");
    name = create_string("work");
  }

  itt::Domain* (*create_domain)(const char*) = nullptr;
  itt::StringHandle* (*create_string)(const char*) = nullptr;
  void (*begin)(const itt::Domain*, itt::Id, itt::Id,
                itt::StringHandle*) = nullptr;
  void (*end)(const itt::Domain*) = nullptr;
  itt::ApiEntry entries[5] = {
      {"__itt_domain_create", reinterpret_cast<void**>(&create_domain)},
      {"__itt_string_handle_create", reinterpret_cast<void**>(&create_string)},
      {"__itt_task_begin", reinterpret_cast<void**>(&begin)},
      {"__itt_task_end", reinterpret_cast<void**>(&end)},
      {}};
  itt::Global global = {.api_list = entries};
  itt::Domain* domain = nullptr;
  itt::StringHandle* name = nullptr;
};

void Annotate() {
  static const auto& program = *new Program;
  program.begin(program.domain, {}, {}, program.name);
  program.end(program.domain);
}

KYMO_TEST_BACKEND(ThisProcess,
                  {.make = NewIttBackend,
                   .record = Annotate,
                   .time_per_test = std::chrono::milliseconds(500)});

KYMO_TEST_BACKEND(Child, {.make = NewIttBackend,
                          .options = {.target = TargetKind::kChildProcess},
                          .time_per_test = std::chrono::milliseconds(500)});

}  // namespace
}  // namespace kymo
