#include "backends/itt/target/names.h"

#include <atomic>

#include "backends/itt/target/functions.h"

namespace kymo::itt {

using record::ForeignName;
using record::ForeignText;

namespace {

ForeignText* TextOf(const char* text) noexcept {
  return record::AddForeignText(text == nullptr ? record::kNoForeignName
                                                : text);
}

}  // namespace

Domain* DomainCreate(const char* name) noexcept {
  if (next_functions[kDomainCreate] != nullptr) {
    return CallNext(kDomainCreate, static_cast<Domain*>(nullptr), name);
  }
  static constinit std::atomic<Domain*> domains = nullptr;
  const ForeignText* const text = TextOf(name);
  if (text == nullptr) return nullptr;
  Domain* first = domains.load(std::memory_order_acquire);
  for (Domain* at = first; at != nullptr; at = at->next) {
    if (at->name == text->text) return at;
  }
  auto* const domain =
      static_cast<Domain*>(record::AllocateForeign(sizeof(Domain)));
  if (domain == nullptr) return nullptr;
  domain->name = text->text;
  domain->flags = 1;
  do {
    domain->next = first;
  } while (
      !domains.compare_exchange_weak(first, domain, std::memory_order_acq_rel));
  return domain;
}

StringHandle* StringHandleCreate(const char* text) noexcept {
  if (next_functions[kStringHandleCreate] != nullptr) {
    return CallNext(kStringHandleCreate, static_cast<StringHandle*>(nullptr),
                    text);
  }
  ForeignText* const kept = TextOf(text);
  if (kept == nullptr) return nullptr;
  // One text has one handle.
  void* known = kept->others.load(std::memory_order_acquire);
  if (known != nullptr) return static_cast<StringHandle*>(known);
  auto* const handle =
      static_cast<StringHandle*>(record::AllocateForeign(sizeof(StringHandle)));
  if (handle == nullptr) return nullptr;
  handle->text = kept->text;
  return kept->others.compare_exchange_strong(known, handle,
                                              std::memory_order_acq_rel)
             ? handle
             : static_cast<StringHandle*>(known);
}

uint32_t IdOf(const char* text) noexcept {
  const ForeignName name = record::NameOf(text);
  return name.id != record::kNameInPayload ? name.id : record::kNameLost;
}

ForeignName NameOf(const StringHandle* handle) noexcept {
  return record::NameOf(handle == nullptr ? nullptr : handle->text);
}

record::Captured In(const Domain* domain, ForeignName name) noexcept {
  const bool has_name = domain != nullptr && domain->name != nullptr;
  return {.name = name,
          .source = record::kSlotItt,
          .domain = has_name ? IdOf(domain->name) : record::kNameLost};
}

}  // namespace kymo::itt
