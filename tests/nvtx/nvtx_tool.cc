// An injection library of NVTX that writes what it is told to the file that
// NVTX_LOG names, with the program's name behind it: one line per call. Its
// handles are its own.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>

#include "backends/nvtx/target/nvtx_abi.h"

namespace {

using namespace kymo::nvtx;  // NOLINT: what this is about

FILE* Log() {
  static FILE* const log = fopen(
      (std::string(getenv("NVTX_LOG")) + "." + program_invocation_short_name)
          .c_str(),
      "w");
  setvbuf(log, nullptr, _IOLBF, 0);
  return log;
}

const char* MessageOf(const EventAttributes* event) {
  if (event->message_type == kRegistered) {
    return static_cast<const char*>(event->message.registered);
  }
  return event->message.ascii;
}

Handle DomainCreate(const char* name) { return strdup(name); }
Handle RegisterString(Handle, const char* text) { return strdup(text); }
int Push(const char* message) {
  fprintf(Log(), "push %s\n", message);
  return 70;
}
int Pop() {
  fprintf(Log(), "pop\n");
  return 71;
}
int DomainPush(Handle domain, const EventAttributes* event) {
  fprintf(Log(), "push %s %s\n", static_cast<const char*>(domain),
          MessageOf(event));
  return 72;
}
int DomainPop(Handle domain) {
  fprintf(Log(), "pop %s\n", static_cast<const char*>(domain));
  return 73;
}
RangeId Start(const char* message) {
  fprintf(Log(), "start %s\n", message);
  return 12345;
}
void End(RangeId id) {
  fprintf(Log(), "end %llu\n", static_cast<unsigned long long>(id));  // NOLINT
}
void NameThread(uint32_t, const char* name) {
  fprintf(Log(), "thread %s\n", name);
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(GetExportTable get_table) {
  const auto* const callbacks =
      static_cast<const CallbacksTable*>(get_table(kCallbacks));
  FunctionTable table = nullptr;
  unsigned size = 0;
  const auto set = [&](unsigned id, auto* function) {
    *table[id] = reinterpret_cast<FunctionPointer>(function);
  };
  if (callbacks->get_module_functions(kCore, &table, &size) != 1) return 0;
  set(kRangePushA, Push);
  set(kRangePop, Pop);
  set(kRangeStartA, Start);
  set(kRangeEnd, End);
  set(kNameOsThreadA, NameThread);
  if (callbacks->get_module_functions(kCore2, &table, &size) != 1) return 0;
  set(kDomainCreateA, DomainCreate);
  set(kDomainRegisterStringA, RegisterString);
  set(kDomainRangePushEx, DomainPush);
  set(kDomainRangePop, DomainPop);
  return 1;
}
