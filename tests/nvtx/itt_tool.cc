// A collector of ITT that writes what it is told to the file that ITT_LOG
// names, with the program's name behind it: one line per call.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>

#include "backends/itt/target/itt_abi.h"

namespace {

using kymo::itt::ApiEntry;
using kymo::itt::Domain;
using kymo::itt::Global;
using kymo::itt::Id;
using kymo::itt::StringHandle;

FILE* Log() {
  static FILE* const log = fopen(
      (std::string(getenv("ITT_LOG")) + "." + program_invocation_short_name)
          .c_str(),
      "w");
  setvbuf(log, nullptr, _IOLBF, 0);
  return log;
}

Domain* DomainCreate(const char* name) {
  auto* const domain = new Domain{.flags = 1, .name = strdup(name)};
  fprintf(Log(), "domain %s\n", name);
  return domain;
}

StringHandle* StringHandleCreate(const char* text) {
  return new StringHandle{.text = strdup(text)};
}

void TaskBegin(const Domain* domain, Id, Id, StringHandle* name) {
  fprintf(Log(), "begin %s %s\n", domain->name, name->text);
}

void TaskEnd(const Domain* domain) { fprintf(Log(), "end %s\n", domain->name); }

void* FunctionOf(const char* name) {
  if (strcmp(name, "__itt_domain_create") == 0) {
    return reinterpret_cast<void*>(DomainCreate);
  }
  if (strcmp(name, "__itt_string_handle_create") == 0) {
    return reinterpret_cast<void*>(StringHandleCreate);
  }
  if (strcmp(name, "__itt_task_begin") == 0) {
    return reinterpret_cast<void*>(TaskBegin);
  }
  if (strcmp(name, "__itt_task_end") == 0) {
    return reinterpret_cast<void*>(TaskEnd);
  }
  return nullptr;
}

}  // namespace

extern "C" void __itt_api_init(Global* global, int) {
  for (ApiEntry* entry = global->api_list; entry->name != nullptr; ++entry) {
    void* const function = FunctionOf(entry->name);
    *entry->function = function != nullptr ? function : entry->null_function;
  }
}
