#include "backends/itt/target/client.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "profiler/record/tool_variables.h"

namespace kymo::itt {
namespace {

// The functions that a tool fills in.
struct Functions {
  Domain* (*domain_create)(const char* name);
  StringHandle* (*string_handle_create)(const char* text);
  void (*task_begin)(const Domain*, Id id, Id parent, StringHandle* name);
  void (*task_end)(const Domain*);
  void (*marker)(const Domain*, Id id, StringHandle* name, int scope);
};
constinit Functions functions = {};

constexpr int kAllGroups = 0x7fffffff;
constexpr int kMarkerScopeTask = 5;

template <typename Function>
ApiEntry Entry(const char* name, Function*& function) {
  return {name, reinterpret_cast<void**>(&function), nullptr, nullptr,
          kAllGroups};
}

// As in ITT's own static part. The tool may keep pointers to it.
Global& TheGlobal() {
  static ApiEntry api_list[] = {
      Entry("__itt_domain_create", functions.domain_create),
      Entry("__itt_string_handle_create", functions.string_handle_create),
      Entry("__itt_task_begin", functions.task_begin),
      Entry("__itt_task_end", functions.task_end),
      Entry("__itt_marker", functions.marker),
      {}};
  static Global global = {
      .magic = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30},
      .version_major = 3,
      .version_minor = 25,
      .api_initialized = 0,
      .mutex_initialized = 1,
      .mutex = PTHREAD_MUTEX_INITIALIZER,
      .api_list = api_list};
  return global;
}

}  // namespace

IttClient::IttClient() {
  const char* const path = getenv(record::kIttToolVariable);
  if (path == nullptr) return;
  void* const library = dlopen(path, RTLD_LAZY);
  if (library == nullptr) return;
  const auto initialize =
      reinterpret_cast<ApiInit>(dlsym(library, "__itt_api_init"));
  if (initialize == nullptr) return;
  TheGlobal().library = library;
  initialize(&TheGlobal(), kAllGroups);
  if (functions.domain_create == nullptr ||
      functions.string_handle_create == nullptr ||
      functions.task_begin == nullptr || functions.task_end == nullptr) {
    return;
  }
  domain_ = functions.domain_create("kymo");
}

void IttClient::Push(const char* name) const noexcept {
  if (domain_ == nullptr || domain_->flags == 0) return;
  functions.task_begin(domain_, {}, {}, functions.string_handle_create(name));
}

void IttClient::Pop() const noexcept {
  if (domain_ == nullptr || domain_->flags == 0) return;
  functions.task_end(domain_);
}

void IttClient::Mark(const char* name) const noexcept {
  if (domain_ == nullptr || domain_->flags == 0 ||
      functions.marker == nullptr) {
    return;
  }
  functions.marker(domain_, {}, functions.string_handle_create(name),
                   kMarkerScopeTask);
}

const IttClient& GetIttClient() {
  static const IttClient client;
  return client;
}

}  // namespace kymo::itt
