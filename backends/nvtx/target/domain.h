// domain.h - what a program registers with NVTX: domains, and for each domain
// names of categories and layouts of payloads.
//
//   Domain* const domain = AddDomain("io");       // what the program gets
//   domain->NameCategory(3, AddForeignText("reads"));
//   Domain* const same = DomainOf(handle);        // whoever made the handle
//
// Nothing is ever freed: a program may use a handle after it has destroyed it.
// A program registers each thing once, not a million times.
//
// Handles: without another tool behind us, handles are ours. With one, they are
//   that tool's (next_tool.h), so it can use unchanged what the program passes
//   on.
// Threads: any; lock-free. Errors: null if memory is short or the handle is
//   unknown; everything then goes to the default domain.
#ifndef KYMO_BACKENDS_NVTX_TARGET_DOMAIN_H_
#define KYMO_BACKENDS_NVTX_TARGET_DOMAIN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backends/nvtx/target/nvtx_abi.h"
#include "profiler/record/foreign_names.h"

namespace kymo::nvtx {

struct Category {
  Category* next;
  uint32_t id;
  record::ForeignText* name;
};

// One entry of a payload, as its schema describes it.
struct Field {
  uint64_t flags;  // kEntry...
  uint64_t type;   // EntryType, or a schema
  uint64_t detail;
  uint64_t offset;
  uint64_t value;             // the value of an enum's entry
  record::ForeignText* name;  // null: it has none
};

struct Schema {
  Schema* next;
  uint64_t id;
  record::ForeignText* name;  // null: it has none
  size_t static_size;         // 0: not given
  size_t pack_align;          // 0: natural alignment
  bool is_enum;               // then the fields are its values
  size_t field_count;
  Field fields[];
};

struct Domain {
  static constexpr uint32_t kMark = 0x4b446f6du;
  static constexpr size_t kPlaces = 32;

  uint32_t mark;               // kMark
  record::ForeignText* name;   // null: the default domain
  std::atomic<Handle> others;  // the handle of the tool behind us
  Domain* next;
  std::atomic<Category*> categories[kPlaces];
  std::atomic<Schema*> schemas[kPlaces];

  // If a category is named twice, the last name counts.
  void NameCategory(uint32_t id, record::ForeignText* text) noexcept;
  // Null: the category has no name.
  record::ForeignText* CategoryName(uint32_t id) const noexcept {
    const Category* at =
        categories[id % kPlaces].load(std::memory_order_acquire);
    while (at != nullptr && at->id != id) at = at->next;
    return at == nullptr ? nullptr : at->name;
  }

  const Schema* FindSchema(uint64_t id) const noexcept;
  void AddSchema(Schema* schema) noexcept;

  // The recorder's id of the domain's name. REQUIRES: this process records.
  uint32_t NameId() const noexcept {
    if (name == nullptr) return record::kNameLost;
    const uint32_t id = record::ForeignId(name);
    return id != record::kNameInPayload ? id : record::kNameLost;
  }
};

extern constinit Domain default_domain;

// The domain of that name; made if there is none yet.
Domain* AddDomain(std::string_view name) noexcept;

Domain* DomainOfOthers(Handle handle) noexcept;
inline Domain* DomainOf(Handle handle) noexcept {
  if (handle == nullptr) return &default_domain;
  auto* const domain = static_cast<Domain*>(handle);
  if (record::IsForeignAllocation(handle) && domain->mark == Domain::kMark) {
    return domain;
  }
  return DomainOfOthers(handle);
}

// Copies the attributes. 0 if memory is short or the attributes are invalid.
// `others_id` is the schema's id in the tool behind us, or 0.
uint64_t RegisterSchema(Domain* domain, const SchemaAttributes* attributes,
                        uint64_t others_id) noexcept;
uint64_t RegisterEnum(Domain* domain, const EnumAttributes* attributes,
                      uint64_t others_id) noexcept;

}  // namespace kymo::nvtx

#endif  // KYMO_BACKENDS_NVTX_TARGET_DOMAIN_H_
